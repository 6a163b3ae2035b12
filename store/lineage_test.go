package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/store"
)

// A fence refuses every start until the one who made it lifts it. A server that
// runs is not fenced.
func TestFence(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		ctx, r := t.Context(), db.Registry()
		since := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
		ours, others := store.FenceTo("m1", "s1", since), store.FenceTo("m2", "s9", since)
		held := new(gameid.HeldError)
		if err := r.Fence(ctx, 7, ours); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a server that is not there: %v", err)
		}
		node, err := db.OpenNode(ctx, 7, gameid.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Fence(ctx, 7, ours); !errors.As(err, &held) {
			t.Errorf("a server that runs: %v", err)
		}
		if err := node.Close(); err != nil {
			t.Fatal(err)
		}
		mark := servers(t, db)[0].Reserved
		for range 2 {
			if err := r.Fence(ctx, 7, ours); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Fence(ctx, 7, others); !errors.As(err, &held) {
			t.Errorf("what another merge has fenced: %v", err)
		}
		s := servers(t, db)[0]
		if into, at, ok := s.FencedInto(); !ok || into != "s1" || !at.Equal(since) || !s.Fenced("m1") || s.Fenced("m2") || s.FenceFree("m2") || !s.FenceFree("m1") || s.Reserved != mark {
			t.Errorf("%+v", s)
		}
		// Whoever wants it to start learns of the merge, not of a process.
		fenced := new(store.FencedError)
		_, err = db.OpenNode(ctx, 7, gameid.Options{})
		_, err2 := db.RaiseMark(ctx, 7, time.Now(), gameid.Options{})
		for _, err := range []error{err, err2, db.LeaveFleet(ctx, 7), db.EndLeases(ctx, nil, leases(t, db, nil), 0, note)} {
			if !errors.As(err, &held) || !errors.As(err, &fenced) || fenced.Fence != (store.Fence{Merge: "m1", Into: "s1", Since: since}) {
				t.Errorf("what is fenced: %v", err)
			} else if text := err.Error(); !strings.Contains(text, `went to "s1" by the merge "m1", on 2026-11-21T03:00:00Z`) || !strings.Contains(text, "servermerge undo") || strings.Contains(text, "gameid servers release") {
				t.Errorf("a fence is told as %q", text)
			}
		}
		if !servers(t, db)[0].Fenced("m1") {
			t.Error("the fence was ended as a lease")
		}
		if err := r.LiftFence(ctx, 7, "m2"); err != nil || !servers(t, db)[0].Fenced("m1") {
			t.Errorf("another merge lifted it: %v", err)
		}
		for range 2 {
			if err := r.LiftFence(ctx, 7, "m1"); err != nil {
				t.Fatal(err)
			}
		}
		if node, err = db.OpenNode(ctx, 7, gameid.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := node.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Merged worlds are listed with their marks, below which their servers cannot
// start, and taken off again.
func TestMergedServers(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		ctx, r := t.Context(), db.Registry()
		mark, err := gameid.MillisOf(time.Now().Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		merged := []store.Server{{ID: 12, Name: "twelve", World: "w12", Reserved: mark, Epoch: 5}, {ID: 13, World: "w13", Reserved: 1}}
		if err := r.AddMerged(ctx, db, merged...); err != nil {
			t.Fatal(err)
		}
		all := servers(t, db)
		if len(all) != 2 || all[0].Role != store.RoleMerged || all[0].World != "w12" || all[0].Name != "twelve" || all[0].Reserved != mark || all[0].Leased {
			t.Errorf("%+v", all)
		}
		if err := r.AddMerged(ctx, db, store.Server{ID: 14, World: "w12"}); !errors.Is(err, store.ErrDuplicate) {
			t.Errorf("the same world again: %v", err)
		}
		if err := r.AddMerged(ctx, db, store.Server{ID: 12, World: "other"}); !errors.Is(err, store.ErrDuplicate) {
			t.Errorf("the same number again: %v", err)
		}
		node, err := db.OpenNode(ctx, 12, gameid.Options{})
		if err != nil {
			t.Fatal(err)
		}
		id, err := gameid.NewGenerator[int](node).Next()
		if err != nil || id.ID().Millis() <= mark {
			t.Errorf("%s is not above the mark %d: %v", id, mark, err)
		}
		if err := node.Close(); err != nil {
			t.Fatal(err)
		}
		if err := r.RemoveMerged(ctx, db, store.Server{ID: 12, World: "other"}, merged[1], merged[1]); err != nil {
			t.Fatal(err)
		}
		if all := servers(t, db); len(all) != 1 || all[0].ID != 12 {
			t.Errorf("%+v", all)
		}
	})
}

func servers(t *testing.T, db *store.DB) []store.Server {
	t.Helper()
	all, err := db.Registry().Servers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}
