package store

import (
	"context"

	"mergesafe/entity"
)

// Players is the table of players.
var Players = PlayerTable{MustTable[entity.Player, entity.Player]("players")}

// PlayerTable is a [Table] with the lookups of players.
type PlayerTable struct {
	*Table[entity.Player, entity.Player]
}

// ByName returns the player with the given name, whatever the case of its
// letters (SQLite: A to Z only; MySQL: of all scripts, and whatever the
// accents), or [ErrNotFound].
func (t PlayerTable) ByName(ctx context.Context, s Session, name string) (entity.Player, error) {
	return t.one(ctx, s, short, "named %q", name, t.selectAll+" WHERE name=?", name)
}

// ByAccount returns the players of an account in the order of their making.
func (t PlayerTable) ByAccount(ctx context.Context, s Session, account string) ([]entity.Player, error) {
	return t.Where(ctx, s, "account=? ORDER BY id", account)
}
