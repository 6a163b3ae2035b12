package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
)

// The databases of the merge.
const (
	homeWorld   = "home"   // the first world
	sourceWorld = "source" // what comes
	apartWorld  = "apart"  // its rows with keys of which none is in the first world
	freshWorld  = "fresh"  // what servermerge makes
	loadedWorld = "loaded" // what is made by hand
)

const homePlayers = 1000 // of homeWorld, unless said

// mergeTables are what has rows, of package store.
var mergeTables = []string{"players", "items"}

// mergeWorlds are databases on one server.
type mergeWorlds struct {
	*measuring
	server
	players int      // of sourceWorld
	home    int      // players of homeWorld; 0 means homePlayers
	tables  []string // that have rows
}

func (w *mergeWorlds) rowsToCome() int { return w.players * (1 + itemsOfPlayer) }

// fill makes both worlds, of package store.
func (w *mergeWorlds) fill(ctx context.Context) {
	w.world(ctx, homeWorld, 1, cmp.Or(w.home, homePlayers))
	w.world(ctx, sourceWorld, 2, w.players)
}

// world makes a database on which a server has run.
func (w *mergeWorlds) world(ctx context.Context, name string, server gameid.ServerID, players int) {
	db := w.create(ctx, name)
	defer db.Close()
	conn, err := db.Pool().Conn(ctx) // one session
	w.must(err)
	defer conn.Close()
	w.must(execute(ctx, conn, worldSQL(server, players, time.Now(), w.numbers)...))
	runServer(ctx, w.measuring, db, server) // its mark lies behind the largest ID
}

