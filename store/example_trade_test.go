package store_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// Friendship is a key of two columns, and Friend its row.
type Friendship struct {
	Player gameid.Of[entity.Player] `db:"player_id"`
	Friend gameid.Of[entity.Player] `db:"friend_id"`
}

type Friend struct {
	Friendship
	Since time.Time `db:"since"`
}

// Wallet is what a trade reads and writes of a player: the key and one column.
type Wallet struct {
	ID   gameid.Of[entity.Player] `db:"id"`
	Gold int64                    `db:"gold"`
}

var (
	friends = store.MustTable[Friendship, Friend]("friends")
	wallets = store.MustTable[gameid.Of[entity.Player], Wallet]("players")
)

const createFriends = `CREATE TABLE IF NOT EXISTS friends (
	player_id BINARY(10)  NOT NULL,
	friend_id BINARY(10)  NOT NULL,
	since     DATETIME(3) NOT NULL,
	PRIMARY KEY (player_id, friend_id)
)`

// trade gives an item to the buyer and gold to the seller: both, or neither.
func trade(ctx context.Context, db *store.DB, seller, buyer gameid.Of[entity.Player], item gameid.Of[entity.Item], price int64) error {
	return db.InTx(ctx, func(tx *store.Tx) error {
		both, err := wallets.Lock(ctx, tx, seller, buyer) // no deadlock with a trade the other way round
		if err != nil {
			return err
		}
		given, err := starter.Items.UpdateWhere(ctx, tx, "owner_id = ?", "id = ? AND owner_id = ?", buyer, item, seller)
		if err == nil && (given == 0 || seller == buyer || price <= 0 || both[1].Gold < price) {
			err = errors.New("no trade: wrong item, price or purse") // takes back what was done
		}
		if err != nil {
			return err
		}
		both[0].Gold += price
		both[1].Gold -= price
		return errors.Join(wallets.Update(ctx, tx, both[0], "gold"), wallets.Update(ctx, tx, both[1], "gold"))
	})
}

// A game has friends, whose key is two IDs, and a trade, which changes chosen columns of three rows.
func Example_trade() {
	ctx := context.Background()
	defer inFolder()()
	db, err := store.Open(ctx, "sqlite:game.db")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := errors.Join(db.CreateRegistry(ctx), starter.Create(ctx, db), storetest.Second(db.Exec(ctx, createFriends))); err != nil {
		log.Fatal(err)
	}
	aria := entity.Player{ID: storetest.ID[entity.Player](1), Account: "a", Name: "Aria", Level: 1, Gold: 100, CreatedAt: born, UpdatedAt: born}
	bob := entity.Player{ID: storetest.ID[entity.Player](2), Account: "b", Name: "Bob", Level: 1, Gold: 5, CreatedAt: born, UpdatedAt: born}
	sword := entity.Item{ID: storetest.ID[entity.Item](3), Owner: bob.ID, Template: 7, Count: 1, CreatedAt: born}
	if err := errors.Join(
		starter.Players.Insert(ctx, db, aria, bob), starter.Items.Insert(ctx, db, sword),
		friends.Insert(ctx, db, Friend{Friendship{aria.ID, bob.ID}, born}),
	); err != nil {
		log.Fatal(err)
	}

	friend, err := friends.Get(ctx, db, Friendship{aria.ID, bob.ID})
	fmt.Println(friend.Since, err)
	fmt.Println(trade(ctx, db, bob.ID, aria.ID, sword.ID, 30))
	fmt.Println(trade(ctx, db, bob.ID, aria.ID, sword.ID, 30))
	paid, err := wallets.Where(ctx, db, "TRUE ORDER BY id")
	fmt.Println(paid[0].Gold, paid[1].Gold, err)
	// Output:
	// 2026-11-21 03:04:05.678 +0000 UTC <nil>
	// <nil>
	// no trade: wrong item, price or purse
	// 70 35 <nil>
}
