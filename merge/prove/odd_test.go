package prove_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/build"
	"mergesafe/merge/evidence"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// SQLite keeps a value of any type in any column, and NULL in a key. In a world that is a refusal of the plan unless it is
// copied as it is. What comes later is a row that differs: for the proof in each database, and for an undo in the new
// one. None of it is an error.
func TestOddValues(t *testing.T) {
	e := worldtest.Engines()[0]
	all := worldtest.KeyWorlds(t, e, 2,
		"CREATE TABLE acc (login TEXT PRIMARY KEY, n INT)", "INSERT INTO acc VALUES ('a%d', 1)",
		"CREATE TABLE log (guid INTEGER NOT NULL, b BLOB)", "INSERT INTO log VALUES (1, x'00')",
		"CREATE TABLE stat (guid INT NOT NULL PRIMARY KEY, hp INT)", "INSERT INTO stat VALUES (1, 1), (2, 1)",
		"CREATE TABLE pair (guid INT NOT NULL, tag2 TEXT NOT NULL, PRIMARY KEY (guid, tag2))", "INSERT INTO pair VALUES (1, 'x'), (2, 'y')",
		"CREATE TABLE mail (id INT PRIMARY KEY, guid INT)", "INSERT INTO mail VALUES (1, 2)",
		"CREATE TABLE empty (login TEXT PRIMARY KEY)",
		"CREATE TABLE raw (id VARBINARY(4) PRIMARY KEY, hp INT)", "INSERT INTO raw VALUES (x'0%d', 1)")
	opts := worldtest.KeyOptions(nil)
	d := &opts.Check.Rules[0]
	d.Plain = append(d.Plain, "*.n", "*.hp", "*.tag2", "*.b")
	d.References[0].At = append(d.References[0].At, "log.guid", "stat.guid", "pair.guid", "mail.guid")
	opts.Check.Rekey.Spaces = append(opts.Check.Rekey.Spaces, rules.Space{Keys: []string{"mail.id"}})
	p, made := worldtest.MergeOf(t, e, all, opts)
	const null, bytes = "table-uncopyable: a row has NULL in the column", "key-collision: not verified"
	const owner = "key-space: owner: it cannot get new values: a value is "
	type odd struct{ table, do, plan string } // plan is why it refuses; "": it does not
	for i, odds := range [][]odd{             // what is done at once
		{{"acc", "INSERT INTO acc VALUES (NULL, 5)", null}, {"empty", "INSERT INTO empty VALUES (NULL)", null}, {"raw", "INSERT INTO raw VALUES (NULL, 1)", null},
			{"mail", "INSERT INTO mail VALUES (NULL, 1)", null}, {"pair", "UPDATE pair SET tag2 = x'00' WHERE guid = 1", bytes}, {"items", "UPDATE items SET owner = 'lost' WHERE id = 1", owner + "text, want an integer, in w0"}},
		{{"acc", "INSERT INTO acc VALUES (NULL, 5), (NULL, 5)", null}, {"raw", "UPDATE raw SET id = 'lost' || id", bytes}, {"mail", "UPDATE mail SET id = 'lost' WHERE id = 1", "key-space: "},
			{"items", "UPDATE items SET owner = x'31' WHERE id = 1", owner + "bytes, want an integer, in w0"}, {"pair", "UPDATE pair SET guid = 'lost' WHERE guid = 1", "key-space: "}},
		{{"acc", "INSERT INTO acc VALUES (x'00ff', 5)", bytes}, {"raw", "INSERT INTO raw VALUES (5, 1)", bytes}, {"mail", "INSERT INTO mail VALUES (x'31', 1)", "key-space: "},
			{"items", "UPDATE items SET owner = 1.5 WHERE id = 1", owner + "a floating point number"}, {"stat", "UPDATE stat SET guid = 'lost' WHERE guid = 1", "key-space: "}, {"log", "UPDATE log SET guid = 'lost'", "key-space: "}},
		{{"acc", "UPDATE acc SET login = CAST(login AS BLOB) WHERE login IN ('a0', 'a1')", bytes}, {"stat", "INSERT INTO stat VALUES (x'31', 1)", "key-space: "}},
		{{"acc", "UPDATE acc SET n = 'many'", ""}, {"log", "UPDATE log SET b = 'lost'", ""}, {"chars", "UPDATE chars SET tag = x'00' WHERE guid = 1", ""}},
		{{"acc", "UPDATE acc SET n = x'31'", ""}},
		{{"acc", "UPDATE acc SET n = 1.5", ""}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			of := make(map[string]odd)
			var do []string
			for _, c := range odds {
				of[c.table], do = c, append(do, c.do)
			}
			differs := func(into world.Database, worlds []world.Database, altered string) {
				t.Helper()
				proof, err := prove.Verify(t.Context(), p, into, worlds, job.Options{})
				if err != nil || proof.Verdict != verdict.Fail {
					t.Fatalf("verify: %v, %+v", err, proof)
				}
				for _, table := range proof.Tables {
					if altered == "w1" && table.Table == "empty" && strings.Contains(fmt.Sprint(proof.Findings), `database "w1": table "empty": `) {
						continue // of whose rows none was to come
					}
					c, changed := of[table.Table]
					if (table.Verdict == verdict.Fail) != changed {
						t.Errorf("verify: %+v, %v", table, proof.Findings)
					}
					if !changed {
						continue
					}
					if altered != "" != slices.Contains(table.Worlds, altered) || altered == "" && strings.HasPrefix(c.do, "UPDATE") && c.table != "log" && len(table.Samples) == 0 {
						t.Errorf("verify: %+v", table)
					}
				}
			}
			into := worldtest.Clone(t, e, made)
			worldtest.Exec(t, into, do...)
			differs(into, all, "")
			_, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
			refused, _ := errors.AsType[*record.RefusedError](err)
			for table := range of {
				if refused == nil || !slices.ContainsFunc(refused.Refusals, func(r plan.Refusal) bool { return r.Table == table && strings.HasPrefix(r.Reason, "it has ") }) {
					t.Errorf("undo, %s: %v", table, err)
				}
			}
			if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true}); err != nil {
				t.Error(err)
			}

			worlds := worldtest.Clones(t, e, all)
			worldtest.Exec(t, worlds[1], do...)
			differs(made, worlds, "w1")
			var changed *record.ChangedError
			if _, err := build.Apply(t.Context(), p, e.Fresh(t, "new"), worlds, job.Options{}); !errors.As(err, &changed) && !errors.As(err, &refused) {
				t.Errorf("apply: %v", err)
			}
			worlds = worldtest.Clones(t, e, all)
			worldtest.Exec(t, worlds[0], do...)
			differs(made, worlds, "w0")
			for _, c := range odds {
				fresh := e.Fresh(t, "new")
				worlds := worldtest.Clones(t, e, all)
				worldtest.Exec(t, worlds[0], c.do)
				again := worldtest.Planned(t, fresh, worlds, opts)
				reasons := strings.Join(worldtest.ReasonsOf(again), "\n")
				if !strings.Contains(reasons, c.plan) || c.plan == "" && reasons != "" {
					t.Errorf("%s: plan: %s, want %q", c.do, reasons, c.plan)
				}
				if c.plan == "" {
					worldtest.MustApply(t, again, fresh, worlds)
					worldtest.Proved(t, again, fresh, worlds)
				}
			}
		})
	}
}

