package main

import (
	"mergesafe/entity"
	"mergesafe/number"
)

// What the public sees has types of its own, so that a column that a table gets
// does not show by itself. There are no times in them: the time at which a
// thing was made, and the server, are most of its ID. Nor is there the account,
// which is for the login service alone.

type publicPlayer struct {
	ID     publicID[entity.Player] `json:"id"`
	Number number.Number           `json:"number,omitzero"` // none if he joined before there were any
	Name   string                  `json:"name"`
	Level  int32                   `json:"level"`
	Gold   int64                   `json:"gold"`
}

type publicItem struct {
	ID       publicID[entity.Item]   `json:"id"`
	Owner    publicID[entity.Player] `json:"owner_id"`
	Template int32                   `json:"template"`
	Count    int64                   `json:"count"`
}

type publicGuild struct {
	ID     publicID[entity.Guild]  `json:"id"`
	Name   string                  `json:"name"`
	Leader publicID[entity.Player] `json:"leader_id"`
}

type publicMember struct {
	Player publicID[entity.Player] `json:"player_id"`
	Guild  publicID[entity.Guild]  `json:"guild_id"`
	Rank   entity.Rank             `json:"rank"`
}

func (p *publicIDs) player(e entity.Player) publicPlayer {
	return publicPlayer{p.players.seal(e.ID), e.Number, e.Name, e.Level, e.Gold}
}

func (p *publicIDs) item(e entity.Item) publicItem {
	return publicItem{p.items.seal(e.ID), p.players.seal(e.Owner), e.Template, e.Count}
}

func (p *publicIDs) guild(e entity.Guild) publicGuild {
	return publicGuild{p.guilds.seal(e.ID), e.Name, p.players.seal(e.Leader)}
}

func (p *publicIDs) member(e entity.GuildMember) publicMember {
	return publicMember{p.players.seal(e.Player), p.guilds.seal(e.Guild), e.Rank}
}

// each makes public what a list holds. In JSON an empty one is [], not null.
func each[E, P any](all []E, public func(E) P) []P {
	out := make([]P, len(all))
	for i, e := range all {
		out[i] = public(e)
	}
	return out
}
