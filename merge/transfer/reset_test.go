package transfer

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/merge/verdict"
)

// resetWorlds are two worlds: of characters, of who is online with a generated column, of
// visits to characters (a foreign key), and of a queue without a key (but with a CHECK).
func resetWorlds(t testing.TB, e engine) (all []rowio.Database) {
	t.Helper()
	auto := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if e.name != "sqlite" {
		auto = "INTEGER PRIMARY KEY AUTO_INCREMENT"
	}
	for i, name := range []string{"s1", "s2"} {
		d := e.fresh(t, name)
		exec(t, d,
			"CREATE TABLE chars (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE)",
			"CREATE TABLE online (id "+auto+", twice INTEGER AS (seen * 2), name VARCHAR(20) UNIQUE, seen INTEGER, place VARCHAR(9))",
			"CREATE TABLE visits (n INTEGER NOT NULL PRIMARY KEY, who INTEGER, FOREIGN KEY (who) REFERENCES chars (id))",
			"CREATE TABLE queue (what VARCHAR(20), CONSTRAINT some CHECK (what <> ''))")
		for k := range 3 {
			id := 100*i + k
			exec(t, d, fmt.Sprintf("INSERT INTO chars VALUES (%d, 'c%d')", id, id),
				fmt.Sprintf("INSERT INTO online (id, name, seen, place) VALUES (%d, 'c%d', %d, NULL)", 4000+id, id, k),
				fmt.Sprintf("UPDATE online SET id = %d WHERE id = %d", id, 4000+id), // the key 0, too
				fmt.Sprintf("INSERT INTO visits VALUES (%d, %d)", id+7, id),
				"INSERT INTO queue VALUES ('again'), (NULL)")
		}
		exec(t, d, "INSERT INTO online (id, name) VALUES (5000, 'gone')", "DELETE FROM online WHERE id = 5000")
		all = append(all, d)
	}
	return all
}

var resetOptions = planner.PlanOptions{Check: declare.Options{Rules: namesNothing, Allow: []string{verdict.CodeAutoIncrement},
	Tables: []declare.TablePolicy{{Tables: []string{"online", "visits", "queue"}, Policy: declare.PolicyReset}}}}

// resetMerged are the worlds, merged, and what the target was before.
func resetMerged(t *testing.T, e engine) (p *plan.Plan, all []rowio.Database, before string) {
	t.Helper()
	all = resetWorlds(t, e)
	before = dump(t, all[0])
	p = mustPlan(t, all[0], all[1:], resetOptions)
	if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
		t.Fatal(err)
	}
	return p, all, before
}

// keptTables are the tables of a target that keep rows, or are to be emptied.
func keptTables(t *testing.T, d rowio.Database) (names []string) {
	t.Helper()
	db := pool(t, d)
	defer db.Close()
	kind, _, _ := strings.Cut(d.DSN, ":")
	for _, row := range readCell(t, db, sqldb.Dialect(kind).TableNames()) {
		if strings.HasPrefix(row[0], "mergesafe_was_") {
			names = append(names, row[0])
		}
	}
	return names
}

// made is how the tables of the game are made, without rows.
func made(t *testing.T, d rowio.Database) string {
	t.Helper()
	db := pool(t, d)
	defer db.Close()
	statement := "SELECT name, sql FROM sqlite_schema WHERE name = '%s'"
	if strings.HasPrefix(d.DSN, "mysql:") {
		statement = "SHOW CREATE TABLE %s"
	}
	var all []string
	for _, table := range []string{"chars", "online", "visits", "queue"} {
		all = append(all, readCell(t, db, fmt.Sprintf(statement, table))[0][1])
	}
	return strings.Join(all, "\n")
}

