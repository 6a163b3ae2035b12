package schema

import (
	"database/sql/driver"

	"mergesafe/gameid"
)

// PlayerID and GuildID are IDs as ent takes them: it knows no generic types, and
// of a struct it makes columns.
type (
	PlayerID [gameid.Size]byte
	GuildID  [gameid.Size]byte
)

// Of returns the ID of the kind Player. The zero PlayerID is the zero ID.
func (p PlayerID) Of() gameid.Of[Player] { return gameid.As[Player](idOf(p)) }

// Of returns the ID of the kind Guild. The zero GuildID is the zero ID.
func (g GuildID) Of() gameid.Of[Guild] { return gameid.As[Guild](idOf(g)) }

func idOf(b [gameid.Size]byte) gameid.ID {
	id, _ := gameid.FromBytes(b[:]) // the zero ID if it is none
	return id
}

// These give the ID out as gameid.ID does, and read it.
func (p PlayerID) String() string               { return p.Of().String() }
func (p PlayerID) Value() (driver.Value, error) { return p.Of().Value() }
func (p PlayerID) MarshalText() ([]byte, error) { return p.Of().MarshalText() }
func (p *PlayerID) Scan(src any) error {
	var id gameid.ID
	err := id.Scan(src)
	*p = id.Bytes()
	return err
}
func (p *PlayerID) UnmarshalText(b []byte) error {
	id, err := gameid.Parse(string(b))
	*p = id.Bytes()
	return err
}

// The same for guilds.
func (g GuildID) String() string               { return g.Of().String() }
func (g GuildID) Value() (driver.Value, error) { return g.Of().Value() }
func (g GuildID) MarshalText() ([]byte, error) { return g.Of().MarshalText() }
func (g *GuildID) Scan(src any) error {
	var id gameid.ID
	err := id.Scan(src)
	*g = id.Bytes()
	return err
}
func (g *GuildID) UnmarshalText(b []byte) error {
	id, err := gameid.Parse(string(b))
	*g = id.Bytes()
	return err
}
