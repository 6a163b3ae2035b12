package store_test

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
)

// openFleet opens a fleet registry as another process would.
func openFleet(t testing.TB, dsn string) *store.Fleet {
	t.Helper()
	f, err := store.OpenFleet(dsn)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func newFleet(t testing.TB, dsn string) *store.Fleet {
	t.Helper()
	f := openFleet(t, dsn)
	must(t, f.CreateSchema(t.Context()))
	return f
}

// onBothWithFleet gives the test a fleet registry and a way to make databases
// of games.
func onBothWithFleet(t *testing.T, test func(t *testing.T, f *store.Fleet, newDSN func() string)) {
	onBoth(t, func(t *testing.T, newDSN func() string) { test(t, newFleet(t, newDSN()), newDSN) })
}

var note = store.Note{By: "anna@host-a", Why: "a test"}

func claimed(t testing.TB, f *store.Fleet, server gameid.ServerID) {
	t.Helper()
	_, err := f.Claim(t.Context(), fmt.Sprintf("s%d", server), server, note)
	must(t, err)
}

// byHand are options with which no heartbeat comes by itself.
var byHand = store.FleetOptions{Name: "s7", Heartbeat: time.Hour, Timeout: 20 * time.Second}

func join(t testing.TB, db *store.DB, f *store.Fleet, server gameid.ServerID) *store.Member {
	t.Helper()
	m, err := db.JoinFleet(t.Context(), f, server, nodeOptions, byHand)
	must(t, err)
	t.Cleanup(func() { m.Close() }) // tests that care look at the error themselves
	return m
}

// refused checks that a world does not start, why, and what the message says.
func refused(t testing.TB, db *store.DB, f *store.Fleet, server gameid.ServerID, kind error, parts ...string) {
	t.Helper()
	m, err := db.JoinFleet(t.Context(), f, server, nodeOptions, byHand)
	if err == nil {
		m.Close()
	}
	says(t, err, kind, parts...)
}

func says(t testing.TB, err, kind error, parts ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("the error is %v, want: %v", err, kind)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
}

func shown(t testing.TB, f *store.Fleet, server gameid.ServerID) (store.FleetServer, []store.FleetChange) {
	t.Helper()
	s, history, err := f.Show(t.Context(), server)
	must(t, err)
	return s, history
}

// expire ends the lease of a server in the fleet registry, as time would.
func expire(t testing.TB, f *store.Fleet, server gameid.ServerID) {
	t.Helper()
	exec(t, f.DB(), "UPDATE fleet_servers SET lease_until_ms = 1 WHERE server_id = ?", server)
}

// copyOf makes a second database of the same world, as a cloned disk would:
// its registry is that of the original as it is now, without its lease.
func copyOf(t testing.TB, db *store.DB, dsn string) *store.DB {
	t.Helper()
	var rows []struct {
		Server int64  `db:"server_id"`
		World  string `db:"world"`
		Epoch  int64  `db:"epoch"`
		Mark   int64  `db:"reserved_ms"`
		Fleet  string `db:"fleet"`
	}
	must(t, db.Select(t.Context(), &rows, "SELECT server_id, world, epoch, reserved_ms, fleet FROM gameid_servers"))
	c := withTables(t, dsn)
	for _, row := range rows {
		exec(t, c, `INSERT INTO gameid_servers (server_id, world, role, epoch, reserved_ms, holder, lease_until_ms, created_ms, updated_ms, fleet)
			VALUES (?, ?, 'own', ?, ?, '', 0, 0, 0, ?)`, row.Server, row.World, row.Epoch, row.Mark, row.Fleet)
	}
	return c
}

func mint(t testing.TB, m *store.Member) gameid.Of[entity.Player] {
	t.Helper()
	id, err := gameid.NewGenerator[entity.Player](m.Node).Next()
	must(t, err)
	return id
}

func TestFleetSchema(t *testing.T) {
	onBoth(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		dsn := newDSN()
		var fleets []*store.Fleet
		for range 4 {
			fleets = append(fleets, openFleet(t, dsn))
		}
		if strings.HasPrefix(dsn, "mysql:") {
			_, err := fleets[0].List(ctx)
			says(t, err, store.ErrSchema, "no fleet registry yet", "gameid servers init")
		} else {
			_, err := fleets[0].List(ctx)
			says(t, err, store.ErrUnavailable, "no such file", "gameid servers init")
		}
		var wg sync.WaitGroup
		for _, f := range fleets {
			wg.Go(func() {
				if err := f.CreateSchema(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, f := range fleets {
			must(t, f.CreateSchema(ctx)) // again
			if servers, err := f.List(ctx); err != nil || len(servers) != 0 {
				t.Errorf("a new fleet registry has %v, %v", servers, err)
			}
		}
		var ids []string
		must(t, fleets[0].DB().Select(ctx, &ids, "SELECT id FROM fleet_registry"))
		if len(ids) != 1 || !regexp.MustCompile("^[0-9a-f]{32}$").MatchString(ids[0]) {
			t.Errorf("the identity is %q", ids)
		}

		says(t, open(t, dsn).CreateSchema(ctx), store.ErrSchema, "it is the database of a fleet registry, want that of a game")
		game := newDSN()
		withTables(t, game)
		says(t, openFleet(t, game).CreateSchema(ctx), store.ErrSchema, "it is the database of a game, want that of a fleet registry")
		_, err := openFleet(t, game).List(ctx)
		says(t, err, store.ErrSchema, "want that of a fleet registry")
	})
}

func TestClaim(t *testing.T) {
	onBothWithFleet(t, func(t *testing.T, f *store.Fleet, _ func() string) {
		ctx := t.Context()
		claim := func(name string, server gameid.ServerID) (gameid.ServerID, error) {
			s, err := f.Claim(ctx, name, server, note)
			return s.ID, err
		}
		for i, test := range []struct {
			name         string
			server, want gameid.ServerID
		}{
			{"s1", 0, 1}, {"s3", 3, 3}, {"s2", 0, 2}, {"s4", 0, 4}, {"last", gameid.MaxServer, gameid.MaxServer}, {"Älder 北", 0, 5},
		} {
			if got, err := claim(test.name, test.server); err != nil || got != test.want {
				t.Errorf("claim %d: got %d, %v, want %d", i, got, err, test.want)
			}
		}
		_, err := claim("another", 3)
		says(t, err, store.ErrTaken, `server 3 cannot be claimed: server 3, "s3", has been claimed on 20`, "is claimed now")
		_, err = claim("s3", 0)
		says(t, err, store.ErrTaken, `cannot have the name "s3": server 3, "s3"`)
		_, err = claim("s9", gameid.MaxServer+1)
		if _, ok := errors.AsType[*gameid.ServerError](err); !ok {
			t.Errorf("a number out of range: %v", err)
		}
		for _, name := range []string{"", "a\nb"} {
			if _, err := claim(name, 0); err == nil {
				t.Errorf("the name %q was taken", name)
			}
		}
		if _, err := claim(strings.Repeat("x", 65), 0); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("a name of 65 characters: %v", err)
		}

		// Retired is for good.
		must(t, f.Retire(ctx, 2, store.Note{By: "bert", Why: "merged into s1"}))
		says(t, f.Retire(ctx, 2, note), store.ErrRetired)
		says(t, f.Retire(ctx, 6, note), store.ErrNotClaimed, "gameid servers claim -name NAME -server 6")
		if got, err := claim("s6", 0); err != nil || got != 6 {
			t.Errorf("after a number was retired: %d, %v, want 6", got, err)
		}
		_, err = claim("s2", 0)
		says(t, err, store.ErrTaken, "is retired now")
		s, history := shown(t, f, 2)
		if s.State != store.FleetRetired || s.Name != "s2" || s.World != "" || s.Leased || time.Since(s.ClaimedAt).Abs() > time.Minute || !s.BoundAt.IsZero() {
			t.Errorf("got %+v", s)
		}
		if len(history) != 2 || history[0].Action != "claim" || history[0].By != note.By || history[1].Action != "retire" ||
			history[1].Why != "merged into s1" || history[1].Epoch != s.Epoch || time.Since(history[1].At).Abs() > time.Minute {
			t.Errorf("the history is %+v", history)
		}
		servers, err := f.List(ctx)
		must(t, err)
		var ids []gameid.ServerID
		for _, s := range servers {
			ids = append(ids, s.ID)
		}
		if !slices.Equal(ids, []gameid.ServerID{1, 2, 3, 4, 5, 6, gameid.MaxServer}) {
			t.Errorf("the list has %v", ids)
		}
		if _, _, err := f.Show(ctx, 99); !errors.Is(err, store.ErrNotClaimed) {
			t.Errorf("show: %v", err)
		}
	})
}

// All get a number, no two the same one, and there are no gaps.
func TestConcurrentClaims(t *testing.T) {
	onBoth(t, func(t *testing.T, newDSN func() string) {
		dsn := newDSN()
		newFleet(t, dsn)
		const processes, each = 8, 8
		var mu sync.Mutex
		var got []gameid.ServerID
		var wg sync.WaitGroup
		for p := range processes {
			f := openFleet(t, dsn)
			wg.Go(func() {
				for i := range each {
					s, err := f.Claim(t.Context(), fmt.Sprintf("s-%d-%d", p, i), 0, note)
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					got = append(got, s.ID)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		slices.Sort(got)
		for i, id := range got {
			if id != gameid.ServerID(i+1) {
				t.Fatalf("the numbers are %v, want 1 to %d", got, processes*each)
			}
		}
	})
}

// Of many that want the same number one gets it.
func TestConcurrentClaimsOfOneNumber(t *testing.T) {
	onBothWithFleet(t, func(t *testing.T, f *store.Fleet, _ func() string) {
		for server := range gameid.ServerID(10) {
			var wins atomic.Int64
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					_, err := f.Claim(t.Context(), fmt.Sprintf("s-%d-%d", server, i), server+1, note)
					if err == nil {
						wins.Add(1)
					} else if !errors.Is(err, store.ErrTaken) {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if wins.Load() != 1 {
				t.Fatalf("server %d was claimed %d times", server+1, wins.Load())
			}
		}
	})
}

func TestJoinFleet(t *testing.T) {
	onBothWithFleet(t, func(t *testing.T, f *store.Fleet, newDSN func() string) {
		ctx := t.Context()
		dsn := newDSN()
		db := withTables(t, dsn)
		refused(t, db, f, 7, store.ErrNotClaimed, "gameid servers claim -name s7 -server 7")
		if servers, err := db.Registry().Servers(ctx); err != nil || len(servers) != 0 {
			t.Errorf("a world that was refused left %v, %v", servers, err)
		}

		claimed(t, f, 7)
		var states []store.FleetState
		options := byHand
		options.OnChange = func(s store.FleetStatus) { states = append(states, s.State) }
		m, err := db.JoinFleet(ctx, f, 7, nodeOptions, options)
		must(t, err)
		first := mint(t, m)
		own, err := db.Registry().Servers(ctx)
		must(t, err)
		s, history := shown(t, f, 7)
		if s.State != store.FleetBound || s.World != own[0].World || s.Holder != own[0].Holder || !s.Leased || s.WorldEpoch != own[0].Epoch || s.Mark != own[0].Reserved {
			t.Errorf("bound as %+v, the world is %+v", s, own[0])
		}
		if left := s.LeaseUntil.Sub(s.Now); left > 3*time.Hour || left < 3*time.Hour-time.Minute || s.BoundAt.IsZero() || s.SeenAt.IsZero() {
			t.Errorf("bound as %+v", s)
		}
		if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok && s.Place != "sqlite:"+path || !strings.Contains(s.Place, store.Redact(dsn)[:10]) {
			t.Errorf("the place is %q", s.Place)
		}
		if len(history) != 2 || history[1].Action != "bind" || history[1].World != s.World || history[1].By != s.Holder.String() {
			t.Errorf("the history is %+v", history)
		}

		// On the same database the game's own registry refuses.
		_, err = open(t, dsn).JoinFleet(ctx, f, 7, nodeOptions, byHand)
		if held, ok := errors.AsType[*gameid.HeldError](err); !ok || held.Holder != s.Holder {
			t.Errorf("a second process: %v", err)
		}
		says(t, f.Retire(ctx, 7, note), store.ErrRunning, "cannot be retired while it runs", s.Place)
		says(t, f.Rebind(ctx, 7, strings.Repeat("0", 32), note), store.ErrRunning, "while it runs")

		if !m.Heartbeat(ctx) {
			t.Errorf("heartbeat: %v", m.FleetStatus().Err)
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
		if st := m.FleetStatus(); st.State != store.FleetLeft || st.Heartbeats != 2 || st.Failures != 0 || st.Last.IsZero() || st.OlderCopy {
			t.Errorf("%+v", st)
		}
		if !slices.Equal(states, []store.FleetState{store.FleetJoined, store.FleetLeft}) {
			t.Errorf("the states were %v", states)
		}

		// Another world does not get the number, and this one gets it again.
		other := withTables(t, newDSN())
		refused(t, other, f, 7, store.ErrOtherWorld, "belongs to another world", s.World, s.Place, "never been started")
		exec(t, other, "INSERT INTO gameid_servers (server_id, world, role, epoch, reserved_ms, lease_until_ms, created_ms, updated_ms) VALUES (7, 'abc', 'own', 1, 5, 0, 0, 0)")
		refused(t, other, f, 7, store.ErrOtherWorld, "whose identity is abc", "rebind")
		again := join(t, db, f, 7)
		if next := mint(t, again); next.Compare(first) <= 0 {
			t.Errorf("%s after %s", next, first)
		}
		must(t, again.Close())

		must(t, f.Retire(ctx, 7, note))
		refused(t, db, f, 7, store.ErrRetired, "is retired", s.Place)
		claimed(t, f, 12)
		exec(t, db, "INSERT INTO gameid_servers (server_id, world, role, epoch, reserved_ms, lease_until_ms, created_ms, updated_ms) VALUES (12, 'def', 'merged', 1, 5, 0, 0, 0)")
		refused(t, db, f, 12, store.ErrOtherWorld, "by a merge")
	})
}

func TestRebind(t *testing.T) {
	onBothWithFleet(t, func(t *testing.T, f *store.Fleet, newDSN func() string) {
		ctx := t.Context()
		db := withTables(t, newDSN())
		claimed(t, f, 7)
		claimed(t, f, 8)
		m := join(t, db, f, 7)
		last := mint(t, m)
		must(t, m.Close())
		// The row is lost, and with it the identity.
		exec(t, db, "DELETE FROM gameid_servers")
		claimed(t, f, 9)
		_, err := db.Registry().CompareAndSet(ctx, 7, gameid.Record{}, claim)
		must(t, err)
		own, err := db.Registry().Servers(ctx)
		must(t, err)
		world := own[0].World
		refused(t, db, f, 7, store.ErrOtherWorld)
		for _, bad := range []string{"", "abc", strings.Repeat("g", 32), strings.Repeat("A", 32)} {
			if err := f.Rebind(ctx, 7, bad, note); err == nil || !strings.Contains(err.Error(), "32 hexadecimal digits") {
				t.Errorf("%q: %v", bad, err)
			}
		}
		if err := f.Rebind(ctx, 7, world, store.Note{By: "anna", Why: " "}); err == nil || !strings.Contains(err.Error(), "reason") {
			t.Errorf("without a reason: %v", err)
		}
		why := store.Note{By: "anna", Why: "the registry row was lost in a restore"}
		must(t, f.Rebind(ctx, 7, world, why))
		says(t, f.Rebind(ctx, 8, world, why), store.ErrTaken, `which has a number: server 7, "s7"`)
		s, history := shown(t, f, 7)
		if h := history[len(history)-1]; s.World != world || s.State != store.FleetBound || h.Action != "rebind" || h.World != world || h.Why != why.Why || h.By != "anna" {
			t.Errorf("got %+v with %+v", s, h)
		}
		again := join(t, db, f, 7)
		if again.FleetStatus().OlderCopy {
			t.Error("a new world is held against what the old one reported")
		}
		if next := mint(t, again); next.Compare(last) <= 0 {
			t.Errorf("%s after %s: the mark of the old world was forgotten", next, last)
		}
	})
}

// A live copy of a world is refused, with both places named.
func TestLiveCopy(t *testing.T) {
	onBothWithFleet(t, func(t *testing.T, f *store.Fleet, newDSN func() string) {
		db := withTables(t, newDSN())
		claimed(t, f, 7)
		m := join(t, db, f, 7)
		clone := copyOf(t, db, newDSN())
		s, _ := shown(t, f, 7)
		here, err := clone.Registry().Servers(t.Context())
		must(t, err)
		refused(t, clone, f, 7, store.ErrRunning, "a live copy of the same world runs elsewhere", s.Place, s.Holder.String(), clone.String()[:20], "left)", "Stop that process")
		if after, err := clone.Registry().Servers(t.Context()); err != nil || after[0] != here[0] {
			t.Errorf("the refused copy changed its registry: %+v, %v", after, err)
		}
		// Once it has changed more, the copy is the older one.
		must(t, m.Close())
		m = join(t, db, f, 7)
		refused(t, clone, f, 7, store.ErrRunning, "This database is an older copy, such as a cloned disk or a restored backup")

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
	onBothWithFleet(t, func(t *testing.T, f *store.Fleet, newDSN func() string) {
		db := withTables(t, newDSN())
		claimed(t, f, 7)
		m := join(t, db, f, 7)
		mint(t, m)
		must(t, m.Close())
		backup := copyOf(t, db, newDSN())
		m = join(t, db, f, 7)
		last := mint(t, m)
		must(t, m.Close())
		// Its last report was a minute ago, and 20 s ahead of the clock.
		exec(t, f.DB(), f.With("UPDATE fleet_servers SET seen_ms = {now} - 60000, mark_ms = {now} - ? - 40000"), gameid.EpochMillis)
		start := time.Now()
		options := gameid.Options{Clock: slow{gameid.SystemClock()}}
		m, err := backup.JoinFleet(t.Context(), f, 7, options, byHand)
		must(t, err)
		defer m.Close()
		if !m.FleetStatus().OlderCopy {
			t.Error("a restored backup was not noticed")
		}
		if next := mint(t, m); next.Compare(last) <= 0 || next.Time().Before(start.Add(19*time.Second)) {
			t.Errorf("%s (%s) after %s: the world may have used times up to %s", next, next.Time(), last, start.Add(20*time.Second))
		}
	})
}

// Two copies start at the same instant: one wins, and only it mints.
func TestTwoCopiesAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, newDSN func() string) {
		dsn := newDSN()
		newFleet(t, dsn)
		fleets := []*store.Fleet{openFleet(t, dsn), openFleet(t, dsn)}
		db := withTables(t, newDSN())
		claimed(t, fleets[0], 7)
		must(t, join(t, db, fleets[0], 7).Close())
		copies := []*store.DB{db, copyOf(t, db, newDSN())}
		for round := range 50 {
			members := make([]*store.Member, 2)
			errs := make([]error, 2)
			var wg sync.WaitGroup
			start := make(chan struct{})
			for i := range copies {
				wg.Go(func() {
					<-start
					members[i], errs[i] = copies[i].JoinFleet(t.Context(), fleets[i], 7, nodeOptions, byHand)
				})
			}
			close(start)
			wg.Wait()
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("round %d: %v and %v, want exactly one to win", round, errs[0], errs[1])
			}
			for i, m := range members {
				if m == nil {
					says(t, errs[i], store.ErrRunning)
					continue
				}
				mint(t, m)
				must(t, m.Close())
			}
		}
	})
}

// The first start of two worlds with one number binds one of them.
func TestTwoWorldsAtOnce(t *testing.T) {
	onBothWithFleet(t, func(t *testing.T, f *store.Fleet, newDSN func() string) {
		dbs := []*store.DB{withTables(t, newDSN()), withTables(t, newDSN())}
		for server := range gameid.ServerID(10) {
			server++
			claimed(t, f, server)
			var wg sync.WaitGroup
			var wins atomic.Int64
			for _, db := range dbs {
				wg.Go(func() {
					m, err := db.JoinFleet(t.Context(), f, server, nodeOptions, byHand)
					if err == nil {
						wins.Add(1)
						must(t, m.Close())
					} else if !errors.Is(err, store.ErrOtherWorld) {
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

// door lets a fleet registry go away and come back.
type door struct {
	driver.Connector
	shut *atomic.Bool
}

func (d door) Connect(ctx context.Context) (driver.Conn, error) {
	if d.shut.Load() {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	return d.Connector.Connect(ctx)
}

// openFleetBehind opens a fleet registry that is away while shut is true.
func openFleetBehind(t testing.TB, dsn string, shut *atomic.Bool) *store.Fleet {
	t.Helper()
	f, err := store.OpenFleetVia(dsn, func(c driver.Connector) driver.Connector { return door{c, shut} })
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// outage is a bound world, a copy of its database, and a fleet registry that
// goes away.
type outage struct {
	fleet    *store.Fleet // as an operator sees it, always
	away     atomic.Bool
	db, copy *store.DB
	dsn      string
}

func newOutage(t *testing.T, newDSN func() string) *outage {
	o := &outage{dsn: newDSN()}
	o.fleet = newFleet(t, o.dsn)
	claimed(t, o.fleet, 7)
	o.db = withTables(t, newDSN())
	m := join(t, o.db, o.fleet, 7)
	mint(t, m)
	must(t, m.Close())
	o.copy = copyOf(t, o.db, newDSN())
	return o
}

func (o *outage) join(t testing.TB, db *store.DB) *store.Member {
	t.Helper()
	return join(t, db, openFleetBehind(t, o.dsn, &o.away), 7)
}

func onBothInOutage(t *testing.T, test func(t *testing.T, o *outage)) {
	onBoth(t, func(t *testing.T, newDSN func() string) { test(t, newOutage(t, newDSN)) })
}

func state(t testing.TB, m *store.Member, want store.FleetState, part string) {
	t.Helper()
	if s := m.FleetStatus(); s.State != want || (s.Err == nil) != (part == "") || s.Err != nil && !strings.Contains(s.Err.Error(), part) {
		t.Errorf("the state is %s (%v), want %s (%s)", s.State, s.Err, want, part)
	}
}

// stopped checks that a world mints no more, and why.
func stopped(t testing.TB, m *store.Member, kind error, parts ...string) {
	t.Helper()
	state(t, m, store.FleetConflict, " ")
	says(t, m.Err(), kind, parts...)
	_, err := gameid.NewGenerator[entity.Player](m.Node).Next()
	says(t, err, kind)
	select {
	case <-m.Done():
	default:
		t.Error("Done is not closed")
	}
	must(t, m.Close())
	if s := m.FleetStatus().State; s != store.FleetConflict {
		t.Errorf("after Close the state is %s", s)
	}
}

func TestFleetAwayAtStart(t *testing.T) {
	onBoth(t, func(t *testing.T, newDSN func() string) {
		o := newOutage(t, newDSN)
		o.away.Store(true)
		behind := openFleetBehind(t, o.dsn, &o.away)
		claimed(t, o.fleet, 8)
		fresh := withTables(t, newDSN())
		refused(t, fresh, behind, 8, store.ErrNotBound, "was never bound", "connection refused")
		m := o.join(t, o.db)
		mint(t, m)
		state(t, m, store.FleetAway, "connection refused")
		if m.Heartbeat(t.Context()) {
			t.Error("a heartbeat without a fleet registry succeeded")
		}
		o.away.Store(false)
		if !m.Heartbeat(t.Context()) {
			t.Errorf("the fleet registry is back: %v", m.FleetStatus().Err)
		}
		state(t, m, store.FleetJoined, "")
		refused(t, o.copy, o.fleet, 7, store.ErrRunning)
		must(t, join(t, fresh, behind, 8).Close())

		// A DSN that leads to something else is not "away".
		game := newDSN()
		withTables(t, game)
		must(t, m.Close())
		_, err := o.db.JoinFleet(t.Context(), openFleet(t, game), 7, nodeOptions, byHand)
		says(t, err, store.ErrSchema, "want that of a fleet registry")
		other := newFleet(t, newDSN())
		claimed(t, other, 7)
		refused(t, o.db, other, 7, store.ErrOtherFleet, "bound in another fleet registry")
		world, _ := shown(t, o.fleet, 7)
		must(t, other.Rebind(t.Context(), 7, world.World, note))
		must(t, join(t, o.db, other, 7).Close())
	})
}

func TestFleetAwayLater(t *testing.T) {
	onBothInOutage(t, func(t *testing.T, o *outage) {
		m := o.join(t, o.db)
		o.away.Store(true)
		for range 3 {
			m.Heartbeat(t.Context())
		}
		mint(t, m)
		state(t, m, store.FleetAway, "connection refused")
		if s := m.FleetStatus(); s.Failures != 3 {
			t.Errorf("%+v", s)
		}
		expire(t, o.fleet, 7)
		o.away.Store(false)
		if !m.Heartbeat(t.Context()) {
			t.Errorf("nobody took its place: %v", m.FleetStatus().Err)
		}
		o.away.Store(true)
		m.Heartbeat(t.Context())
		if err := m.Close(); err != nil {
			t.Errorf("Close while the fleet registry is away: %v", err)
		}
		refused(t, o.copy, o.fleet, 7, store.ErrRunning) // until the lease ends
		expire(t, o.fleet, 7)
		must(t, join(t, o.copy, o.fleet, 7).Close())
	})
}

// A copy took the place of a world that could not report, and may even have
// ended since.
func TestTakenInOutage(t *testing.T) {
	onBothInOutage(t, func(t *testing.T, o *outage) {
		for _, ends := range []bool{false, true} {
			m := o.join(t, o.db)
			mint(t, m)
			o.away.Store(true)
			m.Heartbeat(t.Context())
			expire(t, o.fleet, 7)
			other := join(t, o.copy, o.fleet, 7)
			if ends {
				must(t, other.Close())
			}
			o.away.Store(false)
			if m.Heartbeat(t.Context()) {
				t.Error("a world that was replaced goes on")
			}
			s, _ := shown(t, o.fleet, 7)
			stopped(t, m, store.ErrRunning, "another copy of its world took over", s.Place, "Find out which")
			must(t, other.Close())
			o.copy = copyOf(t, o.db, "sqlite:"+t.TempDir()+"/copy.db")
		}
	})
}

// Two copies start while the fleet registry is away. When it is back, one of
// them goes on.
func TestTwoCopiesInOutage(t *testing.T) {
	onBothInOutage(t, func(t *testing.T, o *outage) {
		o.away.Store(true)
		a, b := o.join(t, o.db), o.join(t, o.copy)
		mint(t, a)
		mint(t, b)
		o.away.Store(false)
		if !a.Heartbeat(t.Context()) {
			t.Fatalf("the first to report: %v", a.FleetStatus().Err)
		}
		// It cannot be told yet whether that is an ended predecessor.
		b.Heartbeat(t.Context())
		b.Heartbeat(t.Context())
		state(t, b, store.FleetAway, "may be running elsewhere")
		a.Heartbeat(t.Context())
		b.Heartbeat(t.Context())
		stopped(t, b, store.ErrRunning, "another copy of its world took over")
		mint(t, a)
		state(t, a, store.FleetJoined, "")
	})
}

// The same with heartbeats of their own, at the same instants.
func TestTwoCopiesInOutageRace(t *testing.T) {
	onBothInOutage(t, func(t *testing.T, o *outage) {
		for range 3 {
			options := byHand
			options.Heartbeat, options.Timeout = 200*time.Millisecond, 200*time.Millisecond
			o.away.Store(true)
			var members []*store.Member
			for _, db := range []*store.DB{o.db, o.copy} {
				m, err := db.JoinFleet(t.Context(), openFleetBehind(t, o.dsn, &o.away), 7, nodeOptions, options)
				must(t, err)
				t.Cleanup(func() { m.Close() })
				members = append(members, m)
			}
			o.away.Store(false)
			winner := members[1]
			select {
			case <-members[0].Done():
			case <-members[1].Done():
				winner = members[0]
			}
			// Several heartbeats later it still goes on.
			for beats := winner.FleetStatus().Heartbeats; winner.FleetStatus().Heartbeats < beats+5 && winner.Err() == nil; {
				time.Sleep(10 * time.Millisecond)
			}
			mint(t, winner)
			for _, m := range members {
				if m != winner {
					stopped(t, m, store.ErrRunning)
				}
				must(t, m.Close())
			}
			o.copy = copyOf(t, o.db, "sqlite:"+t.TempDir()+"/copy.db")
		}
	})
}

// The predecessor crashed, and the world was started again while the fleet
// registry was away: it waits for the end of that lease and goes on.
func TestPredecessorsLease(t *testing.T) {
	onBothInOutage(t, func(t *testing.T, o *outage) {
		m := o.join(t, o.db)
		o.away.Store(true)
		m.Heartbeat(t.Context())
		must(t, m.Close())
		again := o.join(t, o.db)
		o.away.Store(false)
		again.Heartbeat(t.Context())
		state(t, again, store.FleetAway, "may be running elsewhere")
		mint(t, again)
		// Whatever that process has reported stays.
		exec(t, o.fleet.DB(), "UPDATE fleet_servers SET mark_ms = mark_ms + 60000, world_epoch = 1, lease_until_ms = 1")
		before, _ := shown(t, o.fleet, 7)
		for range 2 {
			if !again.Heartbeat(t.Context()) {
				t.Errorf("after the end of that lease: %v", again.FleetStatus().Err)
			}
			if s, _ := shown(t, o.fleet, 7); s.Mark < before.Mark {
				t.Errorf("the mark fell from %d to %d", before.Mark, s.Mark)
			}
		}
	})
}

// What an operator changed while the world could not report.
func TestChangedInOutage(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(ctx context.Context, f *store.Fleet) error
		kind   error
	}{
		{"retired", func(ctx context.Context, f *store.Fleet) error { return f.Retire(ctx, 7, note) }, store.ErrRetired},
		{"rebound", func(ctx context.Context, f *store.Fleet) error {
			return f.Rebind(ctx, 7, strings.Repeat("0", 32), note)
		}, store.ErrOtherWorld},
	} {
		t.Run(test.name, func(t *testing.T) {
			onBothInOutage(t, func(t *testing.T, o *outage) {
				m := o.join(t, o.db)
				expire(t, o.fleet, 7)
				must(t, test.change(t.Context(), o.fleet))
				m.Heartbeat(t.Context())
				stopped(t, m, test.kind)
			})
		})
	}
}

// A fleet registry that was restored from an older copy stops nobody: the
// worlds write themselves into it again.
func TestFleetRestored(t *testing.T) {
	onBothInOutage(t, func(t *testing.T, o *outage) {
		before, _ := shown(t, o.fleet, 7)
		m := o.join(t, o.db)
		for range 10 {
			m.Heartbeat(t.Context())
		}
		last, _ := shown(t, o.fleet, 7)
		text, _ := json.Marshal(before.Holder)
		exec(t, o.fleet.DB(), "UPDATE fleet_servers SET epoch = ?, holder = ?, mark_ms = ?, world_epoch = ?, lease_until_ms = 1", before.Epoch, string(text), before.Mark, before.WorldEpoch)
		if !m.Heartbeat(t.Context()) {
			t.Errorf("the first report: %v", m.FleetStatus().Err)
		}
		s, _ := shown(t, o.fleet, 7)
		if s.Epoch <= last.Epoch || s.Holder.Token != last.Holder.Token || s.Mark < last.Mark || s.WorldEpoch < last.WorldEpoch {
			t.Errorf("the row is %+v, was %+v", s, last)
		}
		if !m.Heartbeat(t.Context()) {
			t.Errorf("the second report: %v", m.FleetStatus().Err)
		}
		// Even the claim is lost: the world goes on and says what to do.
		exec(t, o.fleet.DB(), "DELETE FROM fleet_servers")
		exec(t, o.fleet.DB(), "DELETE FROM fleet_history")
		m.Heartbeat(t.Context())
		mint(t, m)
		state(t, m, store.FleetAway, "gameid servers claim -name s7 -server 7")
		claimed(t, o.fleet, 7)
		if !m.Heartbeat(t.Context()) {
			t.Errorf("after it was claimed again: %v", m.FleetStatus().Err)
		}
		if again, _ := shown(t, o.fleet, 7); again.World != s.World || again.Epoch <= s.Epoch {
			t.Errorf("the row is %+v, was %+v", again, s)
		}
	})
}

// An older copy that was started while the fleet registry was away, on a
// machine and a database whose clocks are behind, may have repeated IDs.
func TestOlderCopyInOutage(t *testing.T) {
	onBothInOutage(t, func(t *testing.T, o *outage) {
		m := join(t, o.db, o.fleet, 7)
		mint(t, m)
		must(t, m.Close())
		exec(t, o.fleet.DB(), "UPDATE fleet_servers SET mark_ms = mark_ms + 60000") // as if it had run on for a minute
		o.away.Store(true)
		older := o.join(t, o.copy)
		o.away.Store(false)
		older.Heartbeat(t.Context())
		stopped(t, older, store.ErrOlderCopy, "is an older copy of its world", "may exist twice")
		// With the fleet registry's help it can go on.
		last, _ := shown(t, o.fleet, 7)
		again := join(t, o.copy, o.fleet, 7)
		if id := mint(t, again); id.Millis() <= last.Mark {
			t.Errorf("%s after the mark %s", id, gameid.TimeOf(last.Mark))
		}
	})
}

// The first IDs of a world that starts without the fleet registry lie in the
// present, by the clock of its database: what the fleet registry knows is not
// later, unless a clock was wrong.
func TestStartWithoutFleetIsInThePresent(t *testing.T) {
	onBothInOutage(t, func(t *testing.T, o *outage) {
		o.away.Store(true)
		exec(t, o.db, "UPDATE gameid_servers SET reserved_ms = 5")
		before := time.Now().Add(-time.Second)
		m, err := o.db.JoinFleet(t.Context(), openFleetBehind(t, o.dsn, &o.away), 7, gameid.Options{Clock: slow{gameid.SystemClock()}}, byHand)
		must(t, err)
		defer m.Close()
		if id := mint(t, m); id.Time().Before(before) {
			t.Errorf("the first ID is of %s, it is %s", id.Time(), before)
		}
	})
}

func TestFleetClock(t *testing.T) {
	onBothWithFleet(t, func(t *testing.T, f *store.Fleet, newDSN func() string) {
		claimed(t, f, 7)
		db := withTables(t, newDSN())
		_, err := db.JoinFleet(t.Context(), f, 7, gameid.Options{Clock: slow{gameid.SystemClock()}, MaxSkew: 30 * time.Second}, byHand)
		clock, ok := errors.AsType[*gameid.ClockError](err)
		if !ok || !strings.Contains(err.Error(), "fleet registry") || clock.Limit != 30*time.Second {
			t.Errorf("a clock that is a minute late: %v", err)
		}
	})
}

func TestFleetOptions(t *testing.T) {
	f := newFleet(t, "sqlite:"+t.TempDir()+"/fleet.db")
	db := withTables(t, "sqlite:"+t.TempDir()+"/game.db")
	for _, options := range []store.FleetOptions{
		{Heartbeat: time.Millisecond}, {Lease: 59 * time.Second}, {Timeout: time.Minute}, {Timeout: -1},
	} {
		if _, err := db.JoinFleet(t.Context(), f, 7, nodeOptions, options); err == nil || !strings.Contains(err.Error(), "FleetOptions") {
			t.Errorf("%+v: %v", options, err)
		}
	}
}

// The password of a fleet registry is in no message.
func TestFleetHidesThePassword(t *testing.T) {
	f, err := store.OpenFleet("mysql:root:hunter2@tcp(127.0.0.1:1)/fleet")
	must(t, err)
	defer f.Close()
	_, err = f.List(t.Context())
	says(t, err, store.ErrUnavailable, "root:***@tcp(127.0.0.1:1)/fleet")
	for _, s := range []string{err.Error(), f.String(), fmt.Sprintf("%v %+v %#v", f, f, f)} {
		if strings.Contains(s, "hunter2") {
			t.Errorf("the password is in %q", s)
		}
	}
}

// In a fleet registry that was restored from an older copy the epoch of a row
// comes round again. A world does not write over another copy of itself then.
func TestFleetEpochComesRound(t *testing.T) {
	onBothWithFleet(t, func(t *testing.T, f *store.Fleet, newDSN func() string) {
		claimed(t, f, 7)
		m := join(t, withTables(t, newDSN()), f, 7)
		exec(t, f.DB(), `UPDATE fleet_servers SET holder = '{"token":"ABC","host":"host-b","pid":4711,"program":"game"}', place = 'the copy'`)
		before, _ := shown(t, f, 7)
		m.Heartbeat(t.Context())
		state(t, m, store.FleetConflict, "host-b")
		if after, _ := shown(t, f, 7); after.Epoch != before.Epoch || !after.LeaseUntil.Equal(before.LeaseUntil) {
			t.Errorf("the row was %+v, is %+v", before, after)
		}
	})
}