// Tables of the policy reset are empty after the merge, the game goes on counting in them,
// no later look at the database sees what is kept, and an undo puts everything back.
func TestReset(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := resetWorlds(t, e)
		before, tables := dump(t, all[0]), made(t, all[0])
		p := mustPlan(t, all[0], all[1:], resetOptions)
		var got []string
		for _, s := range p.Resets {
			got = append(got, fmt.Sprintf("%s %d %v", s.Table, s.Rows, s.Moved))
			if len(s.Kept) > 64 || !strings.HasPrefix(s.Kept, "mergesafe_was_"+p.ID[:8]) {
				t.Errorf("%s is kept in %s", s.Table, s.Kept)
			}
		}
		lite := e.name == "sqlite"
		checks := lite || p.Engine == "mysql"
		if diff := cmp.Diff([]string{fmt.Sprint("online 3 ", lite), fmt.Sprint("queue 6 ", checks), "visits 3 true"}, got); diff != "" {
			t.Error(diff)
		}
		const left = "rows of the sources that stay behind, as declared: s2: 3; the table is emptied: 3 rows of s1 are removed"
		if !slices.Contains(p.Left, plan.Left{Table: "online", Reason: left}) || len(p.Tables) != 1 {
			t.Errorf("left: %+v", p.Left)
		}

		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		for table, want := range map[string]int64{"online": 0, "visits": 0, "queue": 0, "chars": 6} {
			if n := number(t, all[0], "SELECT COUNT(*) FROM "+table); n != want {
				t.Errorf("%s has %d rows, want %d", table, n, want)
			}
		}
		if proof := verified(t, p, all[0], all[1:]); proof.Verdict != verdict.Pass || len(proof.Resets) != 3 || proof.Resets[1].Keeps != 6 {
			t.Errorf("%+v", proof)
		}
		s, err := rowio.OpenSource(t.Context(), all[0])
		if err != nil {
			t.Fatal(err)
		}
		if plan.Schema(s) != p.Target.Schema || len(s.Known.Tables) != 4 {
			t.Errorf("the tables of the target are not made as before: %+v", s.Known.Tables)
		}
		s.Close()
		if diff := cmp.Diff(tables, made(t, all[0])); diff != "" {
			t.Error(diff)
		}

		exec(t, all[0], "INSERT INTO online (name, seen) VALUES ('new', 1)")
		if id := number(t, all[0], "SELECT id FROM online"); id <= 5000 {
			t.Errorf("the game got the number %d again", id)
		}
		exec(t, all[0], "INSERT INTO visits VALUES (99, 1)", "INSERT INTO queue VALUES ('again')")
		done, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{})
		if err != nil || done.SameAsBefore {
			t.Fatalf("%+v, %v", done, err)
		}
		for table, want := range map[string]int64{"online": 4, "visits": 4, "queue": 7, "chars": 3} {
			if n := number(t, all[0], "SELECT COUNT(*) FROM "+table); n != want {
				t.Errorf("%s has %d rows, want %d", table, n, want)
			}
		}
		if kept := keptTables(t, all[0]); kept != nil {
			t.Errorf("the undo left %v", kept)
		}

		// And without a game that goes on.
		p, all, before = resetMerged(t, e)
		if done, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil || !done.SameAsBefore {
			t.Fatalf("%+v, %v", done, err)
		}
		if diff := cmp.Diff(before, dump(t, all[0])); diff != "" {
			t.Error(diff)
		}
	})
}

// What a proof has to find in tables that were emptied, and in what is kept of them.
func TestResetProof(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		p, all, _ := resetMerged(t, e)
		online, queue, visits := p.Resets[0].Kept, p.Resets[1].Kept, p.Resets[2].Kept
		for _, tt := range []struct{ do, want string }{
			{"INSERT INTO visits VALUES (5, NULL)", "online PASS, queue PASS, visits FAIL it is not empty"},
			{"UPDATE " + online + " SET seen = 77 WHERE id = 1", "online FAIL the rows in " + online + " are not those that were removed, queue PASS, visits FAIL it is not empty"},
			{"DROP TABLE " + queue, "online FAIL the rows in " + online + " are not those that were removed, queue FAIL " + queue + ", which kept its rows, is gone: the merge cannot be undone, visits FAIL it is not empty"},
			{"DELETE FROM " + visits + " WHERE n = 7", "online FAIL the rows in " + online + " are not those that were removed, queue FAIL " + queue + ", which kept its rows, is gone: the merge cannot be undone, visits FAIL it is not empty; the rows in " + visits + " are not those that were removed"},
		} {
			exec(t, all[0], tt.do)
			proof := verified(t, p, all[0], all[1:])
			var got []string
			for _, s := range proof.Resets {
				got = append(got, strings.TrimSpace(fmt.Sprint(s.Table, " ", s.Verdict, " ", s.Reason)))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" || proof.Verdict != verdict.Fail {
				t.Errorf("%s: %s\n%s", tt.do, proof.Verdict, diff)
			}
		}
	})
}

