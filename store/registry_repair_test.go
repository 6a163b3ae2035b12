package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
)

// broken is a clock that is years ahead.
const broken = 10 * 365 * 24 * time.Hour

// leaveMark writes a mark, as a node that has ended would leave it.
func leaveMark(t testing.TB, db *store.DB, at time.Time) {
	t.Helper()
	ms, err := gameid.MillisOf(at)
	must(t, err)
	exec(t, db, "UPDATE gameid_servers SET reserved_ms = ? WHERE server_id = 7", ms)
}

func starts(t testing.TB, db *store.DB, f *store.Fleet) gameid.Of[entity.Player] {
	t.Helper()
	if f != nil {
		m := join(t, db, f, 7)
		defer m.Close()
		return mint(t, m)
	}
	n, err := db.OpenNode(t.Context(), 7, nodeOptions)
	must(t, err)
	defer n.Close()
	id, err := gameid.NewGenerator[entity.Player](n).Next()
	must(t, err)
	return id
}

func plan(t testing.TB, db *store.DB, f *store.Fleet) *store.MarkPlan {
	t.Helper()
	p, err := db.PlanMark(t.Context(), f, 7, nodeOptions)
	must(t, err)
	return p
}

func isMarkError(t testing.TB, err error) {
	t.Helper()
	if _, ok := errors.AsType[*gameid.MarkError](err); !ok || !strings.Contains(err.Error(), "gameid servers repair-mark") || !strings.HasSuffix(err.Error(), "-server 7") {
		t.Errorf("a mark in the far future: %v", err)
	}
}

func TestRepairMark(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		if _, err := db.PlanMark(ctx, nil, 7, nodeOptions); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a server that is not there: %v", err)
		}
		first := starts(t, db, nil)
		p := plan(t, db, nil)
		if p.Late() || p.Useful() || !p.Enough() || p.Largest().Largest.IsValid() {
			t.Errorf("a healthy server: %+v", p)
		}

		// Only the mark.
		leaveMark(t, db, time.Now().Add(broken))
		_, err := db.OpenNode(ctx, 7, nodeOptions)
		isMarkError(t, err)
		hero := player(1)
		hero.ID = first
		must(t, store.Players.Insert(ctx, db, hero))
		p = plan(t, db, nil)
		if l := p.Largest(); !p.Late() || !p.Useful() || !p.Enough() || l.Table != "players" || l.Column != "id" || l.Largest != first.ID() || l.Late != 0 {
			t.Errorf("got %+v", p)
		}
		if d := gameid.TimeOf(p.Lowered).Sub(p.Now); d != 0 || time.Since(p.Now).Abs() > time.Minute {
			t.Errorf("the mark is lowered to %s, it is %s", gameid.TimeOf(p.Lowered), p.Now)
		}
		_, err = db.OpenNode(ctx, 7, nodeOptions)
		isMarkError(t, err) // a plan changes nothing
		must(t, db.LowerMark(ctx, nil, p, note))
		if id := starts(t, db, nil); id.Millis() <= p.Lowered {
			t.Errorf("%s is not above the lowered mark %d", id, p.Lowered)
		}
		if err := db.LowerMark(ctx, nil, p, note); err == nil || !strings.Contains(err.Error(), "changed by somebody else") {
			t.Errorf("a plan that is out of date: %v", err)
		}

		// IDs a little late, in any column, are never gone below.
		leaveMark(t, db, time.Now().Add(broken))
		exec(t, db, "CREATE TABLE mails (id INT PRIMARY KEY, about BINARY(10) NULL, noise BINARY(16) NULL)")
		late := idOf[entity.Item](7, time.Now().Add(4*time.Minute), 5)
		exec(t, db, "INSERT INTO mails VALUES (1, ?, NULL), (2, NULL, NULL), (3, ?, ?)", late, idOf[entity.Item](8, gameid.Last(), 0), make([]byte, 16))
		p = plan(t, db, nil)
		if l := p.Largest(); !p.Useful() || !p.Enough() || l.Largest != late.ID() || l.Table != "mails" || l.Column != "about" || p.Lowered != late.Millis() {
			t.Errorf("got %+v", p)
		}
		must(t, db.LowerMark(ctx, nil, p, note))
		if id := starts(t, db, nil); id.Compare(gameid.As[entity.Player](late.ID())) <= 0 {
			t.Errorf("%s after %s", id, late)
		}

		// IDs in the far future exist: the mark is lowered to them, and that
		// is not enough.
		leaveMark(t, db, time.Now().Add(broken))
		far := idOf[entity.Item](7, time.Now().Add(broken/2), 5)
		exec(t, db, "INSERT INTO mails VALUES (4, ?, NULL), (5, ?, NULL)", far, idOf[entity.Item](7, time.Now().Add(broken/3), 5))
		p = plan(t, db, nil)
		if l := p.Largest(); !p.Late() || !p.Useful() || p.Enough() || l.Largest != far.ID() || l.Late != 2 || p.Lowered != far.Millis() {
			t.Errorf("got %+v", p)
		}
		must(t, db.LowerMark(ctx, nil, p, note))
		_, err = db.OpenNode(ctx, 7, gameid.Options{MaxSkew: broken})
		must(t, err)
		exec(t, db, "UPDATE gameid_servers SET lease_until_ms = 0, holder = ''")
		exec(t, db, "DELETE FROM mails WHERE id > 3")
		must(t, db.LowerMark(ctx, nil, plan(t, db, nil), note))
		starts(t, db, nil)

		// Not while it runs, and not by a wrong clock.
		n, err := db.OpenNode(ctx, 7, nodeOptions)
		must(t, err)
		_, err = db.PlanMark(ctx, nil, 7, nodeOptions)
		if _, ok := errors.AsType[*gameid.HeldError](err); !ok {
			t.Errorf("a live server: %v", err)
		}
		must(t, n.Close())
		_, err = db.PlanMark(ctx, nil, 7, gameid.Options{Clock: slow{gameid.SystemClock()}, MaxSkew: 30 * time.Second})
		if _, ok := errors.AsType[*gameid.ClockError](err); !ok {
			t.Errorf("a wrong clock: %v", err)
		}
		exec(t, db, "UPDATE gameid_servers SET role = 'merged'")
		if _, err := db.PlanMark(ctx, nil, 7, nodeOptions); err == nil || !strings.Contains(err.Error(), "by a merge") {
			t.Errorf("a merged server: %v", err)
		}
	})
}

