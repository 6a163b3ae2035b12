package build_test

import (
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// Whatever is altered in the first world after the plan, apply names it before its first write.
func TestIntoAltered(t *testing.T) {
	worldtest.OnEvery(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "one"), worldtest.GameWorld(t, e, "s2", 2, 3, "two")}
		for _, d := range all {
			worldtest.Exec(t, d, "CREATE VIEW rich AS SELECT name FROM players WHERE gold > 5")
		}
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
		cases := [][3]string{
			{"CREATE VIEW more AS SELECT name FROM players", "DROP VIEW more", "view more was added since the plan was made: plan again"},
			{"DROP VIEW rich", "CREATE VIEW rich AS SELECT name FROM players WHERE gold > 5", "view rich was dropped"},
			{"CREATE INDEX more ON players (gold)", "DROP INDEX more", "table players was altered"},
		}
		if e.Name == "sqlite" {
			cases = append(cases, [3]string{"PRAGMA user_version = 9", "PRAGMA user_version = 0", "the database was altered"})
		} else {
			cases[2][1] += " ON players"
			cases = append(cases, [][3]string{
				{"ALTER TABLE players COMMENT = 'else'", "ALTER TABLE players COMMENT = ''", "table players was altered"},
				{"ALTER DATABASE COLLATE utf8mb4_bin", "ALTER DATABASE COLLATE utf8mb4_general_ci", "the database was altered"},
				{"CREATE PROCEDURE p() SELECT 1", "DROP PROCEDURE p", "procedure p was added"},
				{"CREATE EVENT e ON SCHEDULE EVERY 1 DAY DISABLE DO SET @a = 1", "DROP EVENT e", "event e was added"},
				{"CREATE TRIGGER tr BEFORE DELETE ON players FOR EACH ROW SET @a = 1", "DROP TRIGGER tr", "trigger tr of table players was added"},
			}...)
			collation := ""
			if err := worldtest.Pool(t, all[0]).QueryRow("SELECT @@collation_database").Scan(&collation); err != nil {
				t.Fatal(err)
			}
			cases[4][1] = "ALTER DATABASE COLLATE " + collation
		}
		for _, c := range cases {
			worldtest.Exec(t, all[0], c[0])
			_, err := build.Apply(t.Context(), p, into, all, job.Options{})
			worldtest.RefusedBecause(t, c[0], c[2], err)
			worldtest.Exec(t, all[0], c[1])
		}
		if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || there {
			t.Errorf("something was written: %v", err)
		}
	})
}

