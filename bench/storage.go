package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"

	_ "mergesafe/store/mysql"
	_ "mergesafe/store/postgres"
	_ "mergesafe/store/sqlite"
)

const storageIntro = "Rows a second; the ratio is to the same over database/sql, written by hand, with the same driver and settings."

func sqliteStorage(ctx context.Context, o options) ([]section, error) {
	return storageByHand(ctx, o, section{title: "Storage on SQLite", intro: storageIntro}, "sqlite:"+filepath.Join(o.dir, "bench.db"))
}

func mariadbStorage(ctx context.Context, o options) ([]section, error) {
	return serverStorage(ctx, o, "Storage on MariaDB", servertest.MariaDB)
}

func mysqlStorage(ctx context.Context, o options) ([]section, error) {
	return serverStorage(ctx, o, "Storage on MySQL", servertest.MySQL)
}

// serverStorage measures on a server of its own.
func serverStorage(ctx context.Context, o options, title, name string) ([]section, error) {
	server, err := startServer(ctx, name, "--innodb-buffer-pool-size=256M")
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	dsn, err := server.Database(ctx)
	if err != nil {
		return nil, err
	}
	return storageByHand(ctx, o, section{title: title, intro: storageIntro + " The server writes every commit to the disk."}, "mysql:"+dsn)
}

// startServer starts a server whose commits are on the disk before they return.
func startServer(ctx context.Context, name string, args ...string) (*servertest.Server, error) {
	server, err := servertest.Start(ctx, servertest.Options{Name: name, Args: args, Dir: os.TempDir()})
	if errors.Is(err, servertest.ErrNoProgram) {
		err = fmt.Errorf("%w: %w", errNoProgram, err)
	}
	return server, err
}

func storageByHand(ctx context.Context, o options, s section, dsn string) ([]section, error) {
	db, err := openStore(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	hand, err := newByHand(ctx, db.Pool())
	if err != nil {
		return nil, err
	}
	return storage(ctx, o, s, db, table{hand.insertMany, hand.one, hand.stream})
}

// postgresStorage measures on a server of its own, beside pgx.
func postgresStorage(ctx context.Context, o options) ([]section, error) {
	server, err := servertest.StartPostgres(ctx, servertest.Options{Args: []string{"shared_buffers=256MB"}, Dir: os.TempDir()})
	if errors.Is(err, servertest.ErrNoProgram) {
		err = fmt.Errorf("%w: %w", errNoProgram, err)
	}
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	pool, err := pgxpool.New(ctx, server.DSN())
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	db, err := openStore(ctx, server.DSN())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	hand := pgxByHand{pool}
	return storage(ctx, o, section{title: "Storage on PostgreSQL", intro: "Rows a second; the ratio is to the same by hand over pgx's own interface, without database/sql; it inserts by COPY."},
		db, table{hand.insert, hand.one, hand.stream})
}

// openStore opens a new database with the tables of package store.
func openStore(ctx context.Context, dsn string) (*store.DB, error) {
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	return db, storetest.Create(ctx, db)
}

// table is one of items.
type table struct {
	insert func(context.Context, []entity.Item) error // a multiple of handRows
	get    func(context.Context, gameid.Of[entity.Item]) (entity.Item, error)
	all    func(context.Context) iter.Seq2[entity.Item, error] // in the order of the keys
}

// storage measures store beside the same by hand on one pool of connections
// and one table: two databases side by side differ by more than what is to be
// seen here, even with the same rows in them.
func storage(ctx context.Context, o options, s section, db *store.DB, hand table) ([]section, error) {
	node, err := openNode(ctx)
	if err != nil {
		return nil, err
	}
	defer node.Close()
	w, err := newWorld(node)
	if err != nil {
		return nil, err
	}
	ours := table{
		func(ctx context.Context, items []entity.Item) error { return starter.Items.Insert(ctx, db, items...) },
		func(ctx context.Context, id gameid.Of[entity.Item]) (entity.Item, error) {
			return starter.Items.Get(ctx, db, id)
		},
		func(ctx context.Context) iter.Seq2[entity.Item, error] { return starter.Items.Each(ctx, db, "TRUE") },
	}
	first, err := w.items(o.stock)
	if err == nil {
		err = starter.Players.Insert(ctx, db, w.players...)
	}
	if err == nil {
		err = ours.insert(ctx, first)
	}
	if err != nil {
		return nil, err
	}
	for _, t := range []table{hand, ours} {
		if got, err := t.get(ctx, first[0].ID); err != nil || got != first[0] {
			return nil, fmt.Errorf("the row read, %+v, differs from the row written, %+v: %w", got, first[0], err)
		}
	}
	// The next items to insert, made before each measurement.
	var fresh []entity.Item
	mint := func() (err error) {
		fresh, err = w.items(10 * handRows)
		return err
	}
	// Reading comes first, while the rows are those that were written above.
	for _, test := range []struct {
		hand, ours string
		of         func(table) candidate
	}{
		{"get by key, by hand", "starter.Items.Get", func(t table) candidate {
			return candidate{run: func(n int) error {
				return tries(n, func(i int) (entity.Item, error) { return t.get(ctx, first[i*7919%o.stock].ID) })
			}}
		}},
		{"stream in key order, by hand", "starter.Items.Each", func(t table) candidate {
			return candidate{n: streams * o.stock, run: func(n int) error { return stream(n, t.all(ctx)) }}
		}},
		{"insert of many, by hand", "starter.Items.Insert", func(t table) candidate {
			return candidate{n: 10 * handRows, before: mint, run: func(int) error { return t.insert(ctx, fresh) }}
		}},
	} {
		reference, own := test.of(hand), test.of(ours)
		reference.name, own.name = test.hand, test.ours
		found, err := measure(ctx, o.storage, reference, []candidate{own})
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			var rates []float64
			for _, r := range f.ratio {
				rates = append(rates, 1/r)
			}
			s.rows = append(s.rows, f.row(perSecond(median(f.ns)), rates))
		}
	}
	return []section{s}, nil
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
	ids := make([]gameid.Of[entity.Player], 1000)
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
			ID: id, Owner: w.players[i%len(w.players)].ID, Template: int32(1 + i%5000), Count: int64(1 + i%100), CreatedAt: w.now,
		}
	}
	return items, nil
}

