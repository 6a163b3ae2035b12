package fleet_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

func TestJoinFleet(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		ctx := t.Context()
		dsn := newDSN()
		db := withRegistry(t, dsn)
		refused(t, db, f, 7, fleet.ErrNotClaimed, "gameid servers claim -name s7 -server 7")
		if servers, err := storetest.World(db).Servers(ctx); err != nil || len(servers) != 0 {
			t.Errorf("a world that was refused left %v, %v", servers, err)
		}

		claimed(t, f, 7)
		var states []fleet.State
		options := byHand
		options.OnChange = func(s fleet.Status) { states = append(states, s.State) }
		m, err := f.Join(ctx, storetest.World(db), 7, worldOptions, options)
		must(t, err)
		first := mint(t, m)
		own, err := storetest.World(db).Servers(ctx)
		must(t, err)
		s, history := shown(t, f, 7)
		if s.State != fleet.Bound || s.World != own[0].World || s.Holder != own[0].Holder || !s.Leased || s.WorldEpoch != own[0].Epoch || s.Mark != own[0].Reserved {
			t.Errorf("bound as %+v, the world is %+v", s, own[0])
		}
		if left := s.LeaseUntil.Sub(s.Now); left > 3*byHand.Heartbeat || left < 3*byHand.Heartbeat-time.Minute || s.BoundAt.IsZero() || s.SeenAt.IsZero() {
			t.Errorf("bound as %+v", s)
		}
		if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok && s.Place != "sqlite:"+path || !strings.Contains(s.Place, store.Redact(dsn)[:10]) {
			t.Errorf("the place is %q", s.Place)
		}
		if len(history) != 2 || history[1].Action != "bind" || history[1].World != s.World || history[1].By != s.Holder.String() {
			t.Errorf("the history is %+v", history)
		}

		// On the same database the game's own registry refuses.
		_, err = f.Join(ctx, storetest.World(open(t, dsn)), 7, worldOptions, byHand)
		if held, ok := errors.AsType[*gameid.HeldError](err); !ok || held.Holder != s.Holder {
			t.Errorf("a second process: %v", err)
		}
		says(t, f.Retire(ctx, 7, note), fleet.ErrRunning, "cannot be retired while it runs", s.Place)
		says(t, f.Rebind(ctx, 7, strings.Repeat("0", 32), note), fleet.ErrRunning, "while it runs")

		if !m.Heartbeat(ctx) {
			t.Errorf("heartbeat: %v", m.Status().Err)
		}
		after, _ := shown(t, f, 7)
		if after.Epoch != s.Epoch+1 || after.Holder != s.Holder || after.SeenAt.Before(s.SeenAt) {
			t.Errorf("after a heartbeat %+v, was %+v", after, s)
		}
		must(t, m.Close())
		must(t, m.Close())
		after, history = shown(t, f, 7)
		if after.Leased || after.Holder != s.Holder || after.Mark < first.Millis() || after.Mark >= s.Mark || len(history) != 2 {
			t.Errorf("after the end %+v, was %+v", after, s)
		}
		if st := m.Status(); st.State != fleet.Left || st.Heartbeats != 2 || st.Failures != 0 || st.Last.IsZero() || st.OlderCopy {
			t.Errorf("%+v", st)
		}
		if !slices.Equal(states, []fleet.State{fleet.Joined, fleet.Left}) {
			t.Errorf("the states were %v", states)
		}

		// Another world does not get the server, and this one gets it again.
		other := withRegistry(t, newDSN())
		refused(t, other, f, 7, fleet.ErrOtherWorld, "belongs to another world", s.World, s.Place, "never been started")
		exec(t, other, "INSERT INTO gameid_servers (server_id, world, role, epoch, reserved_ms, lease_until_ms, created_ms, updated_ms) VALUES (7, 'abc', 'own', 1, 5, 0, 0, 0)")
		refused(t, other, f, 7, fleet.ErrOtherWorld, "whose identity is abc", "rebind")
		again := join(t, db, f, 7)
		if next := mint(t, again); next.Compare(first) <= 0 {
			t.Errorf("%s after %s", next, first)
		}
		must(t, again.Close())

		must(t, f.Retire(ctx, 7, note))
		refused(t, db, f, 7, fleet.ErrRetired, "is retired", s.Place)
	})
}

// A live copy of a world is refused, with both places named.
func TestLiveCopy(t *testing.T) {
	t.Parallel()
	onOneWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		db := withRegistry(t, newDSN())
		claimed(t, f, 7)
		m := join(t, db, f, 7)
		clone := copyOf(t, db, newDSN())
		s, _ := shown(t, f, 7)
		here, err := storetest.World(clone).Servers(t.Context())
		must(t, err)
		refused(t, clone, f, 7, fleet.ErrRunning, "a live copy of the same world runs elsewhere", s.Place, s.Holder.String(), clone.String()[:20], "left)", "Stop that process")
		after, err := storetest.World(clone).Servers(t.Context())
		must(t, err)
		after[0].Now = here[0].Now // when it was read
		if after[0] != here[0] {
			t.Errorf("the refused copy changed its registry: %+v, was %+v", after[0], here[0])
		}
		// Once it has changed more, the copy is the older one.
		must(t, m.Close())
		join(t, db, f, 7)
		refused(t, clone, f, 7, fleet.ErrRunning, "This database is an older copy, such as a cloned disk or a restored backup")

		// A process that has ended holds nobody up, wherever its lease ends.
		ended := s.Holder
		ended.Token, ended.Process = "gone", regexp.MustCompile(`\d+$`).ReplaceAllString(ended.Process, "1")
		if !ended.Ended() {
			t.Skip("this system cannot tell whether a process has ended")
		}
		text, _ := json.Marshal(ended)
		exec(t, f.DB(), "UPDATE fleet_servers SET holder = ?", string(text))
		join(t, clone, f, 7)
	})
}

