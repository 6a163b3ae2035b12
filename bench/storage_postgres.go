package main

import (
	"context"
	"errors"
	"iter"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"

	_ "mergesafe/store/postgres"
)

const postgresIntro = "Rows a second; the ratio is to the same by hand over pgx's own interface, without database/sql."

// postgresStorage measures on a server of its own.
func postgresStorage(ctx context.Context, o options) ([]section, error) {
	return o.measureSection("Storage on PostgreSQL", postgresIntro, storageRows[:], func(m *measuring) {
		m.log("starting the server")
		server, err := servertest.StartPostgres(ctx, servertest.Options{Args: []string{"shared_buffers=256MB"}, Dir: os.TempDir()})
		if errors.Is(err, servertest.ErrNoProgram) {
			err = notInstalled{err}
		}
		m.must(err)
		m.cleanups = append(m.cleanups, server.Stop)
		pool, err := pgxpool.New(ctx, server.DSN())
		m.must(err)
		defer pool.Close()
		var version string
		m.must(pool.QueryRow(ctx, "SHOW server_version").Scan(&version))
		m.intro += " The server is " + version + ", which writes every commit to the disk."
		db := openStore(ctx, m, server.DSN())
		defer db.Close()
		hand := pgxByHand{pool}
		storage(ctx, m, db, table{hand.insert, hand.one, hand.stream})
	})
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