// When the events were enabled they are the game's: an open that comes again leaves them as they are. One that was interrupted
// before goes on, also if an event is gone by now.
func TestOpenAgainLeavesEvents(t *testing.T) {
	e := worldtest.Engines()[1]
	const is = "SELECT STATUS FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE() AND EVENT_NAME = 'e'"
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "one"), worldtest.GameWorld(t, e, "s2", 2, 3, "two")}
	for _, d := range all {
		worldtest.Exec(t, d, "CREATE EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DO SET @a = 1", "CREATE EVENT f ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DO SET @a = 1")
	}
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
	if _, err := build.With(t.Context(), p, into, all, build.Options{Options: job.Options{RetryFor: -1}}, job.Hooks{Fail: func(at string) error {
		if at == "before create" {
			return driver.ErrBadConn
		}
		return nil
	}}); err == nil {
		t.Fatal("it was not interrupted")
	}
	worldtest.Asked(t, into, is, "DISABLED")
	worldtest.Exec(t, into, "DROP EVENT f")
	again := func() {
		t.Helper()
		if done, err := build.Open(t.Context(), p, into, all, build.Options{}); err != nil || !done.Before {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	again()
	worldtest.Asked(t, into, is, "ENABLED")
	worldtest.Exec(t, into, "ALTER EVENT e DISABLE")
	again()
	worldtest.Asked(t, into, is, "DISABLED")
	worldtest.Exec(t, into, "DROP EVENT e")
	again()
}

// Events that run after the plan may change rows that were read: neither apply nor verify nor open goes on.
func TestIntoEventsRun(t *testing.T) {
	t.Parallel()
	server := servertest.Private(t, "--event-scheduler=OFF")
	e := worldtest.Engine{Name: "mariadb", Fresh: func(t testing.TB, name string) world.Database {
		dsn, err := server.Database(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return world.Database{Name: name, DSN: "mysql:" + dsn}
	}}
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "one"), worldtest.GameWorld(t, e, "s2", 2, 3, "two")}
	for _, d := range all {
		worldtest.Exec(t, d, "CREATE EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DO SET @a = 1")
	}
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
	worldtest.Exec(t, all[0], "SET GLOBAL event_scheduler = ON")
	const want = "SET GLOBAL event_scheduler = OFF"
	refuses := func(doing string) {
		_, err := build.Apply(t.Context(), p, into, all, job.Options{})
		worldtest.RefusedBecause(t, doing, want, err)
	}
	refuses("apply")
	worldtest.Exec(t, all[0], want)
	on := job.Hooks{Fail: func(point string) error { // while apply runs
		if point == "after fence" {
			worldtest.Exec(t, all[0], "SET GLOBAL event_scheduler = ON")
		}
		return nil
	}}
	_, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, on)
	worldtest.RefusedBecause(t, "the end of apply", want, err)
	refuses("apply again")
	worldtest.Exec(t, all[0], want)
	worldtest.MustApply(t, p, into, all)
	worldtest.Exec(t, all[0], "SET GLOBAL event_scheduler = ON")
	proof, err := prove.Verify(t.Context(), p, into, all, job.Options{})
	if err != nil || proof.Verdict != verdict.NotVerified || !strings.Contains(proof.Unseen[0].String(), want) {
		t.Errorf("%+v, %v", proof, err)
	}
	worldtest.Exec(t, all[0], want)
	worldtest.Proved(t, p, into, all)
	worldtest.Exec(t, all[0], "SET GLOBAL event_scheduler = ON")
	done, err := build.Open(t.Context(), p, into, all, build.Options{})
	if !errors.Is(err, build.ErrNotProved) || !strings.Contains(done.Proof.Unseen[0].String(), want) {
		t.Errorf("%+v, %v", done, err)
	}
	worldtest.Exec(t, all[0], want)
	if _, err := build.Open(t.Context(), p, into, all, build.Options{}); err != nil {
		t.Fatal(err)
	}
	worldtest.Exec(t, all[0], "SET GLOBAL event_scheduler = ON")
	if proof, err := prove.Verify(t.Context(), p, into, all, job.Options{}); err != nil || proof.Verdict != verdict.Pass {
		t.Errorf("opened: %+v, %v", proof, err)
	}
	if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
		t.Error(err)
	}
}

// A file that cannot be made is refused by the plan.
func TestIntoNowhere(t *testing.T) {
	e := worldtest.Engines()[0]
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 2, "one"), worldtest.GameWorld(t, e, "s2", 2, 2, "two")}
	p, err := planner.NewPlan(t.Context(), world.Database{Name: "new", DSN: "sqlite:" + t.TempDir() + "/no/new.db"}, all, planner.PlanOptions{})
	if err != nil || !strings.Contains(strings.Join(worldtest.ReasonsOf(p), "\n"), "cannot be made: there is no directory") {
		t.Errorf("%v, %v", worldtest.ReasonsOf(p), err)
	}
}