// A backup that was restored goes on after all that the fleet registry has
// seen, even when the clock is behind.
func TestRestoredBackup(t *testing.T) {
	t.Parallel()
	onOneWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		db := withRegistry(t, newDSN())
		claimed(t, f, 7)
		m := join(t, db, f, 7)
		mint(t, m)
		must(t, m.Close())
		backup := copyOf(t, db, newDSN())
		m = join(t, db, f, 7)
		last := mint(t, m)
		must(t, m.Close())
		// Its last report was a minute ago, and two windows ahead of the clock.
		ahead := 2 * nodeOptions.Window
		exec(t, f.DB(), f.DB().Dialect().With("UPDATE fleet_servers SET seen_ms = {now} - 60000, mark_ms = {now} - ? - 60000"), gameid.EpochMillis-ahead.Milliseconds())
		start := time.Now()
		options := nodeOptions
		options.Clock = storetest.SlowClock()
		m, err := f.Join(t.Context(), storetest.World(backup), 7, worldregistry.NodeOptions(options), byHand)
		must(t, err)
		defer m.Close()
		if !m.Status().OlderCopy {
			t.Error("a restored backup was not noticed")
		}
		if next := mint(t, m); next.Compare(last) <= 0 || next.Time().Before(start.Add(ahead-time.Second)) {
			t.Errorf("%s (%s) after %s: the world may have used times up to %s", next, next.Time(), last, start.Add(ahead))
		}
	})
}

// Two copies start at the same instant: one wins, and only it mints.
func TestTwoCopiesAtOnce(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, newDSN func() string) {
		dsn := newDSN()
		newFleet(t, dsn)
		fleets := []*fleet.Fleet{openFleet(t, dsn), openFleet(t, dsn)}
		db := withRegistry(t, newDSN())
		claimed(t, fleets[0], 7)
		must(t, join(t, db, fleets[0], 7).Close())
		copies := []*store.DB{db, copyOf(t, db, newDSN())}
		for round := range servertest.Scale(12, 50) {
			members := make([]*fleet.Member, 2)
			errs := make([]error, 2)
			var wg sync.WaitGroup
			start := make(chan struct{})
			for i := range copies {
				wg.Go(func() {
					<-start
					members[i], errs[i] = fleets[i].Join(t.Context(), storetest.World(copies[i]), 7, worldOptions, byHand)
				})
			}
			close(start)
			wg.Wait()
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("round %d: %v and %v, want exactly one to win", round, errs[0], errs[1])
			}
			for i, m := range members {
				if m == nil {
					says(t, errs[i], fleet.ErrRunning)
					continue
				}
				mint(t, m)
				must(t, m.Close())
			}
		}
	})
}

// The first start of two worlds with one server binds one of them.
func TestTwoWorldsAtOnce(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		dbs := []*store.DB{withRegistry(t, newDSN()), withRegistry(t, newDSN())}
		for server := range gameid.ServerID(servertest.Scale(4, 10)) {
			server++
			claimed(t, f, server)
			var wg sync.WaitGroup
			var wins atomic.Int64
			for _, db := range dbs {
				wg.Go(func() {
					m, err := f.Join(t.Context(), storetest.World(db), server, worldOptions, byHand)
					if err == nil {
						wins.Add(1)
						must(t, m.Close())
					} else if !errors.Is(err, fleet.ErrOtherWorld) {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if wins.Load() != 1 {
				t.Fatalf("server %d: %d worlds were bound", server, wins.Load())
			}
		}
	})
}

func TestFleetClock(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		claimed(t, f, 7)
		db := withRegistry(t, newDSN())
		_, err := f.Join(t.Context(), storetest.World(db), 7, worldregistry.NodeOptions{Options: gameid.Options{Clock: storetest.SlowClock(), MaxSkew: 30 * time.Second}}, byHand)
		clock, ok := errors.AsType[*gameid.ClockError](err)
		if !ok || !strings.Contains(err.Error(), "fleet registry") || clock.Limit != 30*time.Second {
			t.Errorf("a clock that is a minute late: %v", err)
		}
	})
}

func TestFleetOptions(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "sqlite:"+t.TempDir()+"/fleet.db")
	db := withRegistry(t, "sqlite:"+t.TempDir()+"/game.db")
	for _, options := range []fleet.Options{
		{Heartbeat: time.Millisecond}, {Lease: 59 * time.Second}, {Timeout: time.Minute}, {Timeout: -1},
	} {
		if _, err := f.Join(t.Context(), storetest.World(db), 7, worldOptions, options); err == nil || !strings.Contains(err.Error(), "fleet.Options.") {
			t.Errorf("%+v: %v", options, err)
		}
	}
}