// An undo that would lose something is refused before it writes; with force, what was kept
// wins.
func TestResetUndoRefused(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		p, all, before := resetMerged(t, e)
		refused := func(force bool, wants ...string) {
			t.Helper()
			was := dump(t, all[0])
			_, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{Force: force})
			refusal := new(ledger.RefusedError)
			if !errors.As(err, &refusal) || len(refusal.Refusals) != len(wants) {
				t.Fatalf("got %v, want %d reasons", err, len(wants))
			}
			for i, want := range wants {
				if !strings.Contains(refusal.Refusals[i].String(), want) {
					t.Errorf("got %v, want %q", refusal.Refusals[i], want)
				}
			}
			if diff := cmp.Diff(was, dump(t, all[0])); diff != "" {
				t.Errorf("something was changed: %s", diff)
			}
		}
		exec(t, all[0], "INSERT INTO online (id, name) VALUES (1, 'x'), (900, 'c2'), (901, 'y')")
		refused(false, `table "online": 1 row made since the merge has the same id`, `table "online": 1 row made since the merge has the same name as rows that were removed; give these rows other keys or remove them, or force the undo`)
		exec(t, all[0], "DELETE FROM online", "CREATE TRIGGER ins AFTER INSERT ON online "+body(e, "DELETE FROM queue"))
		refused(true, `the trigger "ins" (AFTER INSERT)`)
		exec(t, all[0], "DROP TRIGGER ins", "DELETE FROM chars WHERE id = 2")
		refused(true, `of the rows that were removed, 1 references by who rows of "chars" that are gone since`)
		exec(t, all[0], "INSERT INTO chars VALUES (2, 'c2')", "INSERT INTO online (id, name, seen) VALUES (1, 'x', 5), (901, 'c2', 1), (902, 'c99', 1)", "INSERT INTO visits VALUES (7, NULL)")
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{Options: job.Options{}, Force: true}); err != nil {
			t.Fatal(err)
		}
		if n := number(t, all[0], "SELECT seen FROM online WHERE id = 902"); n != 1 {
			t.Error("a row that collides with none is lost")
		}
		exec(t, all[0], "DELETE FROM online WHERE id = 902")
		if e.name == "sqlite" {
			exec(t, all[0], "UPDATE sqlite_sequence SET seq = 5000 WHERE name = 'online'")
		} else {
			exec(t, all[0], "ALTER TABLE online AUTO_INCREMENT = 5001")
		}
		if diff := cmp.Diff(before, dump(t, all[0])); diff != "" {
			t.Error(diff)
		}

		p, all, _ = resetMerged(t, e)
		exec(t, all[0], "DROP TABLE "+p.Resets[0].Kept)
		refused(true, `table "online": the table `+p.Resets[0].Kept+` is missing: it kept 3 rows of online from before the merge, so undo cannot put them back; restore this database from its backup`)
	})
}

