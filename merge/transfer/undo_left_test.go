package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
)

// leftWorlds are worlds with a table for each way in which a merge changes a target: rows come, own
// rows are renamed, combined and taken out, and rows come to a table without a key.
func leftWorlds(t *testing.T, e engine) []rowio.Database {
	all := []rowio.Database{e.fresh(t, "s1"), e.fresh(t, "s2"), e.fresh(t, "s3")}
	for i, d := range all {
		exec(t, d, "CREATE TABLE items (id INTEGER NOT NULL PRIMARY KEY, n INTEGER)",
			"CREATE TABLE chars (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20), used INTEGER)",
			"CREATE TABLE wallets (account INTEGER NOT NULL PRIMARY KEY, gold INTEGER)",
			"CREATE TABLE online (name VARCHAR(20) NOT NULL PRIMARY KEY, n INTEGER)",
			"CREATE TABLE kills (who VARCHAR(20), n INTEGER)")
		for k := range 6 {
			id := 100*(i+1) + k
			exec(t, d, fmt.Sprintf("INSERT INTO items VALUES (%d, %d)", id, k),
				fmt.Sprintf("INSERT INTO chars VALUES (%d, 'name%d', %d)", id, k, i),
				fmt.Sprintf("INSERT INTO wallets VALUES (%d, %d)", 10*i+k*5, id),
				fmt.Sprintf("INSERT INTO online VALUES ('of %d', %d)", id, k),
				fmt.Sprintf("INSERT INTO kills VALUES ('who', 1), ('of %d', %d)", id, k))
		}
	}
	return all
}

var leftOptions = planner.PlanOptions{
	Names: []plan.NamePolicy{{Table: "chars", Column: "name", MaxLength: 20, Keep: plan.KeepActive, By: "used"}},
	Check: declare.Options{Rules: namesNothing, Tables: []declare.TablePolicy{
		{Tables: []string{"wallets"}, Policy: declare.PolicyCombine, Columns: map[string]string{"gold": "sum"}},
		{Tables: []string{"online"}, Policy: declare.PolicyReset},
	}},
}

