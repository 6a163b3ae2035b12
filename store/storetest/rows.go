package storetest

import (
	"fmt"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
)

// Born is when all rows were made.
var Born = time.Date(2026, 11, 21, 3, 4, 5, 678e6, time.UTC)

// ID makes the n-th ID of server 7.
func ID[E any](n int) gameid.Of[E] { return IDOf[E](7, Born, n) }

// IDOf makes the n-th ID of a server from a time on.
func IDOf[E any](server gameid.ServerID, at time.Time, n int) gameid.Of[E] {
	made, err := gameid.Make(at.Add(time.Duration(n>>16)*time.Millisecond), server, uint16(n))
	if err != nil {
		panic(err)
	}
	return gameid.As[E](made)
}

// Player makes the n-th player.
func Player(n int) entity.Player {
	return entity.Player{
		ID: ID[entity.Player](n), Account: "account", Name: fmt.Sprintf("Player %d", n),
		Level: 1, Gold: int64(n), CreatedAt: Born, UpdatedAt: Born,
	}
}

// Item makes the n-th item.
func Item(n int, owner entity.Player) entity.Item {
	return entity.Item{ID: ID[entity.Item](n), Owner: owner.ID, Template: 1, Count: int64(n), CreatedAt: Born}
}

// Claim is some reservation.
var Claim = gameid.Claim{Reserved: 1000, Lease: time.Minute}

// SlowClock is a clock that is a minute behind.
func SlowClock() gameid.Clock { return slow{gameid.SystemClock()} }

type slow struct{ gameid.Clock }

func (s slow) Wall() time.Time { return s.Clock.Wall().Add(-time.Minute) }
