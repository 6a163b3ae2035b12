// Package pieces has five pieces of a game that change rows, to begin from: a trade between two
// players, a bank, friends, a purge of old mail, and a leaderboard.
package pieces

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/starter"
)

// What a player is told.
var (
	ErrPoor   = errors.New("there is not enough gold")
	ErrRich   = errors.New("there would be more gold than fits")
	ErrAmount = errors.New("the amount must be more than 0")
	ErrOwner  = errors.New("the item belongs to another player")
	ErrSelf   = errors.New("this takes two players")
)

type (
	playerID = gameid.Of[entity.Player]
	itemID   = gameid.Of[entity.Item]
)

// tables are in MySQL, MariaDB and SQLite as written; PostgreSQL has other names for two types.
var tables = []string{
	`CREATE TABLE IF NOT EXISTS accounts (player_id BINARY(10) NOT NULL PRIMARY KEY, gold BIGINT NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS friends (player_id BINARY(10) NOT NULL, friend_id BINARY(10) NOT NULL,
		since DATETIME(3) NOT NULL, PRIMARY KEY (player_id, friend_id))`,
	`CREATE TABLE IF NOT EXISTS mails (id BINARY(10) NOT NULL PRIMARY KEY, to_id BINARY(10) NOT NULL,
		text VARCHAR(500) NOT NULL, sent DATETIME(3) NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS scores (season INT NOT NULL, player_id BINARY(10) NOT NULL,
		points BIGINT NOT NULL, PRIMARY KEY (season, player_id))`,
}

// Create makes the tables of the pieces, beside those of package starter.
func Create(ctx context.Context, db *store.DB) error {
	for _, table := range tables {
		if db.Dialect() == store.PostgreSQL {
			table = strings.NewReplacer("BINARY(10)", "BYTEA", "DATETIME(3)", "TIMESTAMPTZ(3)").Replace(table)
		}
		if _, err := db.Exec(ctx, table); err != nil {
			return err
		}
	}
	return nil
}

// purse is the part of a player that a trade changes: other columns are neither read nor written.
type purse struct {
	ID   playerID `db:"id"`
	Gold int64    `db:"gold"`
}

var purses = store.MustTable[playerID, purse]("players")

// Trade gives an item of the seller to the buyer, and gold of the buyer to the seller.
func Trade(ctx context.Context, db *store.DB, seller, buyer playerID, item itemID, price int64) error {
	switch {
	case price <= 0:
		return ErrAmount
	case seller == buyer:
		return ErrSelf
	}
	return db.InTx(ctx, func(tx *store.Tx) error {
		both, err := purses.Lock(ctx, tx, seller, buyer)
		if err != nil {
			return err
		}
		if both[1].Gold < price {
			return ErrPoor
		}
		if both[0].Gold > math.MaxInt64-price {
			return ErrRich
		}
		given, err := starter.Items.UpdateWhere(ctx, tx, "owner_id = ?", "id = ? AND owner_id = ?", buyer, item, seller)
		if err != nil {
			return err
		}
		if given == 0 {
			return ErrOwner
		}
		both[0].Gold += price
		both[1].Gold -= price
		for _, p := range both {
			if err := purses.Update(ctx, tx, p, "gold"); err != nil {
				return err
			}
		}
		return nil
	})
}

// account is the gold of a player in the bank.
type account struct {
	Player playerID `db:"player_id"`
	Gold   int64    `db:"gold"`
}

var accounts = store.MustTable[playerID, account]("accounts")

// Deposit brings gold of a player to the bank.
func Deposit(ctx context.Context, db *store.DB, player playerID, amount int64) error {
	if amount <= 0 {
		return ErrAmount
	}
	return db.InTx(ctx, func(tx *store.Tx) error {
		paid, err := purses.UpdateWhere(ctx, tx, "gold = gold - ?", "id = ? AND gold >= ?", amount, player, amount)
		if err != nil {
			return err
		}
		if paid == 0 {
			return ErrPoor
		}
		// Two deposits of one player do not come here at once: the purse is locked.
		has, err := accounts.Get(ctx, tx, player)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if has.Gold > math.MaxInt64-amount {
			return ErrRich
		}
		return accounts.Upsert(ctx, tx, account{player, has.Gold + amount})
	})
}

// Friendship is the key of a friend: each of two friends has the other in a row.
type Friendship struct {
	Player playerID `db:"player_id"`
	Friend playerID `db:"friend_id"`
}

// Friend is a row of a player's friend list.
type Friend struct {
	Friendship
	Since time.Time `db:"since"`
}

var friends = store.MustTable[Friendship, Friend]("friends")

// Befriend makes two players friends; if they are, they are so since now.
func Befriend(ctx context.Context, db *store.DB, a, b playerID, now time.Time) error {
	if a == b {
		return ErrSelf
	}
	return db.InTx(ctx, func(tx *store.Tx) error { // which tries again if another one is in the way
		return friends.Upsert(ctx, tx, Friend{Friendship{a, b}, now}, Friend{Friendship{b, a}, now})
	})
}

// Friends returns the friend list of a player.
func Friends(ctx context.Context, s store.Session, player playerID) ([]Friend, error) {
	return friends.Where(ctx, s, "player_id = ? ORDER BY friend_id", player)
}

// Unfriend ends a friendship; without one the error is [store.ErrNotFound].
func Unfriend(ctx context.Context, db *store.DB, a, b playerID) error {
	if a.Compare(b) > 0 {
		a, b = b, a // each in the same order: two that end one friendship do not wait for each other in a circle
	}
	return db.InTx(ctx, func(tx *store.Tx) error {
		if err := friends.Delete(ctx, tx, Friendship{a, b}); err != nil {
			return err
		}
		return friends.Delete(ctx, tx, Friendship{b, a})
	})
}

// Mail is a letter to a player.
type Mail struct {
	ID   gameid.Of[Mail] `db:"id"`
	To   playerID        `db:"to_id"`
	Text string          `db:"text"`
	Sent time.Time       `db:"sent"`
}

// Mails is the table of mails.
var Mails = store.MustTable[gameid.Of[Mail], Mail]("mails")

// PurgeMail removes the mails that were sent before a time, and returns how many there were.
func PurgeMail(ctx context.Context, db *store.DB, before time.Time) (int64, error) {
	return Mails.DeleteWhere(ctx, db, "sent < ?", before)
}

// Place is the key of a score: a player has one in each season.
type Place struct {
	Season int32    `db:"season"`
	Player playerID `db:"player_id"`
}

// Score is a row of the leaderboard.
type Score struct {
	Place
	Points int64 `db:"points"`
}

var scores = store.MustTable[Place, Score]("scores")

// Report writes what a player has reached in a season, whether it is the first score or not.
func Report(ctx context.Context, s store.Session, score Score) error {
	return scores.Upsert(ctx, s, score)
}

// Top returns the best of a season.
func Top(ctx context.Context, s store.Session, season int32, most int) ([]Score, error) {
	return scores.Where(ctx, s, "season = ? ORDER BY points DESC, player_id LIMIT ?", season, most)
}

// Rank returns how many players of a season have more points than a score, and one.
func Rank(ctx context.Context, s store.Session, of Score) (int64, error) {
	better, err := scores.Count(ctx, s, "season = ? AND points > ?", of.Season, of.Points)
	return better + 1, err
}
