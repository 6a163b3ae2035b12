package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/starter"
)

const maxItems = 1000 // given at once

// game is one world.
type game struct {
	db      *store.DB
	node    *gameid.Node
	numbers *numbers.Sequence // short ones, that players read aloud
	players *gameid.Generator[entity.Player]
	items   *gameid.Generator[entity.Item]
	guilds  *gameid.Generator[entity.Guild]
}

func newGame(db *store.DB, node *gameid.Node, numbers *numbers.Sequence) *game {
	return &game{db, node, numbers,
		gameid.NewGenerator[entity.Player](node), gameid.NewGenerator[entity.Item](node), gameid.NewGenerator[entity.Guild](node)}
}

type playerID = gameid.Of[entity.Player]

type newPlayer struct {
	Account string `json:"account"`
	Name    string `json:"name"`
}

func (g *game) createPlayer(ctx context.Context, in newPlayer) (any, error) {
	now := entity.Time(time.Now())
	p := entity.Player{Account: in.Account, Name: in.Name, Level: 1, Gold: 100, CreatedAt: now, UpdatedAt: now}
	var err error
	if p.ID, err = g.players.Next(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil { // before a number is spent on the player
		return nil, err
	}
	if p.Number, err = g.numbers.Next(ctx); err != nil {
		return nil, err
	}
	return p, starter.Players.Insert(ctx, g.db, p)
}

// playerView is a player with all that belongs to him.
type playerView struct {
	entity.Player
	Items []entity.Item `json:"items"`
	Guild *entity.Guild `json:"guild"` // null if he is in none
}

// player reads a player with items and guild, as they are at one moment.
func (g *game) player(r *http.Request) (any, error) {
	ctx := r.Context()
	var view playerView
	err := g.db.Snapshot(ctx, func(tx *store.Tx) (err error) {
		if view.Player, err = g.find(r, tx); err != nil {
			return err
		}
		items, err := starter.Items.OfPlayer(ctx, tx, view.ID)
		if err != nil {
			return err
		}
		view.Items = append([]entity.Item{}, items...) // none are [], not null
		guild, err := starter.Guilds.OfPlayer(ctx, tx, view.ID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		view.Guild = &guild
		return err
	})
	return view, err
}

// find finds a player by the ID in the path, by number or by name.
func (g *game) find(r *http.Request, tx *store.Tx) (p entity.Player, err error) {
	if r.PathValue("id") != "" {
		id, err := idIn[entity.Player](r)
		if err != nil {
			return p, err
		}
		return starter.Players.Get(r.Context(), tx, id)
	}
	if text := r.FormValue("number"); text != "" {
		n, err := g.numbers.Parse(text)
		if err != nil { // mistyped
			return p, badRequest(err)
		}
		return starter.Players.ByNumber(r.Context(), tx, n)
	}
	return starter.Players.ByName(r.Context(), tx, r.FormValue("name"))
}

type loot struct {
	Owner playerID `json:"owner_id"`
	Items []struct {
		Template int32 `json:"template"`
		Count    int64 `json:"count"`
	} `json:"items"`
}

// giveItems is what a monster drops.
func (g *game) giveItems(ctx context.Context, in loot) (any, error) {
	if n := len(in.Items); n == 0 || n > maxItems {
		return nil, badRequest(fmt.Errorf("%d items: want 1 to %d", n, maxItems))
	}
	ids := make([]gameid.Of[entity.Item], len(in.Items))
	if err := g.items.Fill(ids); err != nil {
		return nil, err
	}
	now := entity.Time(time.Now())
	items := make([]entity.Item, len(ids))
	for i, given := range in.Items {
		items[i] = entity.Item{ID: ids[i], Owner: in.Owner, Template: given.Template, Count: given.Count, CreatedAt: now}
	}
	return items, starter.Items.Insert(ctx, g.db, items...)
}

type newGuild struct {
	Name   string   `json:"name"`
	Leader playerID `json:"leader_id"`
}

// foundGuild makes a guild with its first member: both rows, or neither.
func (g *game) foundGuild(ctx context.Context, in newGuild) (any, error) {
	id, err := g.guilds.Next() // before the transaction: see package store
	if err != nil {
		return nil, err
	}
	guild := entity.Guild{ID: id, Name: in.Name, Leader: in.Leader, FoundedAt: entity.Time(time.Now())}
	err = g.db.InTx(ctx, func(tx *store.Tx) error {
		if err := starter.Guilds.Insert(ctx, tx, guild); err != nil {
			return err
		}
		return starter.GuildMembers.Insert(ctx, tx, entity.GuildMember{Player: in.Leader, Guild: id, Rank: entity.Leader, JoinedAt: guild.FoundedAt})
	})
	return guild, err
}

type newMember struct {
	Guild  gameid.Of[entity.Guild] `json:"guild_id"`
	Player playerID                `json:"player_id"`
}

func (g *game) joinGuild(ctx context.Context, in newMember) (any, error) {
	member := entity.GuildMember{Player: in.Player, Guild: in.Guild, Rank: entity.Member, JoinedAt: entity.Time(time.Now())}
	return member, starter.GuildMembers.Insert(ctx, g.db, member)
}

func (g *game) members(r *http.Request) (any, error) {
	id, err := idIn[entity.Guild](r)
	if err != nil {
		return nil, err
	}
	return starter.GuildMembers.OfGuild(r.Context(), g.db, id)
}

// purse is the part of a player that a trade changes: other columns are neither read nor written.
type purse struct {
	ID   playerID `db:"id"`
	Gold int64    `db:"gold"`
}

var purses = store.MustTable[playerID, purse]("players")

type trade struct {
	Seller playerID               `json:"seller_id"`
	Buyer  playerID               `json:"buyer_id"`
	Item   gameid.Of[entity.Item] `json:"item_id"`
	Price  int64                  `json:"price"`
}

var errTrade = &problem{http.StatusConflict, "the price is 0, the buyer has less, the seller cannot hold more, or the item is not the seller's"}

// trade gives an item of the seller to the buyer, and gold of the buyer to the seller.
func (g *game) trade(ctx context.Context, in trade) (any, error) {
	if in.Price <= 0 || in.Seller == in.Buyer {
		return nil, errTrade
	}
	return in, g.db.InTx(ctx, func(tx *store.Tx) error {
		both, err := purses.Lock(ctx, tx, in.Seller, in.Buyer)
		if err != nil {
			return err
		}
		given, err := starter.Items.UpdateWhere(ctx, tx, "owner_id = ?", "id = ? AND owner_id = ?", in.Buyer, in.Item, in.Seller)
		if err == nil && (given == 0 || both[1].Gold < in.Price || both[0].Gold > math.MaxInt64-in.Price) {
			err = errTrade // takes back what was done
		}
		if err != nil {
			return err
		}
		both[0].Gold += in.Price
		both[1].Gold -= in.Price
		for _, p := range both {
			if err := purses.Update(ctx, tx, p, "gold"); err != nil {
				return err
			}
		}
		return nil
	})
}

// createTables makes the tables, unless they exist.
func createTables(ctx context.Context, db *store.DB) error {
	if err := db.CreateRegistry(ctx); err != nil {
		return err
	}
	if err := numbers.Create(ctx, db.Registry()); err != nil {
		return err
	}
	return starter.Create(ctx, db) // players, items, guilds and their members; or tables of your own
}
