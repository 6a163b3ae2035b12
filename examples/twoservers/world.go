package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
	"mergesafe/number"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/starter"
)

// world is one game world with its server. Between two beats of the game it
// collects rows in memory, and stores them many at a time.
type world struct {
	name   string
	number gameid.ServerID

	db      *store.DB
	node    *gameid.Node
	players *gameid.Generator[entity.Player]
	items   *gameid.Generator[entity.Item]
	guilds  *gameid.Generator[entity.Guild]
	numbers *numbers.Sequence

	dice     *rand.Rand // the same in every run: only IDs and times differ
	joined   []gameid.Of[entity.Player]
	loners   []gameid.Of[entity.Player] // who is in no guild
	founded  []gameid.Of[entity.Guild]
	lastItem gameid.Of[entity.Item]

	lastNumber number.Number // of a player

	newPlayers []entity.Player
	newItems   []entity.Item
	newGuilds  []entity.Guild
	newMembers []entity.GuildMember
}

func newWorld(name string, number gameid.ServerID) *world {
	var seed [32]byte
	copy(seed[:], name)
	return &world{name: name, number: number, dice: rand.New(rand.NewChaCha8(seed))}
}

// adopt gives a world whose database holds those of others their players and
// guilds.
func (w *world) adopt(others ...*world) {
	for _, o := range others {
		w.joined = append(w.joined, o.joined...)
		w.loners = append(w.loners, o.loners...)
		w.founded = append(w.founded, o.founded...)
	}
}

// open opens the node. A node begins one window ahead of the clock, and its
// times are those of the clock only later. The story does not wait so long: it
// puts the clock of the node forward; see follow.
func (w *world) open(ctx context.Context) (err error) {
	const window = 3 * time.Second // renewed every second, which is what follow waits for
	clock := gameidtest.NewClock()
	w.node, err = w.db.OpenNode(ctx, w.number, store.NodeOptions{Options: gameid.Options{Window: window, Clock: clock}})
	clock.Step(window)
	return err
}

// follow returns when the node has seen that its clock was put forward, with its
// next renewal. What worlds mint at the same time then has the same times, as it
// has in a game.
func (w *world) follow(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for w.node.Stats().ClockSteps == 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// start starts the world's server.
func (w *world) start(ctx context.Context) (err error) {
	if w.db, err = store.Open(ctx, w.dsn()); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return mark(ctx, w.db) },
		func() error { return w.db.CreateRegistry(ctx) },
		func() error { return numbers.Create(ctx, w.db.Registry()) },
		func() error { return starter.Create(ctx, w.db) },
		func() error { return w.open(ctx) },
		func() error { return w.db.Registry().SetName(ctx, w.number, w.name) },
		func() (err error) {
			// At this pace a block of the usual size would last for milliseconds.
			w.numbers, err = numbers.Open(ctx, w.db.Registry(), w.number, "player", numbers.Options{CheckDigit: true, MinBlock: 1000})
			return err
		},
	} {
		if err := step(); err != nil {
			w.stop()
			return err
		}
	}
	w.players = gameid.NewGenerator[entity.Player](w.node)
	w.items = gameid.NewGenerator[entity.Item](w.node)
	w.guilds = gameid.NewGenerator[entity.Guild](w.node)
	return nil
}

// stop stops the server. One that was not started may be stopped too.
func (w *world) stop() error {
	var errs []error
	if w.numbers != nil {
		errs = append(errs, w.numbers.Close())
	}
	if w.node != nil {
		errs = append(errs, w.node.Close())
	}
	if w.db != nil {
		errs = append(errs, w.db.Close())
	}
	w.numbers, w.node, w.db = nil, nil, nil
	return errors.Join(errs...)
}

// beat is what happens in the world at one moment.
func (w *world) beat(ctx context.Context) error {
	now := entity.Time(time.Now())
	if len(w.joined) == 0 || w.chance(80) {
		if err := w.join(ctx, now); err != nil {
			return err
		}
	}
	if err := w.drop(now); err != nil {
		return err
	}
	if w.chance(2) && len(w.loners) > 0 {
		if err := w.found(now); err != nil {
			return err
		}
	}
	if w.chance(60) && len(w.founded) > 0 && len(w.loners) > 0 {
		w.enter(pick(w, w.founded), w.takeLoner(), entity.Member, now)
	}
	return nil
}

