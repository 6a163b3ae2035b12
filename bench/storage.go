package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
)

// What is stored.
const (
	owners   = 1000 // players
	handRows = 1000 // items in one statement written by hand
)

// Names that the goals use; the other side is by hand.
const (
	storeInsert = "store.Items.Insert"
	storeGet    = "store.Items.Get"
	storeAll    = "store.Items.All"
)

// storageGoals are ratios of rows per second.
func storageGoals() []goal {
	return []goal{
		{of: storeInsert, least: 0.9},
		{of: storeGet, least: 0.9},
		{of: storeAll, least: 0.8},
	}
}

// byHand is what a good programmer writes for items over database/sql.
type byHand struct {
	db     *sql.DB
	insert *sql.Stmt // handRows rows
	get    *sql.Stmt
	all    *sql.Stmt
}

const handColumns = "id, owner_id, template, count, created_at"

func newByHand(ctx context.Context, db *sql.DB) (h *byHand, err error) {
	h = &byHand{db: db}
	values := strings.Repeat(", (?, ?, ?, ?, ?)", handRows)[2:]
	if h.insert, err = db.PrepareContext(ctx, "INSERT INTO items ("+handColumns+") VALUES "+values); err != nil {
		return nil, err
	}
	if h.get, err = db.PrepareContext(ctx, "SELECT "+handColumns+" FROM items WHERE id = ?"); err != nil {
		return nil, err
	}
	h.all, err = db.PrepareContext(ctx, "SELECT "+handColumns+" FROM items ORDER BY id")
	return h, err
}

// Insert takes a multiple of handRows items.
func (h *byHand) Insert(ctx context.Context, items []entity.Item) error {
	for _, item := range items {
		if err := item.Validate(); err != nil {
			return err
		}
	}
	tx, err := h.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	insert := tx.StmtContext(ctx, h.insert)
	args := make([]any, 0, 5*handRows)
	for ; len(items) > 0; items = items[handRows:] {
		args = args[:0]
		for _, item := range items[:handRows] {
			args = append(args, item.ID, item.Owner, item.Template, item.Count, item.CreatedAt)
		}
		result, err := insert.ExecContext(ctx, args...)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil {
			return err
		} else if n != handRows {
			return fmt.Errorf("inserted %d rows of %d", n, handRows)
		}
	}
	return tx.Commit()
}

func (h *byHand) Get(ctx context.Context, id gameid.Of[entity.Item]) (item entity.Item, err error) {
	err = h.get.QueryRowContext(ctx, id).Scan(&item.ID, &item.Owner, &item.Template, &item.Count, &item.CreatedAt)
	return item, err
}

// All calls f with each item in the order of the keys.
func (h *byHand) All(ctx context.Context, f func(entity.Item)) error {
	rows, err := h.all.QueryContext(ctx)
	if err != nil {
		return err
	}
	defer rows.Close()
	var item entity.Item
	fields := []any{&item.ID, &item.Owner, &item.Template, &item.Count, &item.CreatedAt}
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return err
		}
		f(item)
	}
	return rows.Err()
}

// storage measures store beside the same by hand on one pool of connections
// and one table: two databases side by side differ by more than what is to be
// seen here, even with the same rows in them.
func storage(ctx context.Context, o options, s section, dsn string) (section, error) {
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return s, err
	}
	defer db.Close()
	if err := db.CreateSchema(ctx); err != nil {
		return s, err
	}
	node, err := openNode(ctx, gameid.Options{})
	if err != nil {
		return s, err
	}
	defer node.Close()
	w, err := newWorld(node)
	if err != nil {
		return s, err
	}
	first, err := w.items(o.stock)
	if err != nil {
		return s, err
	}
	if err := store.Players.Insert(ctx, db, w.players...); err != nil {
		return s, err
	}
	if err := store.Items.Insert(ctx, db, first...); err != nil {
		return s, err
	}
	hand, err := newByHand(ctx, db.Pool().DB)
	if err != nil {
		return s, err
	}
	if err := sameRows(ctx, db, hand, first); err != nil {
		return s, err
	}

	// The next items to insert, made before each measurement.
	var fresh []entity.Item
	mint := func() (err error) {
		fresh, err = w.items(o.insert)
		return err
	}
	// Reading comes first, while the rows are those that were written above.
	for _, pair := range [][2]candidate{{
		{name: "get by key, by hand", run: func(n int) error {
			for i := range n {
				if _, err := hand.Get(ctx, first[i*7919%o.stock].ID); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: storeGet, run: func(n int) error {
			for i := range n {
				if _, err := store.Items.Get(ctx, db, first[i*7919%o.stock].ID); err != nil {
					return err
				}
			}
			return nil
		}},
	}, {
		{name: "stream in key order, by hand", n: streams * o.stock, run: func(n int) error {
			var sum int64
			for range streams {
				if err := hand.All(ctx, func(item entity.Item) { sum += item.Count; n-- }); err != nil {
					return err
				}
			}
			return whole(n, sum, o.stock)
		}},
		{name: storeAll, n: streams * o.stock, run: func(n int) error {
			var sum int64
			for range streams {
				for item, err := range store.Items.All(ctx, db) {
					if err != nil {
						return err
					}
					sum += item.Count
					n--
				}
			}
			return whole(n, sum, o.stock)
		}},
	}, {
		{name: "insert of many, by hand", n: o.insert, before: mint, run: func(int) error { return hand.Insert(ctx, fresh) }},
		{name: storeInsert, n: o.insert, before: mint, run: func(int) error { return store.Items.Insert(ctx, db, fresh...) }},
	}} {
		if !o.wants(s.title, pair[1].name) {
			continue
		}
		o.log("%s: %s", s.title, pair[1].name)
		found, err := measure(ctx, o.storage, pair[0], pair[1:])
		if err != nil {
			return s, err
		}
		s.rows = append(s.rows, rows(pair[:], found, storageGoals(), true)...)
	}
	return s, nil
}

// streams is how often the table is read in one measurement: once takes a tenth
// of a second at most, in which a lot may happen to one side and not the other.
const streams = 5

// whole returns an error unless a stream had all rows.
func whole(missing int, sum int64, stock int) error {
	if missing != 0 || sum == 0 {
		return fmt.Errorf("%d of %d rows are missing", missing, stock)
	}
	return nil
}

// sameRows makes sure that both sides read the same out of the database.
func sameRows(ctx context.Context, db *store.DB, hand *byHand, want []entity.Item) error {
	for _, item := range want[:100] {
		a, err := store.Items.Get(ctx, db, item.ID)
		if err != nil {
			return err
		}
		b, err := hand.Get(ctx, item.ID)
		if err != nil {
			return err
		}
		if a != item || b != item {
			return errors.New("what was read is not what was written")
		}
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
