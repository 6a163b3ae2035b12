package build_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// impatientClient is a connection of a game that waits for a lock for a second only.
func impatientClient(t *testing.T, of world.Database) *sql.Conn {
	t.Helper()
	client, err := worldtest.Pool(t, of).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.ExecContext(t.Context(), "SET SESSION lock_wait_timeout = 1"); err != nil {
		t.Fatal(err)
	}
	return client
}

// openedMany is an opened merge of two worlds of [worldtest.ManyRows] on a server, each with some more statements.
func openedMany(t *testing.T, more ...string) (p *plan.Plan, into world.Database, all []world.Database) {
	t.Helper()
	e := worldtest.Engines()[1]
	all = []world.Database{worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5)}
	for _, w := range all {
		worldtest.Exec(t, w, more...)
	}
	opts := worldtest.ManyOptions
	opts.Check.Allow = append(slices.Clone(opts.Check.Allow), verdict.CodeTableSkipped) // a sequence
	p, into = worldtest.MergeOf(t, e, all, opts)
	worldtest.Opened(t, p, into, all)
	return p, into, all
}

const counted = "CREATE TABLE counted (id INT PRIMARY KEY AUTO_INCREMENT)"

// What a client commits while an undo runs is never lost: at each point it is refused to the client, as the
// table is locked or gone, or the undo is refused and drops nothing. Without a registry nothing else keeps a game out.
func TestUndoWhileOthersWrite(t *testing.T) {
	servertest.NotShort(t)
	servertest.OnMySQLToo(t, func(t *testing.T) {
		e := worldtest.Engines()[1]
		for _, registry := range []bool{false, true} {
			wrote, kept := 0, 0
			for n, met := 0, true; met; n += servertest.Scale(23, 1) {
				write := "INSERT INTO things (id, note) VALUES (777, 'late')"
				all, options := []world.Database{worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5)}, worldtest.ManyOptions
				if registry {
					write = "UPDATE items SET count = count + 1"
					all, options = []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}, planner.PlanOptions{}
				}
				if !registry {
					worldtest.Exec(t, all[0], "CREATE VIEW seen AS SELECT note FROM things")
					worldtest.Exec(t, all[1], "CREATE VIEW seen AS SELECT note FROM things")
				}
				p, into := worldtest.MergeOf(t, e, all, options)
				worldtest.Opened(t, p, into, all)
				client := impatientClient(t, into)
				points, last := 0, ""
				var refused error
				met = false
				_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: patient}, job.Hooks{Fail: func(point string) error {
					if points++; points-1 == n {
						met, last = true, point
						_, refused = client.ExecContext(context.WithoutCancel(t.Context()), write)
					}
					return nil
				}})
				client.Close()
				there, lookErr := worldtest.ExistsNow(t.Context(), into)
				switch {
				case lookErr != nil:
					t.Fatal(lookErr)
				case !met:
				case refused == nil:
					wrote++
					if !there {
						t.Errorf("point %d (%s): the write is lost: %v", n, last, err)
					}
					worldtest.RefusedBecause(t, "undo", "changes there would be lost", err)
				case err != nil || there:
					t.Errorf("point %d (%s): the client was refused: %v; but the undo: %v", n, last, refused, err)
				default:
					kept++
				}
			}
			t.Logf("registry %t: written at %d points, kept out at %d", registry, wrote, kept)
			if wrote == 0 || kept == 0 {
				t.Errorf("registry %t: written at %d points, kept out at %d: want both", registry, wrote, kept)
			}
		}
	})
}

