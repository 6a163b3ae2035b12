package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/starter"
)

const owners = 1000 // players

// Rows of the sections; the other side is by hand.
const (
	storeInsert = "starter.Items.Insert"
	storeGet    = "starter.Items.Get"
	storeAll    = "starter.Items.Each"
	storeOpen   = "OpenNode and Close"
)

var storageRows = [...]string{storeGet, storeAll, storeInsert, storeOpen}

const storageIntro = "Rows a second; the ratio is to the same over database/sql, written by hand, with the same driver and settings."

// sqliteStorage measures on a file.
func sqliteStorage(ctx context.Context, o options) ([]section, error) {
	return o.measureSection("Storage on SQLite", storageIntro, storageRows[:], func(m *measuring) {
		storageByHand(ctx, m, "sqlite:"+filepath.Join(o.dir, "bench.db"))
	})
}

func mariadbStorage(ctx context.Context, o options) ([]section, error) {
	return serverStorage(ctx, o, "Storage on MariaDB", servertest.MariaDB)
}

func mysqlStorage(ctx context.Context, o options) ([]section, error) {
	return serverStorage(ctx, o, "Storage on MySQL", servertest.MySQL)
}

// serverStorage measures on a server of its own.
func serverStorage(ctx context.Context, o options, title, name string) ([]section, error) {
	return o.measureSection(title, storageIntro, storageRows[:], func(m *measuring) {
		server := startServer(ctx, m, name)
		m.intro += " The server is " + server.version + ", which writes every commit to the disk."
		storageByHand(ctx, m, server.dsn("bench"))
	})
}

// storageByHand measures beside byHand.
func storageByHand(ctx context.Context, m *measuring, dsn string) {
	db := openStore(ctx, m, dsn)
	defer db.Close()
	storage(ctx, m, db, newByHand(ctx, m, db.Pool()))
}

// storage measures store beside the same by hand on one pool of connections
// and one table: two databases side by side differ by more than what is to be
// seen here, even with the same rows in them.
func storage(ctx context.Context, m *measuring, db *store.DB, hand table) {
	node, err := openNode(ctx, gameid.Options{})
	m.must(err)
	defer node.Close()
	w, err := newWorld(node)
	m.must(err)
	first, err := w.items(m.stock)
	m.must(err)
	m.must(starter.Players.Insert(ctx, db, w.players...))
	ours := byStore(db)
	m.must(ours.insert(ctx, first))
	for _, t := range []table{hand, ours} {
		for _, item := range first[:100] {
			got, err := t.get(ctx, item.ID)
			m.must(err)
			if got != item {
				m.must(errors.New("the rows read differ from the rows written"))
			}
		}
	}

	// The next items to insert, made before each measurement.
	var fresh []entity.Item
	mint := func() (err error) {
		fresh, err = w.items(m.insert)
		return err
	}
	// Reading comes first, while the rows are those that were written above.
	for _, test := range []struct {
		hand, ours string
		least      float64
		of         func(table) candidate
	}{
		{"get by key, by hand", storeGet, 0.9, func(t table) candidate {
			return candidate{run: func(n int) error {
				return tries(n, func(i int) (entity.Item, error) { return t.get(ctx, first[i*7919%m.stock].ID) })
			}}
		}},
		{"stream in key order, by hand", storeAll, 0.92, func(t table) candidate {
			return candidate{n: streams * m.stock, run: func(n int) error { return stream(n, t.all(ctx)) }}
		}},
		{"insert of many, by hand", storeInsert, 0.9, func(t table) candidate {
			return candidate{n: m.insert, before: mint, run: func(int) error { return t.insert(ctx, fresh) }}
		}},
	} {
		reference, own := test.of(hand), test.of(ours)
		reference.name, own.name, own.goals = test.hand, test.ours, []goal{{least: test.least}}
		m.compare(ctx, m.storage, true, reference, own)
	}
	m.compare(ctx, m.storage, true, candidate{name: "starter.Items.Insert of one row", run: func(n int) error {
		return tries(n, func(int) ([]entity.Item, error) {
			one, err := w.items(1)
			if err != nil {
				return nil, err
			}
			return one, ours.insert(ctx, one)
		})
	}}, candidate{name: storeOpen, note: "the start of a game server", run: func(n int) error {
		return tries(n, func(int) (*gameid.Node, error) {
			node, err := db.OpenNode(ctx, 8, store.NodeOptions{})
			if err != nil {
				return nil, err
			}
			return node, node.Close()
		})
	}})
}

// streams is how often the table is read in one measurement: once takes a tenth
// of a second at most, in which a lot may happen to one side and not the other.
const streams = 5

// stream reads the table so often, and returns an error unless it had all of
// n rows.
func stream(n int, items iter.Seq2[entity.Item, error]) error {
	var sum int64
	for range streams {
		for item, err := range items {
			if err != nil {
				return err
			}
			sum += item.Count
			n--
		}
	}
	if n != 0 || sum == 0 {
		return fmt.Errorf("%d rows are missing", n)
	}
	return nil
}

// world makes rows.
type world struct {
	players []entity.Player
	ids     *gameid.Generator[entity.Item]
	now     time.Time
}

func newWorld(node *gameid.Node) (*world, error) {
	w := &world{ids: gameid.NewGenerator[entity.Item](node), now: entity.Time(time.Now())}
	ids := make([]gameid.Of[entity.Player], owners)
	if err := gameid.NewGenerator[entity.Player](node).Fill(ids); err != nil {
		return nil, err
	}
	for i, id := range ids {
		w.players = append(w.players, entity.Player{
			ID: id, Account: fmt.Sprintf("account-%d", i), Name: fmt.Sprintf("Player %d", i),
			Level: 1, CreatedAt: w.now, UpdatedAt: w.now,
		})
	}
	return w, nil
}

// items makes n items that belong to all players in turn.
func (w *world) items(n int) ([]entity.Item, error) {
	ids := make([]gameid.Of[entity.Item], n)
	if err := w.ids.Fill(ids); err != nil {
		return nil, err
	}
	items := make([]entity.Item, n)
	for i, id := range ids {
		items[i] = entity.Item{
			ID: id, Owner: w.players[i%owners].ID, Template: int32(1 + i%5000), Count: int64(1 + i%100), CreatedAt: w.now,
		}
	}
	return items, nil
}
