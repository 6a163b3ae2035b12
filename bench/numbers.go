package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"mergesafe/gameid"
	"mergesafe/internal/mariadbtest"
	"mergesafe/number"
	"mergesafe/store"
)

// The sections of short numbers.
const (
	shortNumbers  = "Short numbers"
	numbersBlocks = "Short numbers on MariaDB"
)

// Names that the goals use.
const (
	ourNumber     = "store.Numbers.Next"
	ourChecked    = "store.Numbers.Next, with check digit"
	ourBlocks     = "store.Numbers, one block for each number"
	autoIncrement = "insert with AUTO_INCREMENT, by hand"
)

func numbersGoals() []goal {
	return []goal{
		{of: ourNumber, mostNS: 20, in: "from memory"},
		{of: ourBlocks, least: 0.5},
	}
}

// numbersFromMemory measures numbers beside what is compared with for IDs.
func numbersFromMemory(ctx context.Context, o options) (s section, err error) {
	s = section{title: shortNumbers, intro: "Nanoseconds for one number from memory, on one goroutine; the ratio is to C."}
	if !o.wants(s.title, ourNumber) && !o.wants(s.title, ourChecked) {
		return s, nil
	}
	dir, err := os.MkdirTemp("", "mergesafe-bench-")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(dir)
	db, err := openNumbersDB(ctx, "sqlite:"+filepath.Join(dir, "numbers.db"))
	if err != nil {
		return s, err
	}
	defer db.Close()
	plain, err := largeBlocks(ctx, db, "plain", store.NumbersOptions{})
	if err != nil {
		return s, err
	}
	defer plain.Close()
	checked, err := largeBlocks(ctx, db, "checked", store.NumbersOptions{CheckDigit: true})
	if err != nil {
		return s, err
	}
	defer checked.Close()

	list := o.filter([]candidate{
		{section: s.title, name: ourNumber, note: "8 digits and more, never twice, also after a crash", run: runNumbers(ctx, plain)},
		{section: s.title, name: ourChecked, note: "Damm's, as the last digit", run: runNumbers(ctx, checked)},
	})
	o.log("%s: %d ways", s.title, len(list))
	found, err := measure(ctx, o.pace, reference(), list)
	if err != nil {
		return s, err
	}
	s.rows = rows(list, found, numbersGoals(), false)
	return s, nil
}

// largeBlocks opens a sequence whose blocks outlast a measurement.
func largeBlocks(ctx context.Context, db *store.DB, name string, options store.NumbersOptions) (*store.Numbers, error) {
	options.MinBlock = 10_000_000
	options.MaxBlock = options.MinBlock
	options.Start = 91_700_000 // the first span of 8 digits and more
	return db.OpenNumbers(ctx, benchServer, name, options)
}

const benchServer = 7

// openNumbersDB opens a new database on which a server has run.
func openNumbersDB(ctx context.Context, dsn string) (*store.DB, error) {
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	err = db.CreateSchema(ctx)
	if err == nil {
		var node *gameid.Node
		if node, err = db.OpenNode(ctx, benchServer, gameid.Options{}); err == nil {
			err = node.Close()
		}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func runNumbers(ctx context.Context, numbers *store.Numbers) func(n int) error {
	return func(n int) error {
		var last number.Number
		for range n {
			next, err := numbers.Next(ctx)
			if err != nil {
				return err
			}
			if next <= last {
				return &wrong{"a number does not rise"}
			}
			last = next
		}
		return nil
	}
}

// numbersOnMariaDB measures blocks beside the counter of the database itself.
func numbersOnMariaDB(ctx context.Context, o options) (s section, err error) {
	s = section{title: numbersBlocks, intro: "Blocks a second, each with its commit on the disk; the ratio is to rows inserted one by one, by hand, with the same driver and settings."}
	if !o.wants(s.title, ourBlocks) {
		return s, nil
	}
	server, err := startMariaDB(ctx, o, s.title)
	if errors.Is(err, mariadbtest.ErrNoProgram) {
		s.rows = []row{{what: "not measured", note: err.Error()}}
		return s, nil
	}
	if err != nil {
		return s, err
	}
	defer server.Stop()
	s.intro += " The server is " + server.version + "."
	db, err := openNumbersDB(ctx, server.dsn)
	if err != nil {
		return s, err
	}
	defer db.Close()
	if _, err := db.Exec(ctx, "CREATE TABLE counted (number BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(32) NOT NULL)"); err != nil {
		return s, err
	}
	insert, err := db.Pool().DB.PrepareContext(ctx, "INSERT INTO counted (name) VALUES (?)")
	if err != nil {
		return s, err
	}
	defer insert.Close()
	numbers, err := db.OpenNumbers(ctx, benchServer, "player", store.NumbersOptions{MinBlock: 1, MaxBlock: 1})
	if err != nil {
		return s, err
	}
	defer numbers.Close()
	list := []candidate{
		{name: autoIncrement, note: "one number for each row", run: func(n int) error {
			for range n {
				result, err := insert.ExecContext(ctx, "somebody")
				if err != nil {
					return err
				}
				if _, err := result.LastInsertId(); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: ourBlocks, note: "a block has 20 to 100,000 numbers otherwise", run: runNumbers(ctx, numbers)},
	}
	o.log("%s: %s", s.title, ourBlocks)
	found, err := measure(ctx, o.storage, list[0], list[1:])
	if err != nil {
		return s, err
	}
	s.rows = rows(list, found, numbersGoals(), true)
	return s, nil
}
