package build_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/build"
	"mergesafe/merge/catalog"
	"mergesafe/merge/job"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A check of a database in which a merge is half done does not pass, and a plan says so once.
func TestCheckOfUnfinished(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.ManyRows(t, e, "a", 1, 10), worldtest.ManyRows(t, e, "b", 100_000, 5000), worldtest.ManyRows(t, e, "c", 900_000, 10)}
	p, into := worldtest.PlanOf(t, e, all[:2], worldtest.ManyOptions)
	judged := func() verdict.Verdict {
		var sources []catalog.Source
		for _, d := range []world.Database{into, all[2]} {
			s, err := world.Open(t.Context(), d.Name, d.DSN)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			sources = append(sources, s)
		}
		r, err := merge.Check(t.Context(), sources, worldtest.ManyOptions.Check)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(r.Results, func(r verdict.Result) bool { return r.Code == verdict.CodeMergeUnfinished })
		if i >= 0 && r.Results[i].Count == 1 && r.Results[i].Samples[0].Key == "merge "+p.ID {
			return r.Results[i].Verdict
		}
		return r.Verdict
	}
	batches := 0
	_, err := build.ApplyWith(t.Context(), p, into, all[:2], job.Options{Parallel: 1, Pause: func(context.Context) error {
		if batches++; batches == 3 {
			return errors.New("a power cut")
		}
		return nil
	}}, job.Hooks{Batch: 1})
	if err == nil {
		t.Fatal("nothing went wrong")
	}
	if got := judged(); got != verdict.Fail {
		t.Errorf("half done: %s", got)
	}
	other := worldtest.Planned(t, e.Fresh(t, "next"), []world.Database{into, all[2]}, worldtest.ManyOptions)
	if len(other.Refusals) != 1 {
		t.Errorf("the plan of another merge: %v", other.Refusals)
	}
	if _, err := build.Apply(t.Context(), p, into, all[:2], job.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := judged(); got != verdict.Fail {
		t.Errorf("not opened: %s", got)
	}
	worldtest.Opened(t, p, into, all[:2])
	if got := judged(); got != verdict.Pass {
		t.Errorf("opened: %s", got)
	}
}
