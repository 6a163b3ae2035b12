package check_test

import (
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// singles are the codes of the rules that judge one database by itself.
func singles() (codes []string) {
	for _, r := range check.Rules() {
		if r.Single {
			codes = append(codes, r.Codes...)
		}
	}
	return codes
}

// A merged database is judged by the rules of one database, and they find there what they find
// beside a world without rows.
func TestMerged(t *testing.T) {
	type found struct {
		Code, Table, Subject string
		Verdict              verdict.Verdict
		Count, Rows          int64
	}
	findings := func(r *verdict.Report) (all []found) {
		for _, result := range r.Results {
			if result.Verdict != verdict.Pass && slices.Contains(singles(), result.Code) {
				all = append(all, found{result.Code, result.Table, result.Subject, result.Verdict, result.Count, result.Rows})
			}
		}
		return all
	}
	opts := rules.Options{Uniques: []rules.DeclaredUnique{{Table: "players", Columns: []string{"gold"}}}}
	for name, plant := range map[string]func(db *mergetest.Database){
		"nothing":       func(db *mergetest.Database) {},
		"a stray row":   func(db *mergetest.Database) { db.Rows["items"][0]["owner"] = id(1, 999) },
		"a value twice": func(db *mergetest.Database) { db.Rows["players"][1]["gold"] = int64(0) },
		"an ID of a stranger": func(db *mergetest.Database) {
			db.Rows["players"] = append(db.Rows["players"], mergetest.Row{"id": id(7, 3), "name": "Stranger"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := settled(1)
			plant(db)
			r, err := check.Merged(t.Context(), db, opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, result := range r.Results {
				if !slices.Contains(singles(), result.Code) {
					t.Errorf("a rule of several databases was carried out: %s", result.Code)
				}
			}
			if len(r.Worlds) != 1 || r.Worlds[0].Name != "s1" || r.Verdict == "" {
				t.Errorf("worlds %+v, verdict %q", r.Worlds, r.Verdict)
			}
			if diff := cmp.Diff(findings(mustCheck(t, opts, db, madeWorld(2))), findings(r)); diff != "" {
				t.Errorf("beside a world without rows (-), by itself (+):\n%s", diff)
			}
			if passed := r.Verdict == verdict.Pass; passed != (name == "nothing") {
				t.Errorf("%s: %+v", r.Verdict, findings(r))
			}
		})
	}
}

// What only a comparison of databases needs is not read.
func TestMergedReadsLess(t *testing.T) {
	opts := oldWords()
	opts.Rules[0].Plain = nil // so that columns are open
	columns := func(check func(db *mergetest.Database)) (n int) {
		db := oldWorld("a", 30)
		db.Intercept = func(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
			n += len(scan.Order) + len(scan.Carry)
			return seq
		}
		check(db)
		return n
	}
	beside := columns(func(db *mergetest.Database) { mustCheck(t, opts, db, oldWorld("b", 0)) })
	alone := columns(func(db *mergetest.Database) {
		if _, err := check.Merged(t.Context(), db, opts); err != nil {
			t.Fatal(err)
		}
	})
	if alone >= beside {
		t.Errorf("%d columns read alone, and %d beside a world without rows", alone, beside)
	}
}