// byHand is what a good programmer writes for items over database/sql.
type byHand struct {
	db     *sql.DB
	insert *sql.Stmt // handRows rows
	get    *sql.Stmt
	all    *sql.Stmt
}

const (
	handRows    = 1000 // items in one statement written by hand
	handColumns = "id, owner_id, template, count, created_at"
)

func newByHand(ctx context.Context, db *sql.DB) (*byHand, error) {
	h := &byHand{db: db}
	for query, to := range map[string]**sql.Stmt{
		"INSERT INTO items (" + handColumns + ") VALUES " + strings.Repeat(", (?, ?, ?, ?, ?)", handRows)[2:]: &h.insert,
		"SELECT " + handColumns + " FROM items WHERE id = ?":                                                  &h.get,
		"SELECT " + handColumns + " FROM items ORDER BY id":                                                   &h.all,
	} {
		var err error
		if *to, err = db.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// insertMany takes a multiple of handRows items.
func (h *byHand) insertMany(ctx context.Context, items []entity.Item) error {
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

func (h *byHand) one(ctx context.Context, id gameid.Of[entity.Item]) (item entity.Item, err error) {
	err = h.get.QueryRowContext(ctx, id).Scan(&item.ID, &item.Owner, &item.Template, &item.Count, &item.CreatedAt)
	return item, err
}

func (h *byHand) stream(ctx context.Context) iter.Seq2[entity.Item, error] {
	return func(yield func(entity.Item, error) bool) {
		rows, err := h.all.QueryContext(ctx)
		if err != nil {
			yield(entity.Item{}, err)
			return
		}
		defer rows.Close()
		var item entity.Item
		fields := []any{&item.ID, &item.Owner, &item.Template, &item.Count, &item.CreatedAt}
		for rows.Next() {
			if err := rows.Scan(fields...); !yield(item, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(entity.Item{}, err)
		}
	}
}

// pgxByHand is what a good programmer writes for items over pgx, which prepares what it is asked again.
type pgxByHand struct{ pool *pgxpool.Pool }

func (h pgxByHand) insert(ctx context.Context, items []entity.Item) error {
	for _, item := range items {
		if err := item.Validate(); err != nil {
			return err
		}
	}
	columns := []string{"id", "owner_id", "template", "count", "created_at"}
	_, err := h.pool.CopyFrom(ctx, pgx.Identifier{"items"}, columns, pgx.CopyFromSlice(len(items), func(i int) ([]any, error) {
		item := &items[i]
		return []any{item.ID, item.Owner, item.Template, item.Count, item.CreatedAt}, nil
	}))
	return err
}

func (h pgxByHand) one(ctx context.Context, id gameid.Of[entity.Item]) (item entity.Item, err error) {
	err = h.pool.QueryRow(ctx, "SELECT "+handColumns+" FROM items WHERE id = $1", id).
		Scan(&item.ID, &item.Owner, &item.Template, &item.Count, &item.CreatedAt)
	item.CreatedAt = entity.Time(item.CreatedAt)
	return item, err
}

func (h pgxByHand) stream(ctx context.Context) iter.Seq2[entity.Item, error] {
	return func(yield func(entity.Item, error) bool) {
		rows, err := h.pool.Query(ctx, "SELECT "+handColumns+" FROM items ORDER BY id")
		if err != nil {
			yield(entity.Item{}, err)
			return
		}
		defer rows.Close()
		var item entity.Item
		fields := []any{&item.ID, &item.Owner, &item.Template, &item.Count, &item.CreatedAt}
		for rows.Next() {
			err := rows.Scan(fields...)
			item.CreatedAt = entity.Time(item.CreatedAt)
			if !yield(item, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(entity.Item{}, err)
		}
	}
}
