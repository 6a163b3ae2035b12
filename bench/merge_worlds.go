package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/gameid"
	"mergesafe/store"
)

// The databases of the merge.
const (
	sourceWorld = "source" // what comes
	homeWorld   = "home"   // what it comes to, kept to begin every measurement with
	targetWorld = "target" // a copy of that for servermerge
	loadedWorld = "loaded" // and one for the dump
)

const homePlayers = 1000 // of homeWorld

// mergeTables are what has rows.
var mergeTables = [...]string{"players", "items"}

// mergeWorlds are databases of package store on one server.
type mergeWorlds struct {
	cfg     *mysql.Config
	db      *sql.DB
	players int // of sourceWorld
}

func openMergeWorlds(server mariadb, players int) (*mergeWorlds, error) {
	cfg, err := mysql.ParseDSN(server.DSN())
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("mysql", server.DSN())
	return &mergeWorlds{cfg, db, players}, err
}

func (w *mergeWorlds) close() error { return w.db.Close() }

// dsn is the address of a database as package store takes it.
func (w *mergeWorlds) dsn(name string) string {
	cfg := w.cfg.Clone()
	cfg.DBName = name
	return "mysql:" + cfg.FormatDSN()
}

// fill makes the world that comes and the one that it comes to.
func (w *mergeWorlds) fill(ctx context.Context) error {
	if err := w.world(ctx, homeWorld, 1, homePlayers); err != nil {
		return err
	}
	return w.world(ctx, sourceWorld, 2, w.players)
}

// world makes a database on which a server has run.
func (w *mergeWorlds) world(ctx context.Context, name string, server gameid.ServerID, players int) error {
	db, err := w.create(ctx, name)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Pool().DB.Conn(ctx) // one session
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, statement := range worldSQL(server, players, time.Now()) {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("fill %s: %w", name, err)
		}
	}
	// Its mark lies behind the largest ID.
	node, err := db.OpenNode(ctx, server, gameid.Options{})
	if err != nil {
		return err
	}
	return node.Close()
}

// create makes an empty database with the tables of package store.
func (w *mergeWorlds) create(ctx context.Context, name string) (*store.DB, error) {
	if _, err := w.db.ExecContext(ctx, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4"); err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, w.dsn(name))
	if err != nil {
		return nil, err
	}
	if err := db.CreateSchema(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// worldSQL are statements that fill a world: players and items came in the
// course of 200 days, names and accounts in no order, items to anybody.
func worldSQL(server gameid.ServerID, players int, now time.Time) []string {
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
			FROM (SELECT seq AS n, (seq * 2 + %[4]d %% 2) * 2654435761 %% 4294967291 AS x FROM seq_1_to_%[5]d) AS numbers`,
			id("n", players, 0), nameSQL, ms("n", players), server, players),
		// One ID names one thing in all tables, so these count from 64.
		fmt.Sprintf(`INSERT INTO items (id, owner_id, template, count, created_at)
			SELECT %s, %s, 1 + n %% 5000, 1 + n %% 100, '2025-01-01' + INTERVAL %s * 1000 MICROSECOND
			FROM (SELECT seq AS n, 1 + seq * 2654435761 %% %d AS owner FROM seq_1_to_%d) AS numbers`,
			id("n", items, 64), id("owner", players, 0), ms("n", items), players, items),
	}
}

// renew makes a database anew, and no other than it is beside the source, with
// the rows of the world that the merge comes to.
func (w *mergeWorlds) renew(ctx context.Context, name string) error {
	for _, old := range []string{targetWorld, loadedWorld} {
		if _, err := w.db.ExecContext(ctx, "DROP DATABASE IF EXISTS "+old); err != nil {
			return err
		}
	}
	db, err := w.create(ctx, name)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, table := range append([]string{store.RegistryTable}, mergeTables[:]...) {
		if _, err := db.Exec(ctx, fmt.Sprintf("INSERT INTO %s SELECT * FROM %s.%[1]s", table, homeWorld)); err != nil {
			return err
		}
	}
	return nil
}

// rest returns when the server has nothing left to do from before: no removed
// rows to purge, and hardly a page to write.
func (w *mergeWorlds) rest(ctx context.Context) (err error) {
	var percent float64
	var pages, most int
	if err := w.db.QueryRowContext(ctx, "SELECT @@innodb_max_dirty_pages_pct, @@innodb_io_capacity, @@innodb_io_capacity_max").Scan(&percent, &pages, &most); err != nil {
		return err
	}
	const set = "SET GLOBAL innodb_io_capacity_max = ?, innodb_io_capacity = ?, innodb_max_dirty_pages_pct = ?"
	hurry := max(most, 20_000) // pages a second
	if _, err := w.db.ExecContext(ctx, set, hurry, hurry, 0); err != nil {
		return err
	}
	defer func() {
		// The maximum cannot be set below what it bounds, so again in the end.
		_, end := w.db.ExecContext(context.WithoutCancel(ctx), set+", innodb_io_capacity_max = ?", hurry, pages, percent, most)
		err = errors.Join(err, end)
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, errors.New("it took more than 5 minutes"))
	defer cancel()
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		var purge, write int
		err := w.db.QueryRowContext(ctx, `SELECT SUM(IF(VARIABLE_NAME = 'INNODB_HISTORY_LIST_LENGTH', VARIABLE_VALUE, 0)),
			SUM(IF(VARIABLE_NAME = 'INNODB_BUFFER_POOL_PAGES_DIRTY', VARIABLE_VALUE, 0)) FROM information_schema.GLOBAL_STATUS`).Scan(&purge, &write)
		if err == nil && purge <= 10 && write <= 100 {
			tick.Stop()
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the server to rest, with %d transactions to purge and %d pages to write: %w", purge, write, context.Cause(ctx))
		}
	}
}

// complete returns an error unless a database has the rows of both worlds.
func (w *mergeWorlds) complete(ctx context.Context, name string) error {
	for _, table := range mergeTables {
		var got, want int
		err := w.db.QueryRowContext(ctx, fmt.Sprintf("SELECT (SELECT COUNT(*) FROM %[2]s.%[1]s), (SELECT COUNT(*) FROM %[3]s.%[1]s) + (SELECT COUNT(*) FROM %[4]s.%[1]s)",
			table, name, homeWorld, sourceWorld)).Scan(&got, &want)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s.%s has %d rows after it was loaded, want %d", name, table, got, want)
		}
	}
	return nil
}

// durability says what a commit waits for.
func (w *mergeWorlds) durability(ctx context.Context) (text string, err error) {
	err = w.db.QueryRowContext(ctx, `SELECT CONCAT('innodb_flush_log_at_trx_commit=', @@innodb_flush_log_at_trx_commit, ', innodb_doublewrite=', @@innodb_doublewrite,
		', sync_binlog=', @@sync_binlog, IF(@@log_bin, '', ' and no binary log'), ', with ', @@innodb_buffer_pool_size DIV 1073741824, ' GiB of buffers')`).Scan(&text)
	return text, err
}
