package fleet_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

var (
	openFleet       = storetest.OpenFleet
	newFleet        = storetest.NewFleet
	onEachWithFleet = storetest.OnEachWithFleet
	onOneWithFleet  = storetest.OnOneOrEachWithFleet
)

var note = fleet.Note{By: "anna@host-a", Why: "a test"}

func claimed(t testing.TB, f *fleet.Fleet, server gameid.ServerID) {
	t.Helper()
	_, err := f.Claim(t.Context(), fmt.Sprintf("s%d", server), server, note)
	must(t, err)
}

// byHand are options with which no heartbeat comes by itself. The first one comes at a random
// moment of Heartbeat: within an hour, it met one made by hand about once in twenty runs.
var byHand = fleet.Options{Name: "s7", Heartbeat: 10 * 365 * 24 * time.Hour, Timeout: time.Minute}

func join(t testing.TB, db *store.DB, f *fleet.Fleet, server gameid.ServerID) *fleet.Member {
	t.Helper()
	m, err := f.Join(t.Context(), storetest.World(db), server, worldOptions, byHand)
	must(t, err)
	t.Cleanup(func() { m.Close() }) // tests that care look at the error themselves
	return m
}

// refused checks that a world does not start, why, and what the message says.
func refused(t testing.TB, db *store.DB, f *fleet.Fleet, server gameid.ServerID, kind error, parts ...string) {
	t.Helper()
	m, err := f.Join(t.Context(), storetest.World(db), server, worldOptions, byHand)
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

func shown(t testing.TB, f *fleet.Fleet, server gameid.ServerID) (fleet.Server, []fleet.Change) {
	t.Helper()
	s, history, err := f.Show(t.Context(), server)
	must(t, err)
	return s, history
}

// expire ends the lease of a server in the fleet registry, as time would.
func expire(t testing.TB, f *fleet.Fleet, server gameid.ServerID) {
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
	c := withRegistry(t, dsn)
	for _, row := range rows {
		exec(t, c, `INSERT INTO gameid_servers (server_id, world, role, epoch, reserved_ms, holder, lease_until_ms, created_ms, updated_ms, fleet)
			VALUES (?, ?, 'own', ?, ?, '', 0, 0, 0, ?)`, row.Server, row.World, row.Epoch, row.Mark, row.Fleet)
	}
	return c
}

func mint(t testing.TB, m *fleet.Member) gameid.Of[entity.Player] {
	t.Helper()
	id, err := gameid.NewGenerator[entity.Player](m.Node).Next()
	must(t, err)
	return id
}

func TestFleetSchema(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		dsn := newDSN()
		var fleets []*fleet.Fleet
		for range 4 {
			fleets = append(fleets, openFleet(t, dsn))
		}
		if !strings.HasPrefix(dsn, "sqlite:") {
			_, err := fleets[0].List(ctx)
			says(t, err, store.ErrSchema, "no fleet registry yet", "gameid servers init")
		} else {
			_, err := fleets[0].List(ctx)
			says(t, err, store.ErrUnavailable, "no such file", "gameid servers init")
		}
		var wg sync.WaitGroup
		for _, f := range fleets {
			wg.Go(func() {
				if err := f.Create(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, f := range fleets {
			must(t, f.Create(ctx)) // again
			if servers, err := f.List(ctx); err != nil || len(servers) != 0 {
				t.Errorf("a new fleet registry has %v, %v", servers, err)
			}
		}
		var ids []string
		must(t, fleets[0].DB().Select(ctx, &ids, "SELECT id FROM fleet_registry"))
		if len(ids) != 1 || !regexp.MustCompile("^[0-9a-f]{32}$").MatchString(ids[0]) {
			t.Errorf("the identity is %q", ids)
		}
	})
}

// The password of a fleet registry is in no message.
func TestFleetHidesThePassword(t *testing.T) {
	t.Parallel()
	f, err := fleet.Open("mysql:root:hunter2@tcp(127.0.0.1:1)/fleet")
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

// A fleet registry without its identity is no fleet registry: the error says what is gone.
func TestNoIdentity(t *testing.T) {
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "fleet.db")
	newFleet(t, dsn)
	storetest.ExecAll(t, dsn, "DELETE FROM fleet_registry")
	_, err := openFleet(t, dsn).Identity(t.Context())
	says(t, err, store.ErrSchema, "fleet_registry has no row", "backup")
}
