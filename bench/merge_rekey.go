package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"mergesafe/internal/servertest"
)

// Rows of the section.
const (
	rekeyRead   = "reading all rows of both databases, side by side"
	rekeyPlan   = "servermerge plan -rekey"
	rekeyPlain  = "servermerge apply, keys that do not collide"
	rekeyApply  = "servermerge apply, keys that collide"
	rekeyVerify = "servermerge verify, keys that collide"
	rekeyUndo   = "servermerge undo, keys that collide"
)

// The world that comes, with keys of which none is in the target.
const apartWorld = "apart"

// mariadbRekey measures a merge of worlds that count their keys from 1 beside one of the
// same rows with keys that do not collide.
func mariadbRekey(ctx context.Context, o options) ([]section, error) {
	names := []string{rekeyRead, rekeyPlan, rekeyPlain, rekeyApply, rekeyVerify, rekeyUndo}
	return o.measureSection("Merge of keys that collide, on MariaDB", "", names, func(m *measuring) {
		server := startServer(ctx, m, servertest.MariaDB, "--innodb-buffer-pool-size=2G", "--innodb-log-file-size=512M")
		b := &rekeyBench{mergeBench: mergeBench{measuring: m, worlds: &mergeWorlds{measuring: m, server: server, players: o.mergePlayers}}}
		b.measure(ctx)
		m.intro = fmt.Sprintf("%s characters and %s items with keys of AUTO_INCREMENT, which refer to each other, come to a database that has %s and %s; whole processes.",
			count(b.worlds.players), count(b.worlds.players*itemsOfPlayer), count(homePlayers), count(homePlayers*itemsOfPlayer))
		m.rows = b.table()
	})
}

// rekeyBench is what was measured, a value for each round, in seconds.
type rekeyBench struct {
	mergeBench
	read, plan, plain, rekeyed []float64
}

// rekeyRules are the rules of both merges; in one of them nothing has to move.
const rekeyRules = `[check]
plain = ["*.name", "*.level", "*.count"]
shared = ["items.template"]
[[check.reference]]
at = ["items.owner"]
to = ["chars.guid"]
`

var rekeyTables = []string{"chars", "items"}

func (b *rekeyBench) measure(ctx context.Context) {
	b.tool = buildTool(ctx, b.measuring)
	b.log("filling two worlds of %d rows", b.worlds.rowsToCome())
	b.world(ctx, homeWorld, homePlayers, 0)
	b.world(ctx, sourceWorld, b.worlds.players, 0)
	b.world(ctx, apartWorld, b.worlds.players, homePlayers*itemsOfPlayer)
	rules := filepath.Join(b.dir, "rules.toml")
	b.must(os.WriteFile(rules, []byte(rekeyRules), 0o600))
	sides := []func(context.Context){
		func(ctx context.Context) { b.side(ctx, &b.plain, apartWorld, rules) },
		func(ctx context.Context) { b.side(ctx, &b.rekeyed, sourceWorld, rules) },
	}
	for range b.mergeRounds {
		for _, side := range sides {
			side(ctx)
		}
		slices.Reverse(sides) // so that neither always comes first
	}
}

// world makes a database whose keys are counted from a number on.
func (b *rekeyBench) world(ctx context.Context, name string, players, after int) {
	b.must(execute(ctx, b.worlds, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4"))
	in := b.open(name)
	defer in.Close()
	b.must(execute(ctx, in,
		"CREATE TABLE chars (guid INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(32) NOT NULL UNIQUE, level INT NOT NULL)",
		"CREATE TABLE items (guid INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, owner INT UNSIGNED NOT NULL, template INT NOT NULL, count INT NOT NULL, KEY (owner))",
		fmt.Sprintf("INSERT INTO chars SELECT seq + %d, CONCAT('%.1s', CRC32(seq), '-', seq), 1 + seq %% 80 FROM seq_1_to_%d", after, name, players),
		fmt.Sprintf("INSERT INTO items SELECT seq + %d, %[1]d + 1 + seq * 2654435761 %% %d, 1 + seq %% 5000, 1 + seq %% 100 FROM seq_1_to_%d", after, players, players*itemsOfPlayer)))
}

func (b *rekeyBench) open(name string) *sql.DB {
	cfg := b.worlds.cfg.Clone()
	cfg.DBName = name
	db, err := sql.Open("mysql", cfg.FormatDSN())
	b.must(err)
	return db
}

// side measures the merge of one of the worlds, proves it, and takes it back.
func (b *rekeyBench) side(ctx context.Context, took *[]float64, from, rules string) {
	b.must(execute(ctx, b.worlds, "DROP DATABASE IF EXISTS "+targetWorld))
	b.world(ctx, targetWorld, homePlayers, 0)
	b.log("letting the server come to rest")
	b.worlds.rest(ctx)
	b.tool.configure(b.measuring, b.worlds.dsn, targetWorld, from)
	collides := from == sourceWorld
	args := []string{"-rekey", "-rules", rules, "-o", b.tool.plan}
	b.must(os.RemoveAll(b.tool.plan))
	var other []float64 // what is not of interest
	planned, verified, undone := &other, &other, &other
	if collides {
		b.readAll(ctx, targetWorld, from)
		planned, verified, undone = &b.plan, &b.verified, &b.undone
	}
	b.step(ctx, planned, "plan", append(args, targetWorld, from)...)
	b.step(ctx, took, "apply", b.tool.plan)
	b.step(ctx, verified, "verify", b.tool.plan)
	b.step(ctx, undone, "undo", b.tool.plan)
}

// readAll reads all rows of databases side by side.
func (b *rekeyBench) readAll(ctx context.Context, names ...string) {
	began := time.Now()
	var all sync.WaitGroup
	errs := make([]error, len(names))
	for i, name := range names {
		db := b.open(name)
		defer db.Close()
		all.Go(func() { errs[i] = readTables(ctx, db, rekeyTables...) })
	}
	all.Wait()
	b.must(errors.Join(errs...))
	b.read = append(b.read, time.Since(began).Seconds())
}

// readTables reads all rows of tables.
func readTables(ctx context.Context, db *sql.DB, tables ...string) error {
	for _, table := range tables {
		rows, err := db.QueryContext(ctx, "SELECT * FROM "+table)
		if err != nil {
			return err
		}
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		dest := make([]any, len(columns))
		for i := range dest {
			dest[i] = new(sql.RawBytes)
		}
		for rows.Next() {
			if err := rows.Scan(dest...); err != nil {
				return err
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (b *rekeyBench) table() []row {
	rows := b.worlds.rowsToCome()
	line := func(what string, seconds []float64, note string) row {
		t := median(seconds)
		return row{what: what, measured: fmt.Sprintf("%.1f s", t), note: fmt.Sprintf("%.0f k rows/s%s", float64(rows)/t/1000, note)}
	}
	against := func(r row, a, b []float64, most float64) row {
		q := quotients(a, b)
		return r.compared(q).judged(goal{most: most}, q)
	}
	plain := line(rekeyPlain, b.plain, "")
	plain.ratio = "1.00"
	return []row{
		line(rekeyRead, b.read, "; by the same driver"),
		against(line(rekeyPlan, b.plan, "; the ratio is to reading"), b.plan, b.read, 2),
		plain,
		against(line(rekeyApply, b.rekeyed, ""), b.rekeyed, b.plain, 1.1),
		line(rekeyVerify, b.verified, "; PASS"),
		against(line(rekeyUndo, b.undone, "; the ratio is to its apply"), b.undone, b.rekeyed, 1),
	}
}
