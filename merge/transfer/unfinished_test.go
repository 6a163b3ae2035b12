package transfer

import (
	"context"
	"errors"
	"slices"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/sqlsource"
)

// A check of a database in which a merge is half done does not pass, and a plan says so once.
func TestCheckOfUnfinished(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []Database{manyRows(t, e, "a", 1, 10), manyRows(t, e, "b", 100_000, 5000), manyRows(t, e, "c", 900_000, 10)}
		p := mustPlan(t, all[0], all[1:2], manyOptions)
		verdict := func() merge.Verdict {
			var sources []merge.Source
			for _, d := range []Database{all[0], all[2]} {
				s, err := sqlsource.Open(t.Context(), d.Name, d.DSN)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				sources = append(sources, s)
			}
			r, err := merge.Check(t.Context(), sources, manyOptions.Check)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(r.Results, func(r merge.Result) bool { return r.Code == merge.CodeMergeUnfinished })
			if i >= 0 && r.Results[i].Count == 1 && r.Results[i].Samples[0].Key == "merge "+p.ID {
				return r.Results[i].Verdict
			}
			return r.Verdict
		}
		batches := 0
		_, err := applyWith(t.Context(), p, all[0], all[1:2], Options{Parallel: 1, Pause: func(context.Context) error {
			if batches++; batches == 3 {
				return errors.New("a power cut")
			}
			return nil
		}}, hooks{batch: 1})
		if err == nil {
			t.Fatal("nothing went wrong")
		}
		if got := verdict(); got != merge.Fail {
			t.Errorf("half done: %s", got)
		}
		other, err := NewPlan(t.Context(), all[0], all[2:], manyOptions)
		if err != nil {
			t.Fatal(err)
		}
		if len(other.Refusals) != 1 {
			t.Errorf("the plan of another merge: %v", other.Refusals)
		}
		if _, err := Apply(t.Context(), p, all[0], all[1:2], Options{}); err != nil {
			t.Fatal(err)
		}
		if got := verdict(); got != merge.Pass {
			t.Errorf("completed: %s", got)
		}
	})
}
