package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	inner "mergesafe/internal/fleet"
	"mergesafe/store/fleet"
	"mergesafe/store/registry"
	"mergesafe/store/storetest"
)

// A world joins as the server that was claimed for it, or as a free server of its range; options, status and errors are
// those of the fleet registry.
func TestFleet(t *testing.T) {
	ctx := t.Context()
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "fleet.db")
	claims := storetest.NewFleet(t, dsn)
	f, err := fleet.Open(dsn)
	must(t, err)
	defer f.Close()
	if got := fmt.Sprintf("%v %#v", f, f); got != dsn+` fleet.Fleet("`+dsn+`")` {
		t.Errorf("it is shown as %s", got)
	}
	db := storetest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "game.db"))
	must(t, db.CreateRegistry(ctx))
	var states []fleet.State
	options := fleet.Options{Name: "s7", Heartbeat: time.Hour, OnChange: func(s fleet.Status) { states = append(states, s.State) }}
	if _, err := f.Join(ctx, db.Registry(), 7, storetest.NodeOptions, options); !errors.Is(err, fleet.ErrNotClaimed) {
		t.Errorf("a server that was not claimed: %v", err)
	}
	must(t, storetest.Second(claims.Claim(ctx, "s7", 7, inner.Note{})))
	m, err := f.Join(ctx, db.Registry(), 7, storetest.NodeOptions, options)
	must(t, err)
	if s := m.Status(); s.State != fleet.Joined || m.Node.Server() != 7 {
		t.Errorf("server %s, status %+v", m.Node.Server(), s)
	}
	must(t, m.Close())
	if len(states) != 2 || states[0] != fleet.Joined || states[1] != fleet.Left {
		t.Errorf("the states were %v", states)
	}
	servers := registry.ServerRange{First: 8, Last: 9}
	if _, err := f.JoinFree(ctx, db.Registry(), servers, storetest.NodeOptions, options); !errors.Is(err, fleet.ErrNotClaimed) {
		t.Errorf("a range that was not claimed: %v", err)
	}
	must(t, storetest.Second(claims.ClaimRange(ctx, "s8", servers, inner.Note{})))
	m, err = f.JoinFree(ctx, db.Registry(), servers, storetest.NodeOptions, options)
	must(t, err)
	if !(m.Node.Server() == 8 || m.Node.Server() == 9) {
		t.Errorf("server %s", m.Node.Server())
	}
	must(t, m.Close())
}
