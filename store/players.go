package store

import (
	"context"

	"mergesafe/entity"
	"mergesafe/number"
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

// ByNumber returns the player with the given number, or [ErrNotFound].
func (t PlayerTable) ByNumber(ctx context.Context, s Session, n number.Number) (entity.Player, error) {
	return t.one(ctx, s, short, "with the number %s", n, t.selectAll+" WHERE number=?", n)
}

// NumbersIn returns what tells a sequence which numbers the players have: see
// NumbersOptions.InUse.
func (t PlayerTable) NumbersIn(s Session) func(ctx context.Context, first, last number.Number) (number.Number, error) {
	return func(ctx context.Context, first, last number.Number) (greatest number.Number, err error) {
		err = s.Get(ctx, &greatest, "SELECT MAX(number) FROM players WHERE number BETWEEN ? AND ?", first, last)
		return greatest, err
	}
}