// Tables are not emptied if rows would refer to nothing, if a trigger would run, or if it
// is not what else is declared.
func TestResetRefused(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		for _, tt := range []struct {
			name   string
			do     []string // in both worlds
			change func(o *planner.PlanOptions)
			want   string
		}{
			{"a foreign key of rows that come", nil, func(o *planner.PlanOptions) {
				o.Check.Tables = []declare.TablePolicy{{Tables: []string{"chars"}, Policy: declare.PolicyReset}, {Tables: []string{"online", "queue"}, Policy: declare.PolicySkip}}
				o.Check.Allow = append(o.Check.Allow, verdict.CodeReferenceDangle, verdict.CodeReferenceRebind)
			}, `table "visits": table-uncopyable: it refers to rows of "chars", which is not copied`},
			{"a foreign key of rows that stay", nil, func(o *planner.PlanOptions) {
				o.Check.Tables = []declare.TablePolicy{{Tables: []string{"chars"}, Policy: declare.PolicyReset}, {Tables: []string{"visits", "online", "queue"}, Policy: declare.PolicySkip}}
			}, `rows of "visits" reference its rows, which are removed`},
			{"a reference that is declared", nil, func(o *planner.PlanOptions) {
				o.Check.Rules = []declare.Declarations{{Plain: []string{"*.name", "*.seen", "*.place", "visits.*", "queue.*", "online.*"},
					References: []declare.DeclaredReference{{At: []string{"chars.id"}, To: []string{"online.id"}}}}}
			}, `refers to online, whose rows stay behind`},
			{"an undeclared column of the target's own rows", []string{"CREATE TABLE notes (n INTEGER NOT NULL PRIMARY KEY, about INTEGER)"}, func(o *planner.PlanOptions) {
				o.Check.Rules = []declare.Declarations{{Plain: []string{"chars.*", "online.*", "visits.*", "queue.*"}, Shared: []string{"notes.n"}}}
			}, `reference-undeclared`},
			{"a trigger", []string{"CREATE TRIGGER del AFTER DELETE ON online " + body(e, "DELETE FROM queue")}, nil,
				`table "online": table-uncopyable: the trigger "del" (AFTER DELETE) would run for rows that are removed`},
			{"a history of migrations", []string{"CREATE TABLE goose_db_version (id INTEGER NOT NULL PRIMARY KEY, version_id BIGINT NOT NULL, is_applied BOOLEAN NOT NULL, tstamp TIMESTAMP NULL)"}, func(o *planner.PlanOptions) {
				o.Check.Tables = append(slices.Clone(o.Check.Tables), declare.TablePolicy{Tables: []string{"goose*"}, Policy: declare.PolicyReset})
			}, `table "goose_db_version": table-uncopyable: it is the history of migrations that`},
			{"excluded too", nil, func(o *planner.PlanOptions) { o.Check.Exclude = []string{"online"} }, `table "online": table-uncopyable: it is excluded, and declared to be emptied`},
		} {
			t.Run(tt.name, func(t *testing.T) {
				all, o := resetWorlds(t, e), resetOptions
				o.Check.Allow = slices.Clone(o.Check.Allow)
				for i, d := range all {
					exec(t, d, tt.do...)
					if strings.Contains(tt.want, "undeclared") {
						exec(t, all[0], fmt.Sprintf("INSERT INTO notes VALUES (%d, %d)", 9000+i, 1+i))
					}
				}
				if tt.change != nil {
					tt.change(&o)
				}
				p, err := planner.NewPlan(t.Context(), all[0], all[1:], o)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool { return strings.Contains(r.String(), tt.want) }) {
					t.Errorf("refused: %v, want %q", p.Refusals, tt.want)
				}
			})
		}
	})
}

// What hangs on a table of a server and is not in the catalogue of the target, and tables
// without transactions, are refused.
func TestResetRefusedOnAServer(t *testing.T) {
	e := engines()[1]
	all, beside := resetWorlds(t, e), e.fresh(t, "beside")
	_, name, _ := strings.Cut(all[0].DSN, ")/")
	name, _, _ = strings.Cut(name, "?")
	exec(t, beside, "CREATE TABLE watchers (id INTEGER, FOREIGN KEY (id) REFERENCES `"+name+"`.online (id))")
	exec(t, all[0], "ALTER TABLE queue ENGINE=MyISAM")
	p, err := planner.NewPlan(t.Context(), all[0], all[1:], resetOptions)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`table "online": the table `, "`.`watchers` refers to it and is not read here", "the engine of 1 table (MyISAM) has no transactions"} {
		if !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool { return strings.Contains(r.String(), want) }) {
			t.Errorf("refused: %v, want %q", p.Refusals, want)
		}
	}
	if diff := cmp.Diff([]string{"ALTER TABLE `queue` ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;"},
		p.Prepare); diff != "" {
		t.Error(diff)
	}
	exec(t, beside, "DROP TABLE watchers")
}

