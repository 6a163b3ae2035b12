package starter_test

import (
	"fmt"

	"mergesafe/entity"
	"mergesafe/store/storetest"
)

var (
	onEachWithTables = storetest.OnEachWithTables
	sqlOf            = storetest.SQL
	must             = storetest.Must
	player           = storetest.Player
	item             = storetest.Item
)

// guild makes the n-th guild.
func guild(n int, leader entity.Player) entity.Guild {
	id := storetest.ID[entity.Guild](n)
	return entity.Guild{ID: id, Name: fmt.Sprintf("Guild %d", n), Leader: leader.ID, FoundedAt: storetest.Born}
}

// member makes a player a member of a guild.
func member(p entity.Player, g entity.Guild) entity.GuildMember {
	return entity.GuildMember{Player: p.ID, Guild: g.ID, Rank: entity.Member, JoinedAt: storetest.Born}
}