// An undo is done only if nothing of the merge is left: as long as a row that came is there, or an own
// row that the merge changed is not as it was, it is not, whoever wrote that row, and it stays
// undone half. What is left of own rows alone is told, and does not keep the undo from its end.
func TestUndoLeaves(t *testing.T) {
	servertest.NotShort(t)
	const done = "the undo is done"
	tests := []struct {
		name   string
		before string   // is done before the undo
		when   string   // the query that counts 0 when the rows are removed and restored
		then   string   // is done then
		want   string   // of the error, or done
		table  string   // that is told of
		rows   [2]int64 // of it: now, and before the merge
		repair string   // is done before the undo runs again, which by itself is not enough; "" if it is
	}{
		{
			name:  "a row that came",
			when:  "SELECT COUNT(*) FROM items WHERE id >= 200",
			then:  "INSERT INTO items VALUES (203, 3)",
			want:  `table "items": 1 row that came with the merge is still there: row 203 of items, from "s2": is still there`,
			table: "items",
			rows:  [2]int64{7, 6},
		}, {
			name:   "a row with the key of one that came",
			when:   "SELECT COUNT(*) FROM items WHERE id >= 200",
			then:   "INSERT INTO items VALUES (305, 99), (999, 1)",
			want:   `table "items": 1 row that came with the merge is still there: row 305 of items, from "s3"`,
			table:  "items",
			rows:   [2]int64{8, 6},
			repair: "DELETE FROM items WHERE id = 305",
		}, {
			name:  "a row that came in the place of an own one",
			when:  "SELECT COUNT(*) FROM items WHERE id >= 200",
			then:  "UPDATE items SET id = 200, n = 0 WHERE id = 100",
			want:  `1 row that came with the merge is still there`,
			table: "items",
			rows:  [2]int64{6, 6},
		}, {
			name:   "a row that came to a combined table",
			when:   "SELECT COUNT(*) FROM wallets WHERE account = 35",
			then:   "INSERT INTO wallets VALUES (35, 205)",
			want:   `table "wallets": 1 row that came with the merge is still there: row 35 of wallets`,
			table:  "wallets",
			rows:   [2]int64{7, 6},
			repair: "DELETE FROM wallets WHERE account = 35",
		}, {
			name:   "a combined row",
			when:   "SELECT COUNT(*) FROM wallets WHERE account = 10 AND gold > 102",
			then:   "UPDATE wallets SET gold = 7 WHERE account = 10",
			want:   `table "wallets": 1 own row that the merge changed is not restored: row 10 of wallets, from "s1": gold has another`,
			table:  "wallets",
			rows:   [2]int64{6, 6},
			repair: "UPDATE wallets SET gold = 102 WHERE account = 10",
		}, {
			name:  "a renamed row",
			when:  "SELECT 6 - COUNT(*) FROM chars WHERE id < 200 AND name LIKE 'name_'",
			then:  "UPDATE chars SET name = '{renamed}' WHERE id = 100",
			want:  `table "chars": 1 own row that the merge changed is not restored: row 100 of chars, from "s1": name has another`,
			table: "chars",
			rows:  [2]int64{6, 6},
		}, {
			name:   "a row that a player gave a third name",
			before: "UPDATE chars SET name = 'third' WHERE id = 100",
			want:   done,
			table:  "chars",
			rows:   [2]int64{6, 6},
		}, {
			name:   "a row that was taken out",
			before: "DELETE FROM {kept} WHERE n = 3",
			want:   `table "online": the rows that were put back are not those that were taken out`,
			table:  "online",
			rows:   [2]int64{5, 6},
			repair: "INSERT INTO online VALUES ('of 103', 3)",
		}, {
			name:   "a row that was taken out, beside one made since",
			before: "UPDATE {kept} SET n = 77 WHERE n = 3; INSERT INTO online VALUES ('new', 1)",
			want:   "are not those that were taken out: restore them there",
			table:  "online",
			rows:   [2]int64{1, 6},
			repair: "UPDATE {kept} SET n = 3 WHERE n = 77",
		}, {
			name:   "a row made in a table that was emptied",
			before: "INSERT INTO online VALUES ('new', 1)",
			want:   done,
			table:  "online",
			rows:   [2]int64{7, 6},
		}, {
			name:   "a row that came without a key",
			when:   "SELECT COUNT(*) - 12 FROM kills",
			then:   "INSERT INTO kills VALUES ('of 203', 3), ('who', 1)",
			want:   `table "kills": 2 rows that came with the merge are still there`,
			table:  "kills",
			rows:   [2]int64{14, 12},
			repair: "DELETE FROM kills WHERE who = 'of 203'; DELETE FROM kills WHERE who = 'who'; INSERT INTO kills VALUES ('who', 1), ('who', 1), ('who', 1), ('who', 1), ('who', 1), ('who', 1)",
		}, {
			name:  "own rows",
			when:  "SELECT COUNT(*) FROM items WHERE id >= 200",
			then:  "INSERT INTO items VALUES (7, 7)",
			want:  done,
			table: "items",
			rows:  [2]int64{7, 6},
		}, {
			name:   "an own row with another value",
			before: "UPDATE items SET n = 50 WHERE id = 100",
			want:   done,
			table:  "items",
			rows:   [2]int64{6, 6},
		}, {
			name:   "own rows without a key",
			before: "INSERT INTO kills VALUES ('who', 1), ('new', 1)",
			want:   done,
			table:  "kills",
			rows:   [2]int64{14, 12},
		},
	}
	onEach(t, func(t *testing.T, e engine) {
		all := leftWorlds(t, e)
		p := mustPlan(t, all[0], all[1:], leftOptions)
		plain := dump(t, all[0])
		own := slices.IndexFunc(p.Renames, func(r plan.Rename) bool { return r.Source == "s1" && rowio.KeyText(r.Key) == "100" })
		names := strings.NewReplacer("{kept}", p.Resets[0].Kept, "{renamed}", p.Renames[own].New)
		worlds, fresh := clones(t, e, all), clones(t, e, all)
		if _, err := apply.Apply(t.Context(), p, fresh[0], fresh[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				run := func(statements string) {
					for s := range strings.SplitSeq(statements, "; ") {
						if s != "" {
							exec(t, worlds[0], names.Replace(s))
						}
					}
				}
				refillAll(t, fresh, worlds)
				run(tt.before)
				var mu sync.Mutex
				written := tt.when == ""
				h := job.Hooks{Fail: func(point string) error {
					mu.Lock()
					defer mu.Unlock()
					if point == "after commit" && !written && number(t, worlds[0], tt.when) == 0 {
						written = true
						run(tt.then)
					}
					return nil
				}}
				o := undo.UndoOptions{Options: job.Options{Parallel: 1}}
				result, err := undo.UndoWith(t.Context(), p, worlds[0], worlds[1:], o, h)
				if !written {
					t.Fatalf("nothing was written: %v", err)
				}
				if tt.want == done {
					if err != nil || result.SameAsBefore {
						t.Errorf("%+v, %v", result, err)
					}
				} else {
					left := new(evidence.NotUndoneError)
					if !errors.As(err, &left) || !strings.Contains(err.Error(), tt.want) {
						t.Fatalf("%v, want %q", err, tt.want)
					}
				}
				tables := result.Tables
				at := slices.IndexFunc(tables, func(u evidence.UndoneTable) bool { return u.Table == tt.table })
				if at < 0 || tables[at].Left() == (tt.want == done) || [2]int64{tables[at].Rows, tables[at].Before} != tt.rows {
					t.Errorf("%+v", tables)
				}
				if tt.want == done {
					return
				}
				// The record stays, and so do the old rows that are not put back.
				if s, err := apply.LookUp(t.Context(), p, worlds[0], worlds[1:]); err != nil || s.State != ledger.StateUndoing {
					t.Errorf("%+v, %v", s, err)
				}
				if kept := keptTables(t, worlds[0]); !slices.Contains(kept, p.Table("wallets").Combine.Kept) {
					t.Errorf("of the old rows %v are left", kept)
				}
				// The same call does what it can; the rest is for a person. Then it comes to its end.
				if tt.repair != "" {
					if _, err := undo.Undo(t.Context(), p, worlds[0], worlds[1:], undo.UndoOptions{}); err == nil {
						t.Error("the same call was enough")
					}
					run(tt.repair)
				}
				result, err = undo.Undo(t.Context(), p, worlds[0], worlds[1:], undo.UndoOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if len(result.Tables) == 0 {
					if diff := cmp.Diff(plain, dump(t, worlds[0])); diff != "" {
						t.Error(diff)
					}
				}
			})
		}
	})
}