// What a game writes to a table that was emptied, while the rest is copied, is noticed
// before the merge is completed.
func TestResetIsDisturbed(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := resetWorlds(t, e)
		p := mustPlan(t, all[0], all[1:], resetOptions)
		inserted, written := false, false
		_, err := apply.ApplyWith(t.Context(), p, all[0], all[1:], job.Options{}, job.Hooks{Fail: func(point string) error {
			inserted = inserted || point == "after insert"
			if point == "after commit" && inserted && !written {
				written = true
				exec(t, all[0], "INSERT INTO online (name) VALUES ('early')")
			}
			return nil
		}})
		if changed := new(ledger.ChangedError); !errors.As(err, &changed) || changed.Table != "online" || !written {
			t.Fatalf("%v, want a changed table (written: %v)", err, written)
		}
		_, err = apply.Apply(t.Context(), p, all[0], all[1:], job.Options{})
		if _, refused := errors.AsType[*ledger.RefusedError](err); !refused || !strings.Contains(err.Error(), `table "online": it has 1 row, and should have 0`) {
			t.Error(err)
		}
		if done, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil || done.SameAsBefore {
			t.Errorf("%+v, %v", done, err)
		}
		if n := number(t, all[0], "SELECT COUNT(*) FROM online"); n != 4 {
			t.Errorf("%d rows, want 4", n)
		}
	})
}

// What has changed since the plan is found before the first write.
func TestResetPreflight(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := resetWorlds(t, e)
		p := mustPlan(t, all[0], all[1:], resetOptions)
		for _, tt := range []struct{ do, back, want string }{
			{"INSERT INTO online (id, name) VALUES (3, 'late')", "DELETE FROM online WHERE id = 3", `table "online": it has 4 rows, and should have 3`},
			{"CREATE TABLE " + p.Resets[1].Kept + " (n INTEGER)", "DROP TABLE " + p.Resets[1].Kept, "there is a table"},
			{"CREATE TRIGGER ins AFTER INSERT ON queue " + body(e, "DELETE FROM chars"), "DROP TRIGGER ins", `table "queue": the trigger "ins"`},
		} {
			exec(t, all[0], tt.do)
			before := dump(t, all[0])
			_, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{})
			if _, refused := errors.AsType[*ledger.RefusedError](err); !refused || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", tt.do, err, tt.want)
			}
			if diff := cmp.Diff(before, dump(t, all[0])); diff != "" {
				t.Errorf("something was changed: %s", diff)
			}
			exec(t, all[0], tt.back)
		}
		// A plan that names another table was changed by hand.
		other := *p
		other.Resets = slices.Clone(p.Resets)
		other.Resets[0].Kept = "chars"
		if _, err := apply.Apply(t.Context(), &other, all[0], all[1:], job.Options{}); err == nil || !strings.Contains(err.Error(), "was changed") {
			t.Error(err)
		}
	})
}

// An account that may not do all of it is refused before anything is written.
func TestResetRights(t *testing.T) {
	e := engines()[1]
	all := resetWorlds(t, e)
	p := mustPlan(t, all[0], all[1:], resetOptions)
	before := dump(t, all[0])
	const most = "SELECT, TRIGGER, INSERT, UPDATE, DELETE, CREATE, DROP"
	for rights, want := range map[string]string{
		most: "ALTER",
		strings.Replace(most, ", DROP", ", ALTER", 1):         "DROP",
		strings.Replace(most, ", CREATE", ", ALTER", 1):       "CREATE",
		strings.Replace(most, ", TRIGGER, ", ", ALTER, ", 1):  "cannot see",
		strings.Replace(most, ", DELETE, ", ", ALTER, ", 1):   "DELETE",
		strings.Replace(most, ", CREATE", ", CREATE VIEW", 1): "CREATE",
	} {
		some := slices.Clone(all)
		some[0].DSN = "mysql:" + servertest.Grant(t, rights, strings.TrimPrefix(all[0].DSN, "mysql:"))
		_, err := apply.Apply(t.Context(), p, some[0], some[1:], job.Options{})
		if _, refused := errors.AsType[*ledger.RefusedError](err); !refused || !strings.Contains(err.Error(), want) {
			t.Errorf("with %s: %v, want it to be refused because of %s", rights, err, want)
		}
	}
	some := slices.Clone(all)
	some[0].DSN = "mysql:" + servertest.Grant(t, "SELECT, TRIGGER", strings.TrimPrefix(all[0].DSN, "mysql:"))
	lacks := mustPlan(t, some[0], some[1:], resetOptions).Lacks
	if diff := cmp.Diff([]string{"s1: INSERT on chars, online, queue, and 1 more", "s1: DELETE on chars, online, queue, and 1 more"}, lacks); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, dump(t, all[0])); diff != "" {
		t.Errorf("something was changed: %s", diff)
	}
	some[0].DSN = "mysql:" + servertest.Grant(t, most+", ALTER", strings.TrimPrefix(all[0].DSN, "mysql:"))
	if _, err := apply.Apply(t.Context(), p, some[0], some[1:], job.Options{}); err != nil {
		t.Error(err)
	}
	if _, err := undo.Undo(t.Context(), p, some[0], some[1:], undo.UndoOptions{}); err != nil {
		t.Error(err)
	}
}

