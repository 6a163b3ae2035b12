// Package entity has the types that most games need: players, their items, and guilds.
// It validates them, and uses neither a database nor a network.
//
// All times are in UTC and whole milliseconds, as a database column keeps them, so the
// values read back equal the values written. [Time] makes them.
package entity

import (
	"time"

	"mergesafe/gameid"
	"mergesafe/number"
)

// Limits of text fields, in characters (Unicode code points), as databases
// count them.
const (
	MaxAccount = 64
	MaxName    = 32
)

// Player is one character in one world. An account may have several.
type Player struct {
	ID        gameid.Of[Player] `db:"id" json:"id"`
	Account   string            `db:"account" json:"account"` // the account that logs in, as the login service names it
	Name      string            `db:"name" json:"name"`       // unique in its world, whatever the case of letters
	Level     int32             `db:"level" json:"level"`     // from 1
	Gold      int64             `db:"gold" json:"gold"`       // from 0
	CreatedAt time.Time         `db:"created_at" json:"created_at"`
	UpdatedAt time.Time         `db:"updated_at" json:"updated_at"`

	// Number is the number that the game shows and players read aloud. No two players
	// of the fleet have the same. Zero if the player has none.
	Number number.Number `db:"number" json:"number,omitzero"`
}

// Item is a stack of things of one template that a player owns.
type Item struct {
	ID        gameid.Of[Item]   `db:"id" json:"id"`
	Owner     gameid.Of[Player] `db:"owner_id" json:"owner_id"`
	Template  int32             `db:"template" json:"template"` // what it is, by the game's own list, from 1
	Count     int64             `db:"count" json:"count"`       // from 0
	CreatedAt time.Time         `db:"created_at" json:"created_at"`
}

// Guild is a named group of players with one leader.
type Guild struct {
	ID        gameid.Of[Guild]  `db:"id" json:"id"`
	Name      string            `db:"name" json:"name"` // unique in its world, whatever the case of letters
	Leader    gameid.Of[Player] `db:"leader_id" json:"leader_id"`
	FoundedAt time.Time         `db:"founded_at" json:"founded_at"`
}

// GuildMember says which guild a player is in. A player is in at most one guild.
type GuildMember struct {
	Player   gameid.Of[Player] `db:"player_id" json:"player_id"`
	Guild    gameid.Of[Guild]  `db:"guild_id" json:"guild_id"`
	Rank     Rank              `db:"rank" json:"rank"`
	JoinedAt time.Time         `db:"joined_at" json:"joined_at"`
}

// Rank is the standing of a member in a guild.
type Rank string

// The ranks.
const (
	Member  Rank = "member"
	Officer Rank = "officer"
	Leader  Rank = "leader"
)

// Time returns t in UTC, rounded down to the millisecond. Use it for every time in
// this package: CreatedAt: entity.Time(time.Now()).
func Time(t time.Time) time.Time {
	// Truncate also drops the monotonic reading, so that == works.
	return t.UTC().Truncate(time.Millisecond)
}
