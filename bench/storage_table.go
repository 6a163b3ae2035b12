package main

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strings"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"

	_ "mergesafe/store/mysql"
	_ "mergesafe/store/sqlite"
)

const handRows = 1000 // items in one statement written by hand

// openStore opens a new database with the tables of package store.
func openStore(ctx context.Context, m *measuring, dsn string) *store.DB {
	db, err := store.Open(ctx, dsn)
	m.must(err)
	m.must(storetest.Create(ctx, db))
	return db
}

// runServer lets a server run on a database, and end.
func runServer(ctx context.Context, m *measuring, db *store.DB, server gameid.ServerID) {
	node, err := db.OpenNode(ctx, server, store.NodeOptions{})
	m.must(err)
	m.must(node.Close())
}

// table is one of items.
type table struct {
	insert func(context.Context, []entity.Item) error
	get    func(context.Context, gameid.Of[entity.Item]) (entity.Item, error)
	all    func(context.Context) iter.Seq2[entity.Item, error] // in the order of the keys
}

// byStore is the table of package store.
func byStore(db *store.DB) table {
	return table{
		func(ctx context.Context, items []entity.Item) error { return starter.Items.Insert(ctx, db, items...) },
		func(ctx context.Context, id gameid.Of[entity.Item]) (entity.Item, error) {
			return starter.Items.Get(ctx, db, id)
		},
		func(ctx context.Context) iter.Seq2[entity.Item, error] { return starter.Items.Each(ctx, db, "TRUE") },
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

func newByHand(ctx context.Context, m *measuring, db *sql.DB) table {
	prepare := func(query string) *sql.Stmt {
		statement, err := db.PrepareContext(ctx, query)
		m.must(err)
		return statement
	}
	h := &byHand{
		db:     db,
		insert: prepare("INSERT INTO items (" + handColumns + ") VALUES " + strings.Repeat(", (?, ?, ?, ?, ?)", handRows)[2:]),
		get:    prepare("SELECT " + handColumns + " FROM items WHERE id = ?"),
		all:    prepare("SELECT " + handColumns + " FROM items ORDER BY id"),
	}
	return table{h.insertMany, h.one, h.stream}
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