// The same of a row that may stay behind.
func TestOddLeavers(t *testing.T) {
	e := worldtest.Engines()[0]
	leavers := slices.Clone(worldtest.Leavers)
	for i := range leavers {
		leavers[i] = strings.ReplaceAll(leavers[i], "INTEGER NOT NULL PRIMARY KEY", "INT NOT NULL PRIMARY KEY")
	}
	all := worldtest.KeyWorlds(t, e, 2, leavers...)
	for _, more := range []func(o *rules.Options, d *rules.Declarations){nil, worldtest.BestTwo} {
		p, made := worldtest.MergeOf(t, e, all, worldtest.LeaveOptions(more))
		worlds := worldtest.Clones(t, e, all)
		worldtest.Exec(t, worlds[1], "UPDATE hero SET guid = 'lost' WHERE guid = 1")
		proof, err := prove.Verify(t.Context(), p, made, worlds, job.Options{})
		if err != nil || proof.Verdict != verdict.Fail {
			t.Errorf("%v, %+v", err, proof)
		}
		if !slices.ContainsFunc(proof.Tables, func(table evidence.TableProof) bool {
			return table.Table == "hero" && slices.Contains(table.Worlds, "w1")
		}) {
			t.Errorf("%+v", proof)
		}
	}
}

// A key of another type than the merge made is refused as what it is: the rules of the check could not be about it.
func TestKeyOfAnotherType(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2)
	p, into := worldtest.MergeOf(t, e, all, worldtest.KeyOptions(nil))
	alter := []string{"ALTER TABLE items MODIFY id VARCHAR(20) NOT NULL"}
	alter = []string{"ALTER TABLE items RENAME TO was", "CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, owner INTEGER NOT NULL, tag VARCHAR(20) NOT NULL)",
		"INSERT INTO items SELECT id, owner, tag FROM was", "DROP TABLE was"}
	worldtest.Exec(t, into, alter...)
	_, err := prove.Verify(t.Context(), p, into, all, job.Options{})
	worldtest.RefusedBecause(t, "verify", "its column id is ", err)
	_, err = build.Undo(t.Context(), p, into, all, build.UndoOptions{})
	worldtest.RefusedBecause(t, "undo", "items", err)
}