// undo -force drops what players wrote; but a number that the new database gave meanwhile is not given again.
func TestUndoForcedWhileOthersWrite(t *testing.T) {
	servertest.NotShort(t)
	servertest.OnMySQLIfLong(t, func(t *testing.T) {
		wrote, kept := 0, 0
		for n, met := int64(0), true; met; n += int64(servertest.Scale(17, 1)) {
			p, into, all := openedMany(t, counted)
			client := impatientClient(t, into)
			given := int64(0)
			met = false
			fail := worldtest.At(n, func() error {
				met = true
				done, err := client.ExecContext(t.Context(), "INSERT INTO counted (id) VALUES (NULL), (NULL)")
				if err == nil {
					given, err = done.LastInsertId()
				}
				if err == nil {
					wrote++
				} else {
					kept++
				}
				return nil
			})
			_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: patient, Force: true}, job.Hooks{Fail: fail})
			client.Close()
			if err != nil {
				t.Fatalf("point %d: %v", n, err)
			}
			worldtest.Exec(t, all[0], "INSERT INTO counted (id) VALUES (NULL)")
			if next := worldtest.Number(t, all[0], "SELECT MAX(id) FROM counted"); given > 0 && next < given+2 {
				t.Errorf("point %d: the client was given %d and the next, the world gives %d", n, given, next)
			}
		}
		if wrote == 0 || kept == 0 {
			t.Errorf("written at %d points, kept out at %d: want both", wrote, kept)
		}
	})
}

// A number that a client gets after a forced undo was killed, at any point, and before it is resumed, is not given again.
func TestUndoForcedAgain(t *testing.T) {
	servertest.NotShort(t)
	servertest.OnMySQLIfLong(t, func(t *testing.T) {
		wrote := 0
		for n, met := int64(0), true; met; n += int64(servertest.Scale(9, 1)) {
			p, into, all := openedMany(t, counted)
			met = false
			fail := worldtest.At(n, func() error { met = true; return driver.ErrBadConn })
			options := build.UndoOptions{Options: once, Force: true}
			given := int64(0)
			if _, err := build.UndoWith(t.Context(), p, into, all, options, job.Hooks{Fail: fail}); err != nil {
				done, err := worldtest.Pool(t, into).ExecContext(t.Context(), "INSERT INTO counted (id) VALUES (NULL), (NULL)")
				if err == nil {
					wrote++
					given, err = done.LastInsertId()
				}
				if err != nil {
					t.Logf("point %d: %v", n, err) // it is gone
				}
				if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Options: patient, Force: true}); err != nil && !errors.Is(err, record.ErrNoMerge) {
					t.Fatalf("point %d: %v", n, err)
				}
			}
			worldtest.Exec(t, all[0], "INSERT INTO counted (id) VALUES (NULL)")
			if next := worldtest.Number(t, all[0], "SELECT MAX(id) FROM counted"); given > 0 && next < given+2 {
				t.Errorf("point %d: the client was given %d and the next, the world gives %d", n, given, next)
			}
		}
		if wrote == 0 {
			t.Error("nothing was written between")
		}
	})
}

// Undo never waits for its own locks. On MySQL, reading the catalogue would wait ten seconds for each table with AUTO_INCREMENT.
func TestUndoDoesNotWaitForItself(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		p, into, all := openedMany(t, counted)
		worldtest.Exec(t, into, "INSERT INTO counted (id) VALUES (7)", "DELETE FROM counted")

		var name string
		if err := worldtest.Pool(t, into).QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&name); err != nil {
			t.Fatal(err)
		}
		const waiting = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = ? AND STATE LIKE 'Waiting for table%'"
		pool, ends, waits := worldtest.Pool(t, all[0]), make(chan struct{}), make(chan int)
		go func() {
			most := 0
			for {
				n := 0
				if err := pool.QueryRowContext(t.Context(), waiting, name).Scan(&n); err != nil {
					t.Error(err)
				}
				most = max(most, n)
				select {
				case <-ends:
					waits <- most
					return
				default:
				}
			}
		}()
		_, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
		close(ends)
		if most := <-waits; err != nil || most > 0 {
			t.Errorf("%d connections waited at a time: %v", most, err)
		}
	})
}

