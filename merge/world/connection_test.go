package world_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A statement ends with its context on the server as well, where it would keep
// others from the tables.
func TestCancelledStatementEnds(t *testing.T) { servertest.OnMySQLToo(t, testCancelledStatementEnds) }

func testCancelledStatementEnds(t *testing.T) {
	d := worldtest.Engines()[1].Fresh(t, "s1")
	worldtest.Exec(t, d, "CREATE TABLE many (id INT PRIMARY KEY)")
	for start := range 5 {
		var rows []string
		for i := range 1000 {
			rows = append(rows, fmt.Sprintf("(%d)", start*1000+i))
		}
		worldtest.Exec(t, d, "INSERT INTO many VALUES "+strings.Join(rows, ", "))
	}
	c := &world.Connection{Database: d}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const slow = "SELECT SUM(a.id = d.id) FROM many AS a, many AS b, many AS c, many AS d"
	done := make(chan error, 1)
	go func() {
		_, err := c.Number(ctx, slow, false)
		done <- err
	}()
	dsn := strings.TrimPrefix(d.DSN, "mysql:")
	servertest.AwaitRunning(t, dsn, slow, true)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	servertest.AwaitRunning(t, dsn, slow, false)
}

// A table that is locked while the catalogue is read is an error that names who has the lock: MariaDB would leave it out of a list.
func TestLockedTableIsNotLeftOut(t *testing.T) {
	servertest.OnlyMariaDB(t, "leaving a locked table out of its lists")
	d := worldtest.Engines()[1].Fresh(t, "s1")
	maker, ctx := worldtest.Pool(t, d), t.Context()
	conn, err := maker.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var id int
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	made := make(chan error)
	go func() {
		_, err := conn.ExecContext(ctx, "CREATE TABLE locked (id INT PRIMARY KEY) SELECT 1 AS id, SLEEP(600) AS n")
		made <- err
	}()
	servertest.AwaitRunning(t, strings.TrimPrefix(d.DSN, "mysql:"), "CREATE TABLE locked", true)
	impatient := world.Database{Name: d.Name, DSN: d.DSN + "?lock_wait_timeout=1"}
	s, err := world.OpenWorld(ctx, impatient)
	if err == nil {
		s.Close()
	}
	if want := fmt.Sprintf("Error 1205.*: locked by .*connection %d of ", id); !regexp.MustCompile(want).MatchString(fmt.Sprint(err)) {
		t.Errorf("%v, want %s", err, want)
	}
	worldtest.Exec(t, d, fmt.Sprintf("KILL %d", id))
	<-made
}

// Who waits in vain for a table, or a row, is told which connection has a transaction there, and how to end it; an account that
// may not see transactions, which connections it has there, and how another one finds the transaction. No connection of the
// process that waits is named.
func TestHolderIsNamed(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		full := worldtest.Engines()[1].Fresh(t, "s1")
		worldtest.Exec(t, full, "CREATE TABLE t (n INT PRIMARY KEY)", "INSERT INTO t VALUES (1)", "CREATE TABLE other (n INT)")
		few := world.Database{Name: "s1", DSN: "mysql:" + servertest.Grant(t, "ALL PRIVILEGES", strings.TrimPrefix(full.DSN, "mysql:"))}
		const named, unseen = "connection %d of .*", "locked by a transaction that this account has no right to see, .*PROCESS privilege.*INNODB_TRX.*KILL"
		for _, test := range []struct {
			what          string
			waits, locker world.Database
			want          string
		}{
			{"lock of the same account", full, full, "Error 1205.*: locked by the transaction of " + named + "KILL %[1]d$"},
			{"lock of the same account, few rights", few, few, "Error 1205.*: locked by one of these: " + named + ": KILL .*; or " + unseen},
			{"lock of another account, few rights", few, full, "Error 1205[^:]*: [^:]*: " + unseen},
		} {
			t.Run(test.what, func(t *testing.T) {
				tx, err := worldtest.Pool(t, test.locker).Begin() // not as programs of ours connect: it counts as another process
				if err != nil {
					t.Fatal(err)
				}
				defer tx.Rollback()
				var id int
				if err := tx.QueryRow("SELECT CONNECTION_ID() FROM t FOR UPDATE").Scan(&id); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(test.want, "%") {
					test.want = fmt.Sprintf(test.want, id)
				}
				var own []string // connections of this process: an idle one, one in a transaction with a lock on a table, one that waits
				idle, begun := &world.Connection{Database: test.waits}, &world.Connection{Database: test.waits, Writes: true}
				c := &world.Connection{Database: test.waits, Writes: true}
				for _, c := range []*world.Connection{idle, begun, c} {
					defer c.Close()
					number, err := c.Number(t.Context(), "SELECT CONNECTION_ID()", false)
					if err != nil {
						t.Fatal(err)
					}
					own = append(own, fmt.Sprint(number))
				}
				for _, statement := range []string{"BEGIN", "INSERT INTO other VALUES (1)"} {
					if _, err := begun.Exec(t.Context(), "change", statement, false); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := c.Exec(t.Context(), "session", "SET SESSION lock_wait_timeout = 1, innodb_lock_wait_timeout = 1", false); err != nil {
					t.Fatal(err)
				}
				for _, statement := range []string{"DROP TABLE t", "UPDATE t SET n = 2"} {
					_, err := c.Exec(t.Context(), "change", statement, false)
					if !regexp.MustCompile(test.want).MatchString(fmt.Sprint(err)) {
						t.Errorf("%s: %v, want %s", statement, err, test.want)
					}
					if named := regexp.MustCompile(`(connection|KILL) (` + strings.Join(own, "|") + `)\b`).FindString(fmt.Sprint(err)); named != "" {
						t.Errorf("%s: names %s of its own process: %v", statement, named, err)
					}
				}
			})
		}
	})
}