func (w *world) chance(percent int) bool { return w.dice.IntN(100) < percent }

func pick[T any](w *world, from []T) T { return from[w.dice.IntN(len(from))] }

// called makes up a name. It ends with a number and the world, as in many games
// that expect to be merged: one name for two players would have to be settled
// before that, whatever their IDs are.
func (w *world) called(n int) string {
	heads := [...]string{"Al", "Bel", "Cor", "Da", "El", "Fen", "Gor", "Ha", "Il", "Kar", "Lo", "Mir", "Nor", "Or", "Pel", "Ra", "Syl", "Tor", "Yv"}
	tails := [...]string{"dor", "fa", "gast", "ian", "kon", "la", "mir", "na", "ric", "ron", "sa", "thas", "vin", "wyn", "zel"}
	return fmt.Sprintf("%s%s%d.%s", pick(w, heads[:]), pick(w, tails[:]), n, w.name)
}

// join lets a new player in.
func (w *world) join(ctx context.Context, now time.Time) error {
	id, err := w.players.Next()
	if err != nil {
		return err
	}
	w.lastNumber, err = w.numbers.Next(ctx)
	if err != nil {
		return err
	}
	n := len(w.joined) + 1
	w.newPlayers = append(w.newPlayers, entity.Player{
		ID: id, Account: fmt.Sprintf("account-%d", n), Name: w.called(n),
		Level: int32(1 + w.dice.IntN(60)), Gold: int64(w.dice.IntN(10_000)), CreatedAt: now, UpdatedAt: now,
		Number: w.lastNumber,
	})
	w.joined = append(w.joined, id)
	w.loners = append(w.loners, id)
	return nil
}

// drop gives a player the loot of a monster.
func (w *world) drop(now time.Time) error {
	ids := make([]gameid.Of[entity.Item], 4+w.dice.IntN(9))
	if err := w.items.Fill(ids); err != nil {
		return err
	}
	owner := pick(w, w.joined)
	for _, id := range ids {
		w.newItems = append(w.newItems, entity.Item{
			ID: id, Owner: owner, Template: int32(1 + w.dice.IntN(500)), Count: int64(1 + w.dice.IntN(5)), CreatedAt: now,
		})
	}
	w.lastItem = ids[len(ids)-1]
	return nil
}

// found lets a player found a guild.
func (w *world) found(now time.Time) error {
	id, err := w.guilds.Next()
	if err != nil {
		return err
	}
	leader := w.takeLoner()
	w.founded = append(w.founded, id)
	w.newGuilds = append(w.newGuilds, entity.Guild{ID: id, Name: "House " + w.called(len(w.founded)), Leader: leader, FoundedAt: now})
	w.enter(id, leader, entity.Leader, now)
	return nil
}

func (w *world) enter(guild gameid.Of[entity.Guild], player gameid.Of[entity.Player], rank entity.Rank, now time.Time) {
	w.newMembers = append(w.newMembers, entity.GuildMember{Player: player, Guild: guild, Rank: rank, JoinedAt: now})
}

// takeLoner picks a player who is in no guild, and is in one from now on.
func (w *world) takeLoner() gameid.Of[entity.Player] {
	i, last := w.dice.IntN(len(w.loners)), len(w.loners)-1
	player := w.loners[i]
	w.loners[i] = w.loners[last]
	w.loners = w.loners[:last]
	return player
}

// save stores what has happened since the last time, all of it or nothing.
func (w *world) save(ctx context.Context) error {
	err := w.db.InTx(ctx, func(tx *store.Tx) error {
		if err := starter.Players.Insert(ctx, tx, w.newPlayers...); err != nil {
			return err
		}
		if err := starter.Items.Insert(ctx, tx, w.newItems...); err != nil {
			return err
		}
		if err := starter.Guilds.Insert(ctx, tx, w.newGuilds...); err != nil {
			return err
		}
		return starter.GuildMembers.Insert(ctx, tx, w.newMembers...)
	})
	w.newPlayers, w.newItems, w.newGuilds, w.newMembers = w.newPlayers[:0], w.newItems[:0], w.newGuilds[:0], w.newMembers[:0]
	return err
}