// create makes an empty database with the tables of package store.
func (w *mergeWorlds) create(ctx context.Context, name string) *store.DB {
	w.must(execute(ctx, w, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4"))
	return openStore(ctx, w.measuring, w.dsn(name))
}

// countedTables are those of a game that counts its keys, and countedRules its rules.
var countedTables = []string{"chars", "items"}

const countedRules = `[merge]
rekey = true
[check]
plain = ["*.name", "*.level", "*.count"]
shared = ["items.template"]
[[check.reference]]
at = ["items.owner"]
to = ["chars.guid"]
`

// counted makes a world of such a game on MariaDB, whose keys are counted from a number on.
func (w *mergeWorlds) counted(ctx context.Context, name string, players, after int) {
	w.must(execute(ctx, w, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4",
		"CREATE TABLE "+name+".chars (guid INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(32) NOT NULL UNIQUE, level INT NOT NULL)",
		"CREATE TABLE "+name+".items (guid INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, owner INT UNSIGNED NOT NULL, template INT NOT NULL, count INT NOT NULL, KEY (owner))",
		fmt.Sprintf("INSERT INTO %s.chars SELECT seq + %d, CONCAT('%.1[1]s', CRC32(seq), '-', seq), 1 + seq %% 80 FROM %[1]s.seq_1_to_%[3]d", name, after, players),
		fmt.Sprintf("INSERT INTO %s.items SELECT seq + %d, %[2]d + 1 + seq * 2654435761 %% %[3]d, 1 + seq %% 5000, 1 + seq %% 100 FROM %[1]s.seq_1_to_%[4]d",
			name, after, players, players*itemsOfPlayer)))
}

// readAll reads all rows of both worlds side by side, by the driver alone.
func (w *mergeWorlds) readAll(ctx context.Context) error {
	_, err := together(2, func(i int) error {
		players := []int{cmp.Or(w.home, homePlayers), w.players}[i]
		for t, rows := range []int{players, players * itemsOfPlayer} {
			if err := bareScan(ctx, w.DB, fmt.Sprintf("SELECT * FROM %s.%s", []string{homeWorld, sourceWorld}[i], w.tables[t]), rows); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// numbers is a table of the numbers from 1 on, in a column seq.
func (w *mergeWorlds) numbers(to int) string {
	if w.mariadb() {
		return fmt.Sprintf("seq_1_to_%d", to)
	}
	return servertest.Seq(1, to)
}

// mariadb reports whether the server is MariaDB, not MySQL.
func (w *mergeWorlds) mariadb() bool { return strings.Contains(w.version, "MariaDB") }

// worldSQL are statements that fill a world: players and items came in the
// course of 200 days, names and accounts in no order, items to anybody.
func worldSQL(server gameid.ServerID, players int, now time.Time, numbers func(to int) string) []string {
	const course = 200 * 24 * time.Hour
	items := players * itemsOfPlayer
	first := now.Add(-course-24*time.Hour).UnixMilli() - gameid.EpochMillis
	// ms is when the nth of so many came, and id its ID.
	ms := func(n string, of int) string {
		return fmt.Sprintf("(%d + %s * %d)", first, n, course.Milliseconds()/int64(of))
	}
	id := func(n string, of, sequence int) string {
		return fmt.Sprintf("UNHEX(CONCAT(LPAD(HEX(%s), 11, '0'), LPAD(HEX(%d), 5, '0'), LPAD(HEX(%d + %s %% 64), 4, '0')))", ms(n, of), server, sequence, n)
	}
	return []string{
		"SET SESSION unique_checks = 0, foreign_key_checks = 0", // an empty table is filled faster so
		fmt.Sprintf(`INSERT INTO players (id, account, name, level, gold, created_at, updated_at, number)
			SELECT %s, CONCAT('acc-', x DIV 3), %s, 1 + n %% 80, x %% 1000000,
				'2025-01-01' + INTERVAL %s * 1000 MICROSECOND, NOW(3) - INTERVAL x %% 5000000 SECOND, 91%d0000000 + n
			FROM (SELECT seq AS n, (seq * 2 + %[4]d %% 2) * 2654435761 %% 4294967291 AS x FROM %[5]s) AS numbers`,
			id("n", players, 0), nameSQL, ms("n", players), server, numbers(players)),
		// One ID names one thing in all tables, so these count from 64.
		fmt.Sprintf(`INSERT INTO items (id, owner_id, template, count, created_at)
			SELECT %s, %s, 1 + n %% 5000, 1 + n %% 100, '2025-01-01' + INTERVAL %s * 1000 MICROSECOND
			FROM (SELECT seq AS n, 1 + seq * 2654435761 %% %d AS owner FROM %s) AS numbers`,
			id("n", items, 64), id("owner", players, 0), ms("n", items), players, numbers(items)),
	}
}

// rest returns when the server has nothing left to do from before: no removed
// rows to purge, and hardly a page to write.
func (w *mergeWorlds) rest(ctx context.Context) {
	var percent float64
	var pages, most int
	w.must(w.QueryRowContext(ctx, "SELECT @@innodb_max_dirty_pages_pct, @@innodb_io_capacity, @@innodb_io_capacity_max").Scan(&percent, &pages, &most))
	const set = "SET GLOBAL innodb_io_capacity_max = ?, innodb_io_capacity = ?, innodb_max_dirty_pages_pct = ?"
	busy := `SELECT SUM(IF(VARIABLE_NAME = 'INNODB_HISTORY_LIST_LENGTH', VARIABLE_VALUE, 0)),
		SUM(IF(VARIABLE_NAME = 'INNODB_BUFFER_POOL_PAGES_DIRTY', VARIABLE_VALUE, 0)) FROM information_schema.GLOBAL_STATUS`
	if !w.mariadb() {
		// It keeps some transactions to purge for as long as nothing happens.
		busy = "SELECT 0, VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Innodb_buffer_pool_pages_dirty'"
	}
	hurry := max(most, 20_000) // pages a second
	_, err := w.ExecContext(ctx, set, hurry, hurry, 0)
	w.must(err)
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		var purge, write int
		w.must(w.QueryRowContext(ctx, busy).Scan(&purge, &write))
		if purge <= 10 && write <= 100 {
			break
		}
		if time.Since(start) > 5*time.Minute {
			w.must(fmt.Errorf("the server does not come to rest in 5 minutes, with %d transactions to purge and %d pages to write", purge, write))
		}
	}
	// The maximum cannot be set below what it bounds, so again in the end.
	_, err = w.ExecContext(ctx, set+", innodb_io_capacity_max = ?", hurry, pages, percent, most)
	w.must(err)
}

// complete ends the section unless a database has the rows of the first world and of another one.
func (w *mergeWorlds) complete(ctx context.Context, name, from string) {
	for _, table := range w.tables {
		var got, want int
		w.must(w.QueryRowContext(ctx, fmt.Sprintf("SELECT (SELECT COUNT(*) FROM %[2]s.%[1]s), (SELECT COUNT(*) FROM %[3]s.%[1]s) + (SELECT COUNT(*) FROM %[4]s.%[1]s)",
			table, name, homeWorld, from)).Scan(&got, &want))
		if got != want {
			w.must(fmt.Errorf("%s.%s has %d rows, want %d", name, table, got, want))
		}
	}
}

// durability says what a commit waits for.
func (w *mergeWorlds) durability(ctx context.Context) (text string) {
	w.must(w.QueryRowContext(ctx, `SELECT CONCAT('innodb_flush_log_at_trx_commit=', @@innodb_flush_log_at_trx_commit, ', innodb_doublewrite=', @@innodb_doublewrite,
		', sync_binlog=', @@sync_binlog, IF(@@log_bin, '', ' and no binary log'), ', with ', @@innodb_buffer_pool_size DIV 1048576, ' MiB of buffers')`).Scan(&text))
	return text
}
