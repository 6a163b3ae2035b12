package starter

import (
	"context"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
)

// Guilds is the table of guilds.
var Guilds = GuildTable{store.MustTable[gameid.Of[entity.Guild], entity.Guild]("guilds")}

// GuildTable is a [store.Table] with the lookups of guilds.
type GuildTable struct {
	*store.Table[gameid.Of[entity.Guild], entity.Guild]
}

// ByName returns the guild with the given name, compared as in
// [PlayerTable.ByName], or [store.ErrNotFound].
func (t GuildTable) ByName(ctx context.Context, s store.Session, name string) (entity.Guild, error) {
	return t.One(ctx, s, "name = ?", name)
}

// OfPlayer returns the guild that a player is in, or [store.ErrNotFound].
func (t GuildTable) OfPlayer(ctx context.Context, s store.Session, player gameid.Of[entity.Player]) (entity.Guild, error) {
	return t.One(ctx, s, "id = (SELECT guild_id FROM guild_members WHERE player_id = ?)", player)
}

// GuildMembers is the table that says which guild a player is in. Its key is
// the player, so that no player is in two.
var GuildMembers = GuildMemberTable{store.MustTable[gameid.Of[entity.Player], entity.GuildMember]("guild_members")}

// GuildMemberTable is a [store.Table] with the lookups of guild members.
type GuildMemberTable struct {
	*store.Table[gameid.Of[entity.Player], entity.GuildMember]
}

// OfGuild returns the members of a guild in the order of their players' IDs.
func (t GuildMemberTable) OfGuild(ctx context.Context, s store.Session, guild gameid.Of[entity.Guild]) ([]entity.GuildMember, error) {
	return t.Where(ctx, s, "guild_id = ? ORDER BY player_id", guild)
}
