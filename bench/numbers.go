package main

import (
	"context"
	"path/filepath"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store/numbers"
)

const benchServer gameid.ServerID = 7 // counts the numbers

// numbersFromMemory measures numbers beside what is compared with for IDs.
func numbersFromMemory(ctx context.Context, o options) ([]section, error) {
	const plain, checked, key = "numbers.Sequence.Next", "numbers.Sequence.Next, with check digit", "numbers.Keys.Next"
	return o.measureSection("Short numbers", "Nanoseconds for one number, or integer key, from memory, on one goroutine; the ratio is to C.",
		[]string{plain, checked, key}, func(m *measuring) {
			db := openStore(ctx, m, "sqlite:"+filepath.Join(o.dir, "numbers.db"))
			defer db.Close()
			runServer(ctx, m, db, benchServer)
			// Blocks that outlast a measurement, from the first span of 8 digits and more.
			large := numbers.Options{MinBlock: 10_000_000, MaxBlock: 10_000_000, Start: 91_700_000}
			sequence, err := numbers.Open(ctx, db.Registry(), benchServer, "plain", large)
			m.must(err)
			defer sequence.Close()
			large.CheckDigit = true
			withDigit, err := numbers.Open(ctx, db.Registry(), benchServer, "checked", large)
			m.must(err)
			defer withDigit.Close()
			keys, err := numbers.OpenKeys[entity.Item](ctx, db.Registry(), benchServer, "item", numbers.KeyOptions{MinBlock: 10_000_000, MaxBlock: 10_000_000})
			m.must(err)
			defer keys.Close()
			m.compare(ctx, o.pace, false, reference(),
				candidate{name: plain, note: "8 digits and more, never twice, also after a crash", run: runNumbers(ctx, sequence), goals: []goal{{mostNS: 20, in: "from memory"}}},
				candidate{name: checked, note: "Damm's, as the last digit", run: runNumbers(ctx, withDigit)},
				candidate{name: key, note: "63 bits, for a BIGINT", run: runNumbers(ctx, keys), goals: []goal{{mostNS: 20, in: "from memory"}}})
		})
}

func runNumbers[N ~int64](ctx context.Context, from interface {
	Next(context.Context) (N, error)
}) func(n int) error {
	return func(n int) error {
		var last N
		for range n {
			next, err := from.Next(ctx)
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
func numbersOnMariaDB(ctx context.Context, o options) ([]section, error) {
	return o.measureSection("Short numbers on MariaDB",
		"Blocks a second, each with its commit on the disk; the ratio is to rows inserted one by one, by hand, with the same driver and settings.",
		[]string{ourBlocks}, func(m *measuring) {
			server := startServer(ctx, m, servertest.MariaDB)
			m.intro += " The server is " + server.version + "."
			db := openStore(ctx, m, server.dsn("bench"))
			defer db.Close()
			runServer(ctx, m, db, benchServer)
			_, err := db.Exec(ctx, "CREATE TABLE counted (number BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(32) NOT NULL)")
			m.must(err)
			insert, err := db.Pool().PrepareContext(ctx, "INSERT INTO counted (name) VALUES (?)")
			m.must(err)
			defer insert.Close()
			sequence, err := numbers.Open(ctx, db.Registry(), benchServer, "player", numbers.Options{MinBlock: 1, MaxBlock: 1})
			m.must(err)
			defer sequence.Close()
			byHand := func(int) (int64, error) {
				result, err := insert.ExecContext(ctx, "a player")
				if err != nil {
					return 0, err
				}
				return result.LastInsertId()
			}
			m.compare(ctx, o.storage, true,
				candidate{name: "insert with AUTO_INCREMENT, by hand", note: "one number for each row", run: func(n int) error { return tries(n, byHand) }},
				candidate{name: ourBlocks, note: "a block has 20 to 100,000 numbers otherwise", run: runNumbers(ctx, sequence), goals: []goal{{least: 0.5}}})
		})
}

const ourBlocks = "numbers.Sequence, one block for each number"