// A command opens many connections, from far away perhaps: each is ready after a dozen statements.
func TestConnectionAsksLittle(t *testing.T) { servertest.OnMySQLToo(t, testConnectionAsksLittle) }

func testConnectionAsksLittle(t *testing.T) {
	c := &world.Connection{Database: worldtest.Engines()[1].Fresh(t, "s1")}
	defer c.Close()
	err := c.Rows(t.Context(), "SHOW SESSION STATUS LIKE 'Questions'", false, nil, func(row []any) (bool, error) {
		asked, err := world.IntIn(row[1], "Questions")
		if asked > 12 {
			t.Errorf("%d statements before the first of its own, want 12 at most", asked)
		}
		return true, err
	})
	if err != nil {
		t.Error(err)
	}
}

// A command that keeps its connections asks the next question on one that was given back: for what it reads from a
// server, unless a question failed on it. Whoever writes has a connection of his own, and a file is opened each time.
func TestConnectionsAreKept(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		d := worldtest.Engines()[1].Fresh(t, "s1")
		ctx, release := sqldb.Keep(t.Context())
		session := func(writes bool, more ...string) (id int64) {
			c := &world.Connection{Database: d, Writes: writes}
			defer c.Close()
			id, err := c.Number(ctx, "SELECT CONNECTION_ID()", false)
			if err != nil {
				t.Fatal(err)
			}
			for _, query := range more {
				c.Number(ctx, query, false)
			}
			return id
		}
		first := session(false)
		if again := session(false, "SELECT nonsense"); again != first {
			t.Error("the second question is asked on another connection")
		}
		if next := session(false); next == first {
			t.Error("a connection is kept on which a question failed")
		}
		if writer := session(true); writer == session(true) {
			t.Error("a connection is kept on which something may have been written")
		}
		release()
		c := &world.Connection{Database: d}
		defer c.Close()
		if _, err := c.Number(ctx, "SELECT 1", false); err == nil {
			t.Error("a connection is open after the command")
		}
	})
	t.Run("sqlite", func(t *testing.T) {
		d := worldtest.Engines()[0].Fresh(t, "s1")
		worldtest.Exec(t, d, "CREATE TABLE t (n INT)")
		ctx, release := sqldb.Keep(t.Context())
		defer release()
		c := &world.Connection{Database: d}
		defer c.Close()
		for _, n := range []int64{0, 1} {
			got, err := c.Number(ctx, "SELECT COUNT(*) FROM t", false)
			if err != nil || got != n {
				t.Errorf("got %d, %v, want %d", got, err, n)
			}
			c.Close()
			replaced := worldtest.Engines()[0].Fresh(t, "s2")
			worldtest.Exec(t, replaced, "CREATE TABLE t (n INT)", "INSERT INTO t VALUES (1)", "PRAGMA journal_mode = DELETE")
			if err := os.Rename(strings.TrimPrefix(replaced.DSN, "sqlite:"), strings.TrimPrefix(d.DSN, "sqlite:")); err != nil {
				t.Fatal(err)
			}
		}
	})
}