// Between any two steps by which tables are emptied or filled, the work may end: it is
// resumed, or taken back.
func TestResetIsInterrupted(t *testing.T) {
	servertest.NotShort(t)
	steps := []string{"create", "counter", "rename", "fill", "empty", "drop"}
	onEach(t, func(t *testing.T, e engine) {
		all := resetWorlds(t, e)
		before := dump(t, all[0])
		p := mustPlan(t, all[0], all[1:], resetOptions)
		worlds := clones(t, e, all)
		patience := time.Duration(-1)
		// ended works until the point of that number; it reports whether there is such a point.
		ended := func(n int, work func(h job.Hooks) error) bool {
			t.Helper()
			seen, reached := 0, false
			err := work(job.Hooks{Clock: fixedClock, Fail: func(point string) error {
				if _, step, _ := strings.Cut(point, " "); slices.Contains(steps, step) {
					if seen++; seen == n {
						reached = true
						return driver.ErrBadConn
					}
				}
				return nil
			}})
			if stopped := reached && patience < 0; stopped != errors.Is(err, ledger.ErrStopped) || !stopped && err != nil {
				t.Fatalf("at point %d: %v", n, err)
			}
			return reached
		}
		apply := func(h job.Hooks) error {
			_, err := apply.ApplyWith(t.Context(), p, worlds[0], worlds[1:], job.Options{RetryFor: patience}, h)
			return err
		}
		undo := func(h job.Hooks) error {
			_, err := undo.UndoWith(t.Context(), p, worlds[0], worlds[1:], undo.UndoOptions{Options: job.Options{RetryFor: patience}}, h)
			if errors.Is(err, ledger.ErrNoMerge) { // nothing was written, or everything undone
				return nil
			}
			return err
		}
		ended(0, apply)
		want, points := dump(t, worlds[0]), 0
		as := func(what string, n int, want string) {
			t.Helper()
			if diff := cmp.Diff(want, dump(t, worlds[0])); diff != "" {
				t.Fatalf("%s, point %d (-want +got):\n%s", what, n, diff)
			}
		}
		ended(0, undo)
		as("undone", 0, before)
		every := 1
		if !*long {
			every = 4 * int(12/e.short(12))
		}
		for n, more := 1, true; more; n += every {
			more = ended(n, apply)
			ended(0, apply)
			as("apply, resumed", n, want)
			taken := ended(n, undo)
			ended(0, undo)
			as("undo, resumed", n, before)
			if more {
				points++
				ended(n, apply)
				ended(0, undo)
				as("apply, taken back", n, before)
			}
			if taken {
				points++
			}
			patience = time.Minute // the same, retried
			ended(n, apply)
			as("apply, retried", n, want)
			ended(n, undo)
			as("undo, retried", n, before)
			patience = -1
			more = more || taken
		}
		t.Logf("%d points", points)
		if points < 30/every {
			t.Errorf("only %d points", points)
		}
	})
}
