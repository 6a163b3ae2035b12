package build_test

import (
	"errors"
	"strings"
	"testing"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A command that ends with an error tells whether it wrote something: exactly if the merge is in another state since.
func TestBegan(t *testing.T) {
	e := worldtest.OnSQLite(t)
	for _, c := range []struct {
		name string
		made bool
		run  func(p *plan.Plan, into world.Database, all []world.Database, h job.Hooks) (began bool, err error)
	}{
		{"apply", false, func(p *plan.Plan, into world.Database, all []world.Database, h job.Hooks) (bool, error) {
			done, err := build.ApplyWith(t.Context(), p, into, all, job.Options{Parallel: 1}, h)
			return done != nil && done.Began, err
		}},
		{"open", true, func(p *plan.Plan, into world.Database, all []world.Database, h job.Hooks) (bool, error) {
			done, err := build.With(t.Context(), p, into, all, build.Options{Options: job.Options{Parallel: 1}}, h)
			return done != nil && done.Began, err
		}},
		{"undo", true, func(p *plan.Plan, into world.Database, all []world.Database, h job.Hooks) (bool, error) {
			done, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: job.Options{Parallel: 1}}, h)
			return done != nil && done.Began, err
		}},
	} {
		seen := make(map[bool]bool)
		for fails := 1; fails <= 60; fails++ { // apply has many more, all after it began
			all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 2, "anna"), worldtest.GameWorld(t, e, "s2", 2, 2, "bert")}
			p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
			if c.made {
				worldtest.MustApply(t, p, into, all)
			}
			state := func() record.State {
				at, err := build.LookUp(t.Context(), p, into, all)
				if err != nil {
					t.Fatal(err)
				}
				return at.State
			}
			before, n := state(), 0
			began, err := c.run(p, into, all, job.Hooks{Fail: func(point string) error {
				if !strings.HasPrefix(point, "before ") { // after it, what was written may be there without an answer
					return nil
				}
				if n++; n == fails {
					return errors.New("a power cut")
				}
				return nil
			}})
			if err == nil {
				break
			}
			if now := state(); began != (now != before) {
				t.Errorf("%s, at point %d: began is %v, from %s to %s: %v", c.name, fails, began, before, now, err)
			}
			seen[began] = true
		}
		if !seen[true] || c.made && !seen[false] {
			t.Errorf("%s: seen %v", c.name, seen)
		}
	}
}
