//go:build !race

package campaign

import (
	"context"
	"flag"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"

	"mergesafe/store/storetest/faulty"
)

var long = flag.Bool("torture.long", servertest.Scale(0, 1) == 1, "let every request to a database fail once")

// A request to a database that fails is no finding: no merge that is completed is taken back for
// it, nothing that was verified is said to differ, and the same command again comes to the end that
// it has if no request fails.
func TestEveryReadFailsOnce(t *testing.T) {
	servertest.NotShort(t)
	t.Parallel()
	failing := func(t *testing.T, p *place) {
		b := p.book("undo = true\nretries = 0", "w1 w2")
		t.Run("plan", func(t *testing.T) { p.failEach(t, b, "w1 planned", Plan, Undo) })
		planned(t, b, p.options())
		t.Run("apply", func(t *testing.T) { p.failEach(t, b, "w1 verified", Apply, Undo, Plan) })
		must(t, second(Apply(t.Context(), b, p.options())))
		t.Run("verify", func(t *testing.T) { p.failEach(t, b, "w1 verified", Verify) })
		must(t, second(Undo(t.Context(), b, p.options())))
		before := []string{p.content("w1"), p.content("w2")}
		must(t, second(Plan(t.Context(), b, p.named())))
		must(t, second(Apply(t.Context(), b, p.named())))
		t.Run("undo", func(t *testing.T) { p.failEach(t, b, "w1 undone", Undo, Plan, Apply) })
		must(t, second(Undo(t.Context(), b, p.named())))
		if after := []string{p.content("w1"), p.content("w2")}; strings.Join(after, "") != strings.Join(before, "") {
			t.Errorf("undone: %s, want %s", after, before)
		}
	}
	t.Run("sqlite", func(t *testing.T) { failing(t, newPlace(t, 3, 3)) })
	t.Run("server", func(t *testing.T) {
		servertest.Long(t) // package prove lets requests to a server fail
		failing(t, newServerPlace(t, 3, 3))
	})
}

type command func(context.Context, *Book, Options) (*Status, error)

// named are options that name the merge, so that it is planned and carried out although it was undone.
func (p *place) named() Options {
	o := p.options()
	o.Merges = []string{"w1"}
	return o
}

// failEach makes each request of a command to the worlds fail once. Then the command comes to its
// end, and the others take it back.
func (p *place) failEach(t *testing.T, b *Book, end string, command command, back ...command) {
	run := func(n *faulty.Nth) {
		t.Helper()
		n.Only = func(dsn string) bool {
			return strings.HasSuffix(dsn, ".db") || strings.HasPrefix(dsn, string(sqldb.MySQL))
		}
		last := statusOf(t, b).LastEvent
		if _, err := command(n.In(t.Context()), b, p.named()); err != nil {
			if not, notReady := err.(*NotReadyError); !notReady || !not.Incomplete() {
				t.Errorf("%s: %v", n, err)
			}
		}
		merged := false
		events, err := b.Events(t.Context(), last, 1000)
		must(t, err)
		for _, e := range events {
			merged = merged || e.Kind == KindMerged
			if merged && e.Kind == KindUndoing {
				t.Errorf("%s: a merge was taken back: %+v", n, events)
			}
		}
		if m := statusOf(t, b).Merges[0]; (m.Phase == Failed || m.Phase == Refused) && !m.Incomplete {
			t.Errorf("%s: %+v", n, m)
		}
		again := phases(t, b) != end
		if again && statusOf(t, b).Merges[0].Phase == Undone {
			for _, e := range events {
				if e.Kind == KindFailed && strings.Contains(e.Text, sqldb.ErrUnavailable.Error()) {
					t.Errorf("%s: what can be resumed was taken back: %+v", n, events)
				}
			}
			must(t, second(Plan(t.Context(), b, p.named())))
		}
		if again {
			if _, err := command(t.Context(), b, p.named()); err != nil {
				t.Errorf("%s: again: %v", n, err)
			}
		}
		if got := phases(t, b); got != end {
			t.Fatalf("%s: %s, want %s: %+v", n, got, end, statusOf(t, b).Merges)
		}
		for _, do := range back {
			if _, err := do(t.Context(), b, p.named()); err != nil {
				t.Fatalf("%s: %v", n, err)
			}
		}
	}
	smooth := &faulty.Nth{N: -1}
	run(smooth)
	most, cases := 1, 0
	switch writes := len(back) > 1; {
	case *long && writes:
		most = 250
	case *long:
		most = 0
	}
	for n := range faulty.Faults(smooth.Count(), most) {
		run(n)
		cases++
	}
	t.Logf("%d requests, %d cases", smooth.Count(), cases)
}
