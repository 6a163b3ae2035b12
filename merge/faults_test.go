package merge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// manyRows makes a world of one table with that many rows.
func manyRows(t testing.TB, e engine, name string, from, n int) world.Database {
	t.Helper()
	d := e.fresh(t, name)
	exec(t, d, "CREATE TABLE things (id BIGINT NOT NULL PRIMARY KEY, owner VARBINARY(10), note VARCHAR(40), n BIGINT)")
	if e.name == "mariadb" {
		exec(t, d, "INSERT INTO things SELECT seq, LPAD(seq, 10, 'x'), CONCAT('note ', seq), seq * 7 FROM "+servertest.Seq(from, from+n-1))
		return d
	}
	exec(t, d, fmt.Sprintf("INSERT INTO things WITH RECURSIVE s(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM s WHERE i + 1 < %d)", from, from+n)+
		" SELECT i, CAST(printf('%010d', i) AS BLOB), 'note ' || i, i * 7 FROM s")
	return d
}

var manyOptions = planner.PlanOptions{Check: rules.Options{Allow: []string{verdict.CodeColumnOpaque, verdict.CodeAutoIncrement}, Rules: namesNothing}}

// namesNothing declares that no column is a reference, for tests of other things.
var namesNothing = []rules.Declarations{{Plain: []string{"*.*"}}}

// One bit in many rows is found, and the row named.
func TestVerifyFlippedBit(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		rows := 5_000
		if *long {
			rows = 1_000_000
		}
		all := []world.Database{manyRows(t, e, "a", 1, 1000), manyRows(t, e, "b", 10_000_000, rows)}
		p, into := mergeOf(t, e, all, manyOptions)
		if proof := verified(t, p, into, all); proof.Verdict != verdict.Pass {
			t.Fatalf("%+v", proof)
		}
		at := 10_000_000 + rows*2/3
		exec(t, into, fmt.Sprintf("UPDATE things SET n = n + 1 WHERE id = %d", at)) // n was even or odd: the last bit
		proof := verified(t, p, into, all)
		if s := proof.Tables[0].Samples; proof.Verdict != verdict.Fail || proof.Tables[0].Changed != 1 || proof.Tables[0].Others || len(s) != 1 || !strings.Contains(s[0].String(), fmt.Sprintf("row %d of things, from \"b\": n has", at)) {
			t.Errorf("%+v", proof)
		}
	})
}

// A row of a world that is changed, added or removed between the plan and its
// copying stops the merge before the table is complete, with a clear error. What
// was copied can be dropped.
func TestLateWrite(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []world.Database{manyRows(t, e, "a", 1, 10), manyRows(t, e, "b", 100_000, 5000)}
		p, _ := planOf(t, e, all, manyOptions)
		worlds := clones(t, e, all)
		for _, c := range []struct {
			name      string
			world     int
			do        string
			meanwhile bool
		}{
			{"changed before", 1, "UPDATE things SET note = 'changed' WHERE id = 102000", false},
			{"changed before in the first world", 0, "UPDATE things SET note = 'changed' WHERE id = 7", false},
			{"changed while it runs", 1, "UPDATE things SET note = 'changed' WHERE id = 104999", true},
			{"added while it runs", 1, "INSERT INTO things SELECT id + 1, owner, note, n FROM things WHERE id = 104999", true},
			{"removed while it runs", 1, "DELETE FROM things WHERE id = 104998", true},
		} {
			t.Run(c.name, func(t *testing.T) {
				refillAll(t, all, worlds)
				into := e.fresh(t, "new")
				written := false
				options := job.Options{}
				if !c.meanwhile {
					exec(t, worlds[c.world], c.do)
				} else {
					options.Pause = func(ctx context.Context) error {
						if !written && number(t, into, "SELECT COUNT(*) FROM things") > 1000 {
							written = true
							exec(t, worlds[c.world], c.do)
						}
						return nil
					}
				}
				_, err := build.ApplyWith(t.Context(), p, into, worlds, options, job.Hooks{Batch: time.Microsecond})
				changed := new(record.ChangedError)
				if e.name == "sqlite" && c.meanwhile {
					// The file itself is seen to be written to.
					if err == nil {
						t.Fatal("it was not noticed")
					}
				} else if !errors.As(err, &changed) || changed.Database != all[c.world].Name || changed.Table != "things" {
					t.Fatalf("got %v, want a ChangedError", err)
				}
				// Again: the same answer, and no further.
				if _, err = build.Apply(t.Context(), p, into, worlds, job.Options{}); err == nil {
					t.Fatal("it went through at the second attempt")
				}
				if n := number(t, into, "SELECT COUNT(*) FROM things"); n >= 5010 {
					t.Errorf("%d rows", n)
				}
				mustDrop(t, p, into, worlds)
			})
		}
	})
}

// In a world without a registry nothing changes, not a byte.
func TestSourcesUntouched(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []world.Database{manyRows(t, e, "s1", 1, 10), manyRows(t, e, "s2", 100_000, 30)}
		before := untouched(t, all[0]) + untouched(t, all[1])
		p, into := mergeOf(t, e, all, manyOptions)
		verified(t, p, into, all)
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if before != untouched(t, all[0])+untouched(t, all[1]) {
			t.Error("a world was changed")
		}
	})
}

// untouched is all that a world is: the bytes of a file and what lies beside
// it, or a dump.
func untouched(t *testing.T, d world.Database) string {
	path, ok := strings.CutPrefix(d.DSN, "sqlite:")
	if !ok {
		return dump(t, d)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	return fmt.Sprintln(files, err, string(b))
}
