package starter

import (
	"context"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/number"
	"mergesafe/store"
)

// Players is the table of players.
var Players = PlayerTable{store.MustTable[gameid.Of[entity.Player], entity.Player]("players")}

// PlayerTable is a [store.Table] with the lookups of players.
type PlayerTable struct {
	*store.Table[gameid.Of[entity.Player], entity.Player]
}

// ByName returns the player with the given name, whatever the case of its
// letters (SQLite: A to Z only; MySQL: of all scripts, and whatever the
// accents), or [store.ErrNotFound].
func (t PlayerTable) ByName(ctx context.Context, s store.Session, name string) (entity.Player, error) {
	return t.One(ctx, s, "name = ?", name)
}

// ByAccount returns the players of an account in the order of their making.
func (t PlayerTable) ByAccount(ctx context.Context, s store.Session, account string) ([]entity.Player, error) {
	return t.Where(ctx, s, "account = ? ORDER BY id", account)
}

// ByNumber returns the player with the given number, or [store.ErrNotFound].
func (t PlayerTable) ByNumber(ctx context.Context, s store.Session, n number.Number) (entity.Player, error) {
	return t.One(ctx, s, "number = ?", n)
}

// NumbersIn returns the function by which a sequence learns which numbers the players
// have: see numbers.Options.InUse.
func (t PlayerTable) NumbersIn(s store.Session) func(ctx context.Context, first, last number.Number) (number.Number, error) {
	return func(ctx context.Context, first, last number.Number) (greatest number.Number, err error) {
		err = s.Get(ctx, &greatest, "SELECT MAX(number) FROM players WHERE number BETWEEN ? AND ?", first, last)
		return greatest, err
	}
}