func TestRepairMarkInFleet(t *testing.T) {
	onBothWithFleet(t, func(t *testing.T, f *store.Fleet, newDSN func() string) {
		ctx := t.Context()
		db := withTables(t, newDSN())
		claimed(t, f, 7)
		m := join(t, db, f, 7)
		mint(t, m)
		far, err := gameid.MillisOf(time.Now().Add(broken))
		must(t, err)
		fleetMark := func(ms int64) { exec(t, f.DB(), "UPDATE fleet_servers SET mark_ms = ?", ms) }
		_, err = db.PlanMark(ctx, f, 7, nodeOptions)
		if _, ok := errors.AsType[*gameid.HeldError](err); !ok {
			t.Errorf("a live server: %v", err)
		}
		exec(t, db, "UPDATE gameid_servers SET lease_until_ms = 0")
		_, err = db.PlanMark(ctx, f, 7, nodeOptions)
		says(t, err, store.ErrRunning)
		must(t, m.Close())
		backup := copyOf(t, db, newDSN())
		starts(t, db, f)

		// The world reported what the broken clock had reserved.
		leaveMark(t, db, gameid.TimeOf(far))
		fleetMark(far)
		_, err = db.JoinFleet(ctx, f, 7, nodeOptions, byHand)
		isMarkError(t, err)
		if _, err := db.PlanMark(ctx, nil, 7, nodeOptions); err == nil || !strings.Contains(err.Error(), "is bound in a fleet registry") {
			t.Errorf("without the fleet registry: %v", err)
		}
		p := plan(t, db, f)
		if !p.Late() || !p.Useful() || !p.Enough() || p.FleetMark != far || p.OlderCopy {
			t.Errorf("got %+v", p)
		}
		must(t, db.LowerMark(ctx, f, p, store.Note{By: "anna", Why: "the clock of host-a was ten years ahead"}))
		s, history := shown(t, f, 7)
		if h := history[len(history)-1]; s.Mark != p.Lowered || h.Action != "lower mark" || h.By != "anna" || !strings.HasPrefix(h.Why, "the clock of host-a was ten years ahead (from 20") {
			t.Errorf("got %+v with %+v", s, h)
		}
		starts(t, db, f)

		// Broken off between the two: a second attempt finishes.
		leaveMark(t, db, gameid.TimeOf(far))
		p = plan(t, db, f)
		must(t, db.LowerMark(ctx, f, p, note))
		starts(t, db, f)

		// Of an older copy the tables do not tell all: the mark of the fleet
		// registry stands.
		fleetMark(far)
		p = plan(t, backup, f)
		if !p.OlderCopy || p.Useful() || p.Enough() || p.Lowered != far {
			t.Errorf("got %+v", p)
		}
		leaveMark(t, backup, gameid.TimeOf(far+5000))
		p = plan(t, backup, f)
		if !p.Useful() || p.Lowered != far {
			t.Errorf("got %+v", p)
		}
		must(t, backup.LowerMark(ctx, f, p, note))
		if s, _ := shown(t, f, 7); s.Mark != far {
			t.Errorf("the mark in the fleet registry is %d now, was %d", s.Mark, far)
		}

		// A world that is in no fleet does not need its registry.
		lone := withTables(t, newDSN())
		exec(t, lone, "INSERT INTO gameid_servers (server_id, world, role, epoch, reserved_ms, lease_until_ms, created_ms, updated_ms) VALUES (8, 'abc', 'own', 1, 5, 0, 0, 0)")
		if p, err := lone.PlanMark(ctx, f, 8, nodeOptions); err != nil || p.Late() {
			t.Errorf("a world in no fleet: %+v, %v", p, err)
		}
	})
}
