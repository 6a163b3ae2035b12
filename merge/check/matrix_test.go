package check_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mergesafe/gameid"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/declare"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/verdict"
)

// pairwise is what Check says of every pair.
func pairwise(t interface{ Fatal(...any) }, opts declare.Options, dbs []*mergetest.Database) (pairs []check.Pair) {
	for i := range dbs {
		for j := i + 1; j < len(dbs); j++ {
			r, err := merge.Check(context.Background(), sources(dbs[i], dbs[j]), opts)
			if err != nil {
				t.Fatal(err)
			}
			p := check.Pair{Worlds: [2]string{dbs[i].Label, dbs[j].Label}, Verdict: r.Verdict, Checks: len(r.Results), Renames: r.Renames}
			for _, result := range r.Results {
				if result.Verdict != verdict.Pass {
					p.Results = append(p.Results, result)
				}
			}
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// What a matrix says of two worlds is what a check of these two says.
func TestMatrixIsPairwise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dbs := drawTrouble(t)
		opts := declare.Options{Samples: -1, Clock: func() time.Time { return now }}
		if rapid.Bool().Draw(t, "accounts") {
			opts.Accounts = []declare.AccountColumn{{Table: "players", Column: "mail", Max: rapid.IntRange(0, 2).Draw(t, "max")}}
		}
		if rapid.Bool().Draw(t, "renames") {
			opts.Renames = []declare.RenamedColumn{{Table: "players", Column: "name", First: rapid.Bool().Draw(t, "first")}}
		}
		if rapid.IntRange(0, 3).Draw(t, "no key") == 0 {
			for _, db := range dbs {
				db.Schema.Tables[0].Primary = nil
			}
		}
		want := pairwise(t, opts, dbs)
		m, err := check.Matrix(context.Background(), sources(dbs...), opts)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, m.Pairs); diff != "" {
			t.Fatalf("(-Check +Matrix):\n%s", diff)
		}
	})
}

// Every table of every source is read once for each key, however many pairs
// there are.
func TestMatrixReadsOnce(t *testing.T) {
	var dbs []*mergetest.Database
	scans := make(map[string]int)
	for n := range 6 {
		db := settled(gameid.ServerID(n + 1))
		db.Label = string(rune('a' + n))
		db.Intercept = func(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
			what := fmt.Sprint(db.Label, " ", scan.Table, " ", scan.Order)
			if scan.Dangling != nil {
				what += " dangling"
			}
			scans[what]++
			return seq
		}
		dbs = append(dbs, db)
	}
	var last declare.Progress
	opts := declare.Options{Progress: func(p declare.Progress) {
		if p.World == "f" {
			last = p
		}
	}}
	m, err := check.Matrix(context.Background(), sources(dbs...), opts)
	if err != nil {
		t.Fatal(err)
	}
	for what, n := range scans {
		if n != 1 {
			t.Errorf("%s: %d scans", what, n)
		}
	}
	if len(m.Pairs) != 15 || m.Pair("f", "b") != m.Pair("b", "f") || m.Pair("b", "f") == nil || m.Pair("b", "x") != nil {
		t.Errorf("%d pairs", len(m.Pairs))
	}
	for _, p := range m.Pairs {
		if p.Verdict != verdict.Pass || len(p.Results) > 0 {
			t.Errorf("%s and %s: %s %v", p.Worlds[0], p.Worlds[1], p.Verdict, p.Results)
		}
	}
	if last.WorldTotal != 80 || last.WorldRows > last.WorldTotal {
		t.Errorf("%d of %d rows of f", last.WorldRows, last.WorldTotal)
	}
	if len(m.Worlds) != 6 || m.Worlds[5].Servers[0].IDs != 20 {
		t.Errorf("worlds %+v", m.Worlds[5])
	}
}

// A source that cannot be opened, or read to the end, takes only its own pairs with it.
func TestMatrixUnreachable(t *testing.T) {
	a, b, c := settled(1), settled(2), settled(3)
	b.Intercept = func(_ catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
		return failAfter(seq, 0, errors.New("connection lost"))
	}
	all := append([]catalog.Source{check.Unreachable("gone", errors.New("connection refused"))}, sources(a, b, c)...)
	m, err := check.Matrix(context.Background(), all, declare.Options{})
	if err != nil || m.Incomplete != "" || len(m.Pairs) != 6 || len(m.Worlds) != 4 || m.ExitCode() != verdict.ExitIncomplete {
		t.Fatalf("%v: %+v", err, m)
	}
	for _, p := range m.Pairs {
		want := ""
		switch {
		case p.Worlds[0] == "gone":
			want = "connection refused"
		case slices.Contains(p.Worlds[:], b.Label):
			want = "connection lost"
		}
		if (p.Verdict == verdict.Pass) != (want == "") || !strings.Contains(p.Incomplete, want) || want == "" && p.Incomplete != "" {
			t.Errorf("%s and %s: %q %q, want %q", p.Worlds[0], p.Worlds[1], p.Verdict, p.Incomplete, want)
		}
	}

	m, err = check.Matrix(context.Background(), []catalog.Source{all[0], a}, declare.Options{})
	if err != nil || len(m.Pairs) != 1 || m.Pairs[0].Incomplete == "" || m.ExitCode() != verdict.ExitIncomplete {
		t.Errorf("%v: %+v", err, m)
	}
}

// A matrix that is interrupted says so, and gives no verdict.
func TestMatrixIncomplete(t *testing.T) {
	a, b, c := settled(1), settled(2), settled(3)
	ctx, cancel := context.WithCancel(context.Background())
	c.Intercept = func(_ catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
		cancel()
		return failAfter(seq, 0, context.Canceled)
	}
	m, err := check.Matrix(ctx, sources(a, b, c), declare.Options{})
	if !errors.Is(err, context.Canceled) || m == nil || m.Incomplete == "" || len(m.Pairs) != 3 {
		t.Fatalf("%v: %+v", err, m)
	}
	for _, p := range m.Pairs {
		if p.Verdict != "" {
			t.Errorf("%s and %s: %s", p.Worlds[0], p.Worlds[1], p.Verdict)
		}
	}
	if m, err := check.Matrix(context.Background(), sources(a), declare.Options{}); m != nil || !errors.Is(err, catalog.ErrWorlds) {
		t.Errorf("one source: %v", err)
	}
}
