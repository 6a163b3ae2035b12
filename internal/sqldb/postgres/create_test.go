package postgres_test

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
	"mergesafe/store/storetest/faulty"
)

// creating opens a database, and calls before for each statement that makes something.
func creating(t *testing.T, dsn string, before func(statement string) error) *store.DB {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	must(t, err)
	pool := sql.OpenDB(&faulty.Wire{Connector: stdlib.GetConnector(*config), Fault: func(what string) (error, bool) {
		if strings.Contains(what, "IF NOT EXISTS") {
			return before(what), false
		}
		return nil, false
	}})
	t.Cleanup(func() { pool.Close() })
	db, err := store.Wrap(t.Context(), pool, store.PostgreSQL)
	must(t, err)
	return db
}

// createAll makes the largest group of tables first, together with the table that all groups have in common.
func createAll(ctx context.Context, db *store.DB) error {
	for _, create := range []func() error{
		func() error { return starter.Create(ctx, db) },
		func() error { return db.CreateRegistry(ctx) },
		func() error { return numbers.Create(ctx, db.Registry()) },
	} {
		if err := create(); err != nil {
			return err
		}
	}
	return storetest.Check(ctx, db)
}

// Processes that send every statement at the same moment all have their tables.
func TestCreateAtOnce(t *testing.T) {
	const processes = 8
	dsn := servertest.PostgresDSN(t)
	ctx, failed := context.WithCancel(t.Context())
	defer failed()
	var mu sync.Mutex
	ready := make(map[string]*sync.WaitGroup) // by statement
	var all sync.WaitGroup
	for range processes {
		sent := make(map[string]bool)
		db := creating(t, dsn, func(statement string) error {
			if sent[statement] {
				return nil
			}
			sent[statement] = true
			mu.Lock()
			others := ready[statement]
			if others == nil {
				others = new(sync.WaitGroup)
				others.Add(processes)
				ready[statement] = others
			}
			mu.Unlock()
			others.Done()
			met := make(chan struct{})
			go func() { others.Wait(); close(met) }()
			select {
			case <-met:
			case <-ctx.Done():
			}
			return nil
		})
		all.Go(func() {
			if err := createAll(t.Context(), db); err != nil {
				t.Error(err)
				failed()
			}
		})
	}
	all.Wait()
	if len(ready) < 12 {
		t.Errorf("%d statements, want one for each table and index", len(ready))
	}
}

// Whatever the server answers to those who are late, they look again, at every statement.
func TestCreateLosesEveryRace(t *testing.T) {
	answers := []*pgconn.PgError{
		{Code: "42P07", Message: "relation already exists"},
		{Code: "42710", Message: "type already exists"},
		{Code: "23505", Message: "duplicate key value", ConstraintName: "pg_type_typname_nsp_index"},
		{Code: "40P01", Message: "deadlock detected"},
	}
	lost := make(map[string]int) // races, by statement
	db := creating(t, servertest.PostgresDSN(t), func(statement string) error {
		n := lost[statement]
		if n == len(answers) {
			return nil
		}
		lost[statement]++
		return answers[n]
	})
	if err := createAll(t.Context(), db); err != nil {
		t.Error(err)
	}
}