// An undo that was interrupted at any point resumes without -force if no other process wrote: what undo dropped is no change.
func TestUndoComparesWhatIsLeft(t *testing.T) {
	servertest.NotShort(t)
	servertest.OnMySQLIfLong(t, func(t *testing.T) {
		for n, met := int64(0), true; met; n += int64(servertest.Scale(11, 1)) {
			p, into, all := openedMany(t, "CREATE VIEW seen AS SELECT note FROM things", "CREATE VIEW noted AS SELECT note FROM seen")
			met = false
			fail := worldtest.At(n, func() error { met = true; return driver.ErrBadConn })
			_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: once}, job.Hooks{Fail: fail})
			if err != nil {
				_, err = build.Undo(t.Context(), p, into, all, build.UndoOptions{})
			}
			if there, lookErr := worldtest.ExistsNow(t.Context(), into); err != nil && !errors.Is(err, record.ErrNoMerge) || lookErr != nil || there {
				t.Fatalf("point %d: there: %t, %v, %v", n, there, lookErr, err)
			}
		}
	})
}

// If another process makes a table with the name of one that undo has just dropped, undo keeps it and its rows.
func TestUndoLeavesWhatOthersMakeAnew(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		p, into, all := openedMany(t)
		made := false
		done, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{}, job.Hooks{Fail: func(string) error {
			if there, err := worldtest.ExistsNow(t.Context(), into); made || err != nil || !there ||
				worldtest.Number(t, into, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'things'") > 0 {
				return err
			}
			made = true
			worldtest.Exec(t, into, "CREATE TABLE things (id INT)", "INSERT INTO things VALUES (7)")
			return nil
		}})
		if err != nil || !made || done.Dropped || !slices.Equal(done.Others, []string{"things"}) {
			t.Errorf("made %t: %+v, %v", made, done, err)
		}
		worldtest.Asked(t, into, "SELECT id FROM things", "7")
	})
}

// What others made with the name of what the merge made, or with one that differs in case only, is theirs.
func TestUndoLeavesWhatOthersName(t *testing.T) {
	servertest.OnlyMariaDB(t, "sequences")
	p, into, all := openedMany(t, "CREATE VIEW seen AS SELECT note FROM things", "CREATE SEQUENCE numbers")
	worldtest.Exec(t, into, "CREATE TABLE THINGS (id INT)", "INSERT INTO THINGS VALUES (7)", "DROP SEQUENCE numbers", "CREATE TABLE numbers (id INT)",
		"DROP VIEW seen", "CREATE VIEW SEEN AS SELECT 1", "CREATE TABLE Mergesafe_Merge (id INT)", "CREATE PROCEDURE mergesafe_merge() SELECT 1")
	_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: job.Options{RetryFor: -1}}, job.Hooks{Fail: func(at string) error {
		if at == "after drop" && len(worldtest.Rows(t, into, "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND BINARY TABLE_NAME = 'things'")) == 0 { // of whose name there is only the other one now
			return driver.ErrBadConn
		}
		return nil
	}})
	if !errors.Is(err, record.ErrStopped) {
		t.Fatal(err)
	}
	done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
	if err != nil || done.Dropped || !slices.Equal(done.Others, []string{"Mergesafe_Merge", "SEEN", "THINGS", "mergesafe_merge", "numbers"}) {
		t.Errorf("%+v, %v", done, err)
	}
	worldtest.Asked(t, into, "SELECT id FROM THINGS", "7")
}

// Tables that refer to each other are dropped, too: MySQL says of one that it is not there, when it has dropped both.
func TestUndoOfTablesThatReferToEachOther(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		e := worldtest.Engines()[1]
		var all []world.Database
		for i, name := range []string{"s1", "s2"} {
			w := e.Fresh(t, name)
			worldtest.Exec(t, w, "CREATE TABLE heads (id BIGINT PRIMARY KEY, guild BIGINT)", "CREATE TABLE guilds (id BIGINT PRIMARY KEY, head BIGINT)",
				"ALTER TABLE heads ADD FOREIGN KEY (guild) REFERENCES guilds (id)", "ALTER TABLE guilds ADD FOREIGN KEY (head) REFERENCES heads (id)",
				fmt.Sprintf("INSERT INTO heads VALUES (%d, NULL)", i), fmt.Sprintf("INSERT INTO guilds VALUES (%d, %d)", i, i), "UPDATE heads SET guild = id")
			all = append(all, w)
		}
		p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
		worldtest.Opened(t, p, into, all)
		if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil || !done.Dropped {
			t.Errorf("%+v, %v", done, err)
		}
	})
}