// The end of an undo cannot be known to the process that was killed there. The same call says that
// nothing of the merge is in the target, if that holds what it held before.
func TestUndoAgain(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := leftWorlds(t, e)
		p := mustPlan(t, all[0], all[1:], leftOptions)
		undone := func(fail rowio.Failpoint) (*undo.Undone, error) {
			return undo.UndoWith(t.Context(), p, all[0], all[1:], undo.UndoOptions{}, job.Hooks{Fail: fail})
		}
		if done, err := undone(nil); err != nil || !done.NoRecord || !done.SameAsBefore {
			t.Errorf("before the merge: %+v, %v", done, err)
		}
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		_, err := undone(func(point string) error {
			if point != "after commit" {
				return nil
			}
			if s, err := apply.LookUp(t.Context(), p, all[0], all[1:]); err != nil || s.State != ledger.StateNone {
				return err
			}
			return context.Canceled // the record is gone
		})
		if err == nil {
			t.Fatal("not interrupted")
		}
		for range 2 {
			done, err := undone(nil)
			if diff := cmp.Diff(&undo.Undone{ID: p.ID, NoRecord: true, SameAsBefore: true}, done); err != nil || diff != "" {
				t.Errorf("%v, %s", err, diff)
			}
		}
		exec(t, all[0], "UPDATE items SET n = 50 WHERE id = 100")
		const want = `table "items": 6 own rows as when the merge was planned, but with other values`
		if _, err := undone(nil); !errors.Is(err, ledger.ErrNoMerge) || !strings.Contains(err.Error(), want) {
			t.Errorf("of a target that is not as it was: %v", err)
		}
	})
}
