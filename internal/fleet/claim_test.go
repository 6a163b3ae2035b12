package fleet_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

func TestClaim(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, _ func() string) {
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
		says(t, err, fleet.ErrTaken, `server 3 cannot be claimed: server 3, "s3", has been claimed on 20`, "is claimed now")
		_, err = claim("s3", 0)
		says(t, err, fleet.ErrTaken, `cannot have the name "s3": server 3, "s3"`)
		_, err = claim("s9", gameid.MaxServer+1)
		if _, ok := errors.AsType[*gameid.ServerError](err); !ok {
			t.Errorf("a server out of range: %v", err)
		}
		for _, name := range []string{"", "a\nb"} {
			if _, err := claim(name, 0); err == nil {
				t.Errorf("the name %q was taken", name)
			}
		}
		if _, err := claim(strings.Repeat("x", 65), 0); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("a name of 65 characters: %v", err)
		}
		// What is too long is said in words, and not by the database.
		long := strings.Repeat("x", 5000)
		_, err = claim(long, 0)
		says(t, err, store.ErrInvalid, "is not fit for a server: want 1 to 64 characters")
		_, err = f.ClaimRange(ctx, long[:63], store.ServerRange{First: 100, Last: 101}, note)
		says(t, err, store.ErrInvalid, "is not fit for a server: want 1 to 64 characters")
		_, err = f.Claim(ctx, "s9", 0, fleet.Note{By: "anna", Why: long})
		says(t, err, store.ErrInvalid, "the reason", "has 5000 characters: want at most 1024")
		_, err = f.Claim(ctx, "s9", 0, fleet.Note{By: long})
		says(t, err, store.ErrInvalid, "the name of the operator", "has 5000 characters: want at most 255")

		// Retired is for good.
		must(t, f.Retire(ctx, 2, fleet.Note{By: "bert", Why: "merged into s1"}))
		says(t, f.Retire(ctx, 2, note), fleet.ErrRetired)
		says(t, f.Retire(ctx, 6, note), fleet.ErrNotClaimed, "gameid servers claim -name NAME -server 6")
		if got, err := claim("s6", 0); err != nil || got != 6 {
			t.Errorf("after a server was retired: %d, %v, want 6", got, err)
		}
		_, err = claim("s2", 0)
		says(t, err, fleet.ErrTaken, "is retired now")
		s, history := shown(t, f, 2)
		if s.State != fleet.Retired || s.Name != "s2" || s.World != "" || s.Leased || time.Since(s.ClaimedAt).Abs() > time.Minute || !s.BoundAt.IsZero() {
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
		if _, _, err := f.Show(ctx, 99); !errors.Is(err, fleet.ErrNotClaimed) {
			t.Errorf("show: %v", err)
		}
	})
}

// All get a server, no two the same one, and there are no gaps.
func TestConcurrentClaims(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, newDSN func() string) {
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
				t.Fatalf("the servers are %v, want 1 to %d", got, processes*each)
			}
		}
	})
}

// Of many that want the same server one gets it.
func TestConcurrentClaimsOfOneNumber(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, _ func() string) {
		for server := range gameid.ServerID(servertest.Scale(4, 10)) {
			var wins atomic.Int64
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					_, err := f.Claim(t.Context(), fmt.Sprintf("s-%d-%d", server, i), server+1, note)
					if err == nil {
						wins.Add(1)
					} else if !errors.Is(err, fleet.ErrTaken) {
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

func TestRebind(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		ctx := t.Context()
		db := withRegistry(t, newDSN())
		claimed(t, f, 7)
		claimed(t, f, 8)
		m := join(t, db, f, 7)
		last := mint(t, m)
		must(t, m.Close())
		// The row is lost, and with it the identity.
		exec(t, db, "DELETE FROM gameid_servers")
		claimed(t, f, 9)
		_, err := storetest.World(db).CompareAndSet(ctx, 7, gameid.Record{}, claim)
		must(t, err)
		own, err := storetest.World(db).Servers(ctx)
		must(t, err)
		world := own[0].World
		refused(t, db, f, 7, fleet.ErrOtherWorld)
		for _, bad := range []string{"", "abc", strings.Repeat("g", 32), strings.Repeat("A", 32)} {
			if err := f.Rebind(ctx, 7, bad, note); err == nil || !strings.Contains(err.Error(), "32 hexadecimal digits") {
				t.Errorf("%q: %v", bad, err)
			}
		}
		if err := f.Rebind(ctx, 7, world, fleet.Note{By: "anna", Why: " "}); err == nil || !strings.Contains(err.Error(), "reason") {
			t.Errorf("without a reason: %v", err)
		}
		why := fleet.Note{By: "anna", Why: "the registry row was lost in a restore"}
		must(t, f.Rebind(ctx, 7, world, why))
		says(t, f.Rebind(ctx, 8, world, why), fleet.ErrTaken, `which is another server already: server 7, "s7"`)
		s, history := shown(t, f, 7)
		if h := history[len(history)-1]; s.World != world || s.State != fleet.Bound || h.Action != "rebind" || h.World != world || h.Why != why.Why || h.By != "anna" {
			t.Errorf("got %+v with %+v", s, h)
		}
		again := join(t, db, f, 7)
		if again.Status().OlderCopy {
			t.Error("a new world is held against what the old one reported")
		}
		if next := mint(t, again); next.Compare(last) <= 0 {
			t.Errorf("%s after %s: the mark of the old world was forgotten", next, last)
		}
	})
}
