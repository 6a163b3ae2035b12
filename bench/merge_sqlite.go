package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mergesafe/gameid"
)

const mergeByShell = "sqlite3 .dump | sqlite3 of both worlds into a new file"

// sqliteMerge measures a merge beside the shell of SQLite.
func sqliteMerge(ctx context.Context, o options) ([]section, error) {
	names := []string{mergeByShell, mergeApply, mergeMemory, mergePlan, mergeVerify, mergeAll, mergeUndo}
	return o.measureSection("Merge on SQLite", "", names, func(m *measuring) {
		shell, err := exec.LookPath("sqlite3")
		if err != nil {
			m.must(notInstalled{fmt.Errorf("%w; on Debian or Ubuntu: apt-get install sqlite3", err)})
		}
		b := &sqliteBench{shell: shell, mergeBench: mergeBench{measuring: m, mergeCase: mergeCase{apply: 0.50}, reference: mergeByShell,
			worlds: &mergeWorlds{measuring: m, players: o.mergePlayers / 5}}}
		b.complete = b.hasAll
		b.tool = buildTool(ctx, m)
		b.tool.configure(m, b.dsn, homeWorld, sourceWorld, freshWorld)
		m.log("filling a world of %d rows", b.worlds.rowsToCome())
		b.world(ctx, homeWorld, 1, homePlayers)
		b.world(ctx, sourceWorld, 2, b.worlds.players)
		b.rounds(ctx)
		version, err := exec.CommandContext(ctx, shell, "--version").Output()
		m.must(err)
		m.intro = fmt.Sprintf("A world of %s rows and one of %s rows become a new file, tables of package store; whole processes, the ratio is of their times. The shell is of SQLite %.6s.",
			count(b.worlds.rowsToCome()), count(homePlayers*(1+itemsOfPlayer)), version)
		m.rows = b.table()
	})
}

// sqliteBench is what was measured.
type sqliteBench struct {
	mergeBench
	shell string // the program
}

func (b *sqliteBench) file(name string) string { return filepath.Join(b.dir, name+".db") }

func (b *sqliteBench) dsn(name string) string { return "sqlite:" + b.file(name) }

// world makes a file as mergeWorlds.world makes a database.
func (b *sqliteBench) world(ctx context.Context, name string, server gameid.ServerID, players int) {
	db := openStore(ctx, b.measuring, b.dsn(name))
	defer db.Close()
	b.must(execute(ctx, db.Pool(), sqliteWorldSQL(server, players, time.Now())...))
	runServer(ctx, b.measuring, db, server)
}

// sqliteWorldSQL are the statements of worldSQL for SQLite. Names are numbers, in no order.
func sqliteWorldSQL(server gameid.ServerID, players int, now time.Time) []string {
	const course = 200 * 24 * time.Hour
	items := players * itemsOfPlayer
	first := now.Add(-course - 24*time.Hour)
	ms := func(n string, of int) string { return fmt.Sprintf("%s * %d", n, course.Milliseconds()/int64(of)) }
	id := func(n string, of, sequence int) string {
		return fmt.Sprintf("unhex(printf('%%011x%%05x%%04x', %d + %s, %d, %d + %s %% 64))",
			first.UnixMilli()-gameid.EpochMillis, ms(n, of), server, sequence, n)
	}
	created := func(of int) string { return fmt.Sprintf("(%d + %s) * 1000", first.UnixMilli(), ms("n", of)) }
	return []string{
		fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
			INSERT INTO players (id, account, name, level, gold, created_at, updated_at)
			SELECT %s, 'acc-' || x / 3, 'Ari' || x, 1 + n %% 80, x %% 1000000, %s, %d
			FROM (SELECT n, (n * 2 + %d %% 2) * 2654435761 %% 4294967291 AS x FROM numbers)`,
			players, id("n", players, 0), created(players), now.UnixMilli()*1000, server),
		// One ID names one thing in all tables, so these count from 64.
		fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
			INSERT INTO items (id, owner_id, template, count, created_at)
			SELECT %s, %s, 1 + n %% 5000, 1 + n %% 100, %s
			FROM (SELECT n, 1 + n * 2654435761 %% %d AS owner FROM numbers)`,
			items, id("n", items, 64), id("owner", players, 0), created(items), players),
	}
}

// rounds measures, in turns.
func (b *sqliteBench) rounds(ctx context.Context) {
	sides := []func(context.Context){b.byShell, func(ctx context.Context) { b.merge(ctx, sourceWorld, &b.took) }}
	for range b.mergeRounds {
		for _, side := range sides {
			side(ctx)
		}
		slices.Reverse(sides)
	}
}

// byShell measures the reference: the large world first, with its indexes made after its rows, as the shell does it.
func (b *sqliteBench) byShell(ctx context.Context) {
	b.must(os.RemoveAll(b.file(loadedWorld)))
	b.timed(".dump | sqlite3", &b.dumped, func() error {
		for _, dump := range [][]string{
			{b.file(sourceWorld), ".dump players% items%"},
			// Rows alone come without a transaction around them.
			{b.file(homeWorld), "SELECT 'BEGIN;'", ".dump --data-only players% items%", "SELECT 'COMMIT;'"},
		} {
			if err := connect(exec.CommandContext(ctx, b.shell, append([]string{"-readonly"}, dump...)...),
				exec.CommandContext(ctx, b.shell, "-bail", b.file(loadedWorld))); err != nil {
				return err
			}
		}
		return nil
	})
	b.complete(ctx, loadedWorld, sourceWorld)
}

// hasAll ends the section unless a file has the rows of the first world and of another one, and their indexes.
func (b *sqliteBench) hasAll(ctx context.Context, name, from string) {
	rows := func(name string) (all [2]int, indexes string) {
		db, err := sql.Open("sqlite", "file:"+b.file(name)+"?mode=ro")
		b.must(err)
		defer db.Close()
		for i, table := range mergeTables {
			b.must(db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&all[i]))
		}
		b.must(db.QueryRowContext(ctx, "SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name IN ('"+
			strings.Join(mergeTables, "','")+"') ORDER BY name)").Scan(&indexes))
		return all, indexes
	}
	got, has := rows(name)
	want, indexes := rows(homeWorld)
	more, _ := rows(from)
	for i := range want {
		want[i] += more[i]
	}
	if got != want || has != indexes {
		b.must(fmt.Errorf("%s has %d rows with the indexes %s, want %d with %s", name, got, has, want, indexes))
	}
}
