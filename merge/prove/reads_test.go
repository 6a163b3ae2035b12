package prove_test

import (
	gocmp "cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
	"mergesafe/store/storetest/faulty"
)

// command is one of which each request to a database fails once.
type command struct {
	name string
	run  func(ctx context.Context) (result any, err error)

	// before, if not nil, puts the databases into the state from which the command begins, and again
	// is what it comes to after it ended with an error.
	before func()
	again  func() any

	most, long int // cases in the default suite, and in the long one; 0: 12, and each request once
}

// A request to a database that fails is no finding: the command comes to the result that it has if none fails, or
// it ends with an error that says so.
func TestEveryReadFailsOnce(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		all := allWorlds(t, e)
		p, into := worldtest.PlanOf(t, e, all, allOptions())
		p.Made = worldtest.FixedClock()
		apart, next := worldtest.Clones(t, e, all), e.Fresh(t, "new") // before the merge
		others, changed := worldtest.Clones(t, e, all), e.Fresh(t, "new")
		worldtest.MakeAll(t, p, into, all)
		worldtest.MakeAll(t, p, changed, others)
		worldtest.Opened(t, p, changed, others)
		worldtest.Exec(t, changed, "UPDATE players SET gold = gold + 1", "DELETE FROM log WHERE tag = 'w1'", "UPDATE chars SET place = 9 WHERE guid > 1000", "UPDATE bank SET gold = gold + 1",
			"UPDATE kinds SET tag = 'club'", "DELETE FROM mergesafe_renames WHERE n = 0", "UPDATE loot SET tag = 'w9' WHERE id = 1", "INSERT INTO online VALUES (1, 1)", "UPDATE seq SET next = 4")
		options := job.Options{Parallel: 1}
		for _, r := range []command{
			{name: "plan", run: func(ctx context.Context) (any, error) {
				p, err := planner.NewPlan(ctx, next, apart, allOptions())
				if p != nil {
					p.Made = worldtest.FixedClock()
				}
				return p, err
			}},
			{name: "check", run: func(ctx context.Context) (any, error) { return worldtest.Checked(ctx, apart, allOptions().Check) }},
			{name: "ready", run: func(ctx context.Context) (any, error) { return build.Ready(ctx, p, next, apart, options) }},
			{name: "verify", most: 24, run: func(ctx context.Context) (any, error) { return prove.Verify(ctx, p, into, all, options) }},
			{name: "verify, changed", run: func(ctx context.Context) (any, error) { return prove.Verify(ctx, p, changed, others, options) }},
			{name: "undo, changed", run: func(ctx context.Context) (any, error) {
				done, err := build.UndoWith(ctx, p, changed, others, build.UndoOptions{Options: options}, job.Hooks{Clock: worldtest.FixedClock})
				if refused, is := errors.AsType[*record.RefusedError](err); is {
					return []any{done, refused.Refusals}, nil
				}
				return nil, err
			}},
			{name: "status", most: 48, run: func(ctx context.Context) (any, error) { return build.LookUp(ctx, p, into, all) }},
			{name: "last merge", run: func(ctx context.Context) (any, error) { return record.LastMerge(ctx, into) }},
			{name: "recorded plan", run: func(ctx context.Context) (any, error) { return record.RecordedPlan(ctx, into, p.ID) }},
			{name: "whois", run: func(ctx context.Context) (any, error) { return record.Whois(ctx, into, "accounts", firstAccount) }},
			{name: "whereis", run: func(ctx context.Context) (any, error) {
				return record.Whereis(ctx, into, "s3", "accounts", firstAccount)
			}},
			{name: "each key", run: func(ctx context.Context) (found any, err error) {
				var all2 []record.Origin
				err = record.EachKey(ctx, into, "s3", "accounts", func(o record.Origin) error { all2 = append(all2, o); return nil })
				return all2, err
			}},
			undoing(t, p, e.Fresh(t, "new"), worldtest.Clones(t, e, apart)),
		} {
			if !*worldtest.Long {
				r.most = int(e.Short(int64(gocmp.Or(r.most, 12))))
			}
			t.Run(r.name, func(t *testing.T) { r.failEach(t) })
		}
	})
}

// undoing is an undo, and what is there after it.
func undoing(t *testing.T, p *plan.Plan, into world.Database, worlds []world.Database) command {
	after := func() string {
		there, err := worldtest.ExistsNow(t.Context(), into)
		if err != nil {
			t.Fatal(err)
		}
		now := fmt.Sprintf("there: %t", there)
		for _, d := range worlds {
			now += "\n" + worldtest.Steady(t, d)
		}
		return now
	}
	undo := func(ctx context.Context) (any, error) {
		_, err := build.UndoWith(ctx, p, into, worlds, build.UndoOptions{Options: job.Options{Parallel: 1}}, job.Hooks{Clock: worldtest.FixedClock})
		if err != nil {
			return nil, err
		}
		return after(), nil
	}
	return command{name: "undo", most: 4, long: 400, run: undo,
		before: func() { worldtest.MakeAll(t, p, into, worlds) },
		again: func() any {
			if _, err := undo(t.Context()); err != nil && !errors.Is(err, record.ErrNoMerge) {
				t.Errorf("again: %v", err)
			}
			return after()
		}}
}

// settled is the result of a command as text, without what is another every time.
func settled(t *testing.T, result any) string {
	t.Helper()
	b, err := json.MarshalIndent(result, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		line = strings.TrimSpace(line)
		return strings.HasPrefix(line, `"started"`) || strings.HasPrefix(line, `"finished"`)
	}), "\n")
}

// failEach makes each request fail once, in each way.
func (r command) failEach(t *testing.T) {
	try := func(n *faulty.Nth) (result string, err error) {
		if r.before != nil {
			r.before()
		}
		found, err := r.run(n.In(t.Context()))
		if err == nil {
			result = settled(t, found)
		}
		return result, err
	}
	smooth := &faulty.Nth{N: -1}
	want, err := try(smooth)
	if err != nil {
		t.Fatal(err)
	}
	most := gocmp.Or(r.most, 12)
	if *worldtest.Long {
		most = r.long
	}
	cases, same, failed, wrong := 0, 0, 0, 0
	for n := range faulty.Faults(smooth.Count(), most) {
		if wrong == 10 {
			break
		}
		got, err := try(n)
		cases++
		switch {
		case err == nil && got == want:
			same++
			continue
		case err != nil:
			failed++
			_, refused := errors.AsType[*record.RefusedError](err)
			_, changed := errors.AsType[*record.ChangedError](err)
			if refused || changed || errors.Is(err, record.ErrNoMerge) {
				wrong++
				t.Errorf("%s: %v", n, err)
			}
			if r.again == nil {
				continue
			}
			got = settled(t, r.again())
		}
		if got != want {
			wrong++
			t.Errorf("%s (-want +got):\n%.3000s", n, cmp.Diff(want, got))
		}
	}
	t.Logf("%d requests, %d cases: %d the same result, %d an error, %d wrong", smooth.Count(), cases, same, failed, wrong)
}
