//go:build linux

package torture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/starter"
)

// A few faults are met as well by processes that mint less.
var (
	idsEvery  = time.Duration(servertest.Scale(80, 5)) * time.Millisecond
	rowsEvery = time.Duration(servertest.Scale(60, 10)) * time.Millisecond
)

const rowsWait = 2 * time.Second // for one transaction

// mint mints until ctx ends, and returns nil, or until the node does, and
// returns why.
func mint(ctx context.Context, db *store.DB, node *gameid.Node, cfg order, out *teller) error {
	cfg.Batch, cfg.Pause = cmp.Or(cfg.Batch, 100), cmp.Or(cfg.Pause, idsEvery)
	batches := []func(int) ([]gameid.ID, error){
		batchOf[entity.Player](node), batchOf[entity.Item](node), batchOf[entity.Guild](node), batchOf[entity.Player](node),
	}
	room := &state{out: out, bad: Exhausted, good: Recovered}
	var wg sync.WaitGroup
	for i, batch := range batches {
		log := newLog(cfg.Log, i)
		wg.Go(func() {
			repeat(ctx, node, cfg.Pause, func() {
				turn := room.turn()
				ids, err := batch(cfg.Batch)
				log.write(ids)
				room.report(turn, err)
			})
		})
	}
	if cfg.Rows {
		log, confirmed := newLog(cfg.Log, len(batches)), openLog(cfg.Log+rowsSuffix)
		rows := &state{out: out, bad: RowsFailed, good: RowsAgain}
		players, items := gameid.NewGenerator[entity.Player](node), gameid.NewGenerator[entity.Item](node)
		wg.Go(func() {
			repeat(ctx, node, rowsEvery, func() {
				turn := rows.turn()
				player, loot, err := makeRows(players, items)
				if err != nil {
					return // the others tell
				}
				log.write(idsOf(player, loot))
				err = insert(ctx, db, node, cfg.Guard, player, loot)
				if err == nil {
					confirmed.write([]gameid.ID{player.ID.ID()})
				}
				rows.report(turn, err)
			})
		})
	}
	if cfg.Numbers {
		wg.Go(func() { takeNumbers(ctx, db, node, cfg, out) })
	}
	wg.Wait()
	return node.Err()
}

func repeat(ctx context.Context, node *gameid.Node, every time.Duration, do func()) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		do()
		select {
		case <-ctx.Done():
			return
		case <-node.Done():
			return
		case <-tick.C:
		}
	}
}

// batchOf mints of one kind, one by one and many at once. It returns what it
// has got together with the error.
func batchOf[E any](node *gameid.Node) func(n int) ([]gameid.ID, error) {
	g := gameid.NewGenerator[E](node)
	return func(n int) ([]gameid.ID, error) {
		var ids []gameid.ID
		for range n / 2 {
			id, err := g.Next()
			if err != nil {
				return ids, err
			}
			ids = append(ids, id.ID())
		}
		rest := make([]gameid.Of[E], n-n/2)
		if err := g.Fill(rest); err != nil {
			return ids, err
		}
		for _, id := range rest {
			ids = append(ids, id.ID())
		}
		return ids, nil
	}
}

func makeRows(players *gameid.Generator[entity.Player], items *gameid.Generator[entity.Item]) (p entity.Player, loot []entity.Item, err error) {
	now := entity.Time(time.Now())
	p = entity.Player{Account: "torture", Level: 1, CreatedAt: now, UpdatedAt: now}
	if p.ID, err = players.Next(); err != nil {
		return p, nil, err
	}
	p.Name = p.ID.String()
	for range 3 {
		item := entity.Item{Owner: p.ID, Template: 1, Count: 1, CreatedAt: now}
		if item.ID, err = items.Next(); err != nil {
			return p, nil, err
		}
		loot = append(loot, item)
	}
	return p, loot, nil
}

func idsOf(p entity.Player, loot []entity.Item) []gameid.ID {
	ids := []gameid.ID{p.ID.ID()}
	for _, item := range loot {
		ids = append(ids, item.ID.ID())
	}
	return ids
}

func insert(ctx context.Context, db *store.DB, node *gameid.Node, guard bool, p entity.Player, loot []entity.Item) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rowsWait)
	defer cancel()
	return db.InTx(ctx, func(tx *store.Tx) error {
		if guard {
			if err := tx.Guard(ctx, node); err != nil {
				return err
			}
			time.Sleep(rowsEvery) // as a game does that computes in a transaction: so a test can freeze it there
		}
		if err := starter.Players.Insert(ctx, tx, p); err != nil {
			return err
		}
		return starter.Items.Insert(ctx, tx, loot...)
	})
}

// log has the IDs of one goroutine, 10 bytes each, in the order in which it
// got them. They leave the process by one write, which a kill -9 after it
// cannot undo.
type log struct{ f *os.File }

func newLog(path string, goroutine int) log {
	return openLog(fmt.Sprintf("%s-%02d%s", path, goroutine, logSuffix))
}

func openLog(path string) log {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	return log{f}
}

func (l log) write(ids []gameid.ID) {
	var b []byte
	for _, id := range ids {
		raw := id.Bytes()
		b = append(b, raw[:]...)
	}
	l.append(b)
}

func (l log) append(b []byte) {
	if _, err := l.f.Write(b); err != nil {
		panic(err)
	}
}

// state tells when something that goes well begins to fail, and when it goes
// well again.
type state struct {
	out       *teller
	bad, good string

	mu      sync.Mutex
	failing bool
	turns   int // changes of failing
}

// turn is to be taken before what is reported afterwards: a success that began
// before a failure does not end it.
func (s *state) turn() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turns
}

func (s *state) report(turn int, err error) {
	if _, ok := errors.AsType[*gameid.LostError](err); ok {
		return // told at the end of the process
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if failing := err != nil; turn == s.turns && failing != s.failing {
		s.failing = failing
		s.turns++
		if failing {
			s.out.report(s.bad, err)
		} else {
			s.out.report(s.good, nil)
		}
	}
}