// An undo refuses to drop what others made or altered on the tables of the merge, and names it. What the merge did not
// make stays in the database, and is no reason.
func TestUndoAltered(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.KeyWorlds(t, e, 2, "CREATE VIEW rich AS SELECT tag FROM chars")
		p, into := worldtest.MergeOf(t, e, all, worldtest.KeyOptions(nil))
		cases := [][3]string{
			{"CREATE INDEX more ON chars (tag)", "DROP INDEX more", "index more of table chars: only here"},
			{"CREATE TRIGGER tr AFTER DELETE ON chars BEGIN SELECT 1; END", "DROP TRIGGER tr", "trigger tr of table chars: only here"},
			{"DROP VIEW rich;CREATE VIEW rich AS SELECT guid FROM chars", "DROP VIEW rich;CREATE VIEW rich AS SELECT tag FROM chars", "view rich: "},
			{"DROP TABLE chars;CREATE TABLE chars (guid INTEGER NOT NULL PRIMARY KEY, tag VARCHAR(20) COLLATE NOCASE NOT NULL DEFAULT 'x')",
				"", "table chars: NOT NULL there, COLLATE NOCASE NOT NULL DEFAULT 'x' here"},
		}
		if e.Name != "sqlite" {
			cases[0][1] += " ON chars"
			cases[1][0] = "CREATE TRIGGER tr BEFORE DELETE ON chars FOR EACH ROW SET @a = 1"
			back := "ALTER TABLE chars MODIFY tag VARCHAR(20) NOT NULL"
			cases = append(cases[:3], [][3]string{
				{"ALTER TABLE chars MODIFY tag VARCHAR(30) NOT NULL", back, "column tag of table chars: "},
				{"ALTER TABLE chars MODIFY tag VARCHAR(20) COLLATE utf8mb4_bin NOT NULL", back, "column tag of table chars: "},
				{"ALTER TABLE chars ALTER tag SET DEFAULT 'x'", back, "column tag of table chars: "},
				{"ALTER TABLE chars ADD CONSTRAINT some CHECK (guid > -9)", "ALTER TABLE chars DROP CONSTRAINT some", "check some of table chars: only here"},
			}...)
		}
		do := func(d world.Database, statements string) {
			for statement := range strings.SplitSeq(statements, ";") {
				if strings.HasPrefix(statements, "CREATE TRIGGER") {
					statement = statements // one with a body
				}
				if statement != "" {
					worldtest.Exec(t, d, statement)
				}
				if statement == statements {
					break
				}
			}
		}
		for _, c := range cases {
			do(into, c[0])
			_, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
			worldtest.RefusedBecause(t, c[0], "altered since it was made like w0: "+c[2], err)
			worldtest.RefusedBecause(t, c[0], "-force drops it anyway", err)
			do(into, c[1])
		}
		if e.Name == "sqlite" { // of the rows too
			p, into = worldtest.MergeOf(t, e, all, worldtest.KeyOptions(nil))
		}
		worldtest.Exec(t, into, "CREATE TABLE mine (a INT)", "CREATE VIEW my AS SELECT a FROM mine", "DROP VIEW rich")
		// With the first world altered too there is nothing to compare with.
		worldtest.Exec(t, all[0], "CREATE INDEX other ON chars (tag)")
		worldtest.Exec(t, into, cases[0][0])
		undone, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
		if err != nil || len(undone.Others) != 2 {
			t.Errorf("%+v, %v", undone, err)
		}
		worldtest.Asked(t, into, "SELECT COUNT(*) FROM my", "0")
	})
}

// Undo with -force gets rid of a merge whatever others made of its tables and counters. What is theirs stays.
func TestUndoForcedAnyway(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE counted (id INTEGER PRIMARY KEY)", "INSERT INTO counted VALUES (%d)")
		if e.Name == "sqlite" {
			all = worldtest.KeyWorlds(t, e, 2, "CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT)", "INSERT INTO counted VALUES (%d)")
			worldtest.Exec(t, all[0], "UPDATE sqlite_sequence SET seq = NULL")
			worldtest.Exec(t, all[1], "UPDATE sqlite_sequence SET seq = 'lost'")
		}
		opts := worldtest.KeyOptions(func(o *rules.Options, _ *rules.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"counted.id"}})
		})
		p, into := worldtest.MergeOf(t, e, all, opts)
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass {
			t.Fatalf("%+v", proof)
		}
		odd := []string{"ALTER TABLE items RENAME TO theirs", "CREATE VIEW items AS SELECT * FROM theirs"}
		if e.Name == "sqlite" {
			odd = append(odd, "INSERT INTO counted VALUES (77)", "UPDATE sqlite_sequence SET seq = 'lost'")
		}
		worldtest.Exec(t, into, odd...)
		if _, err := prove.Verify(t.Context(), p, into, all, job.Options{}); err != nil {
			if _, refused := errors.AsType[*record.RefusedError](err); !refused {
				t.Error(err)
			}
		}
		undone, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true})
		if err != nil || len(undone.Others) != 2 {
			t.Errorf("%+v, %v", undone, err)
		}
	})
}
