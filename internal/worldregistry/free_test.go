package worldregistry_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/registry"
	"mergesafe/store/storetest"
)

func TestNumberRange(t *testing.T) {
	for _, tt := range []struct {
		numbers worldregistry.NumberRange
		text    string
		count   int
		wrong   string
	}{
		{worldregistry.NumberRange{First: 40, Last: 59}, "40-59", 20, ""},
		{worldregistry.NumberRange{First: 7, Last: 7}, "7-7", 1, ""},
		{worldregistry.NumberRange{First: 1, Last: worldregistry.MaxNumbers}, "1-4096", worldregistry.MaxNumbers, ""},
		{worldregistry.NumberRange{First: gameid.MaxServer, Last: gameid.MaxServer}, "1048575-1048575", 1, ""},
		{worldregistry.NumberRange{First: 1, Last: worldregistry.MaxNumbers + 1}, "1-4097", 4097, "has 4097 numbers: want at most 4096"},
		{worldregistry.NumberRange{First: 59, Last: 40}, "59-40", -18, "ends before it begins"},
		{worldregistry.NumberRange{}, "0-0", 1, "out of range"},
		{worldregistry.NumberRange{First: 1, Last: gameid.MaxServer + 1}, "1-1048576", 1048576, "out of range"},
	} {
		err := tt.numbers.Validate()
		if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s: %v, want %q", tt.numbers, err, tt.wrong)
		}
		if tt.numbers.String() != tt.text || tt.numbers.Len() != tt.count {
			t.Errorf("%v: %s with %d numbers, want %s with %d", tt.numbers, tt.numbers, tt.numbers.Len(), tt.text, tt.count)
		}
	}
}

// A number of the range is taken that no process holds; once all are held, the
// error names every holder; and a number that is given back is taken again, with
// IDs above those it had.
func TestOpenFreeNode(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		numbers := store.NumberRange{First: 40, Last: 43}
		nodes := make(map[gameid.ServerID]*gameid.Node)
		for range numbers.Len() {
			node, err := db.OpenFreeNode(ctx, numbers, nodeOptions)
			must(t, err)
			t.Cleanup(func() { node.Close() })
			if s := node.Server(); s < numbers.First || s > numbers.Last || nodes[s] != nil {
				t.Fatalf("got number %s of %s, with %v taken", s, numbers, nodes)
			}
			nodes[node.Server()] = node
		}
		_, err := db.OpenFreeNode(ctx, numbers, nodeOptions)
		full, ok := errors.AsType[*worldregistry.NoneFreeError](err)
		if !ok || len(full.Holders()) != numbers.Len() || full.Numbers != numbers {
			t.Fatalf("with all numbers taken: %v", err)
		}
		for i, held := range full.Holders() {
			if want := numbers.First + gameid.ServerID(i); held.Server != want || held.Holder.IsZero() {
				t.Errorf("holder %d is %+v, want that of %s", i, held, want)
			}
		}
		for _, part := range []string{"none of the 4 server numbers 40-43 is free", "processes hold 4; 40: ",
			"; and 1 more; stop a process", "gameid servers inspect "} {
			if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the message lacks %q: %v", part, err)
			}
		}

		newest, err := gameid.NewGenerator[entity.Player](nodes[42]).Next()
		must(t, err)
		must(t, nodes[42].Close())
		node, err := db.OpenFreeNode(ctx, numbers, nodeOptions)
		must(t, err)
		defer node.Close()
		if id, err := gameid.NewGenerator[entity.Player](node).Next(); err != nil || node.Server() != 42 || id.ID().Compare(newest.ID()) <= 0 {
			t.Errorf("after server 42 ended with %s: server %s, %s, %v", newest, node.Server(), id, err)
		}
	})
}

// Numbers that came by a merge or have a mark in the far future are
// passed over, and named if nothing else is left.
func TestOpenFreeNodePassesOver(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx, reg := t.Context(), storetest.World(db)
		addMerged(t, db, 41, 5)
		mark, err := gameid.MillisOf(time.Now().Add(24 * time.Hour))
		must(t, err)
		_, err = reg.CompareAndSet(ctx, 42, gameid.Record{}, gameid.Claim{Reserved: mark})
		must(t, err)

		for range 8 {
			node, err := db.OpenFreeNode(ctx, store.NumberRange{First: 41, Last: 43}, nodeOptions)
			must(t, err)
			if node.Server() != 43 {
				t.Errorf("took %s", node.Server())
			}
			must(t, node.Close())
		}
		_, err = db.OpenFreeNode(ctx, store.NumberRange{First: 41, Last: 42}, nodeOptions)
		if _, ok := errors.AsType[*worldregistry.NoneFreeError](err); !ok {
			t.Fatalf("no number is usable: %v", err)
		}
		if _, ok := errors.AsType[*gameid.MarkError](err); !ok {
			t.Errorf("no mark in: %v", err)
		}
		for _, part := range []string{"processes hold 0", "server 41 came to ", " by a merge", "gameid servers repair-mark"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the message lacks %q: %v", part, err)
			}
		}
	})
}

// A number that is bound in a fleet registry keeps the whole range from being
// used without it. Errors that are about no number end the search.
func TestOpenFreeNodeRefuses(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		numbers := store.NumberRange{First: 40, Last: 49}
		if _, err := db.OpenFreeNode(ctx, store.NumberRange{First: 9, Last: 8}, nodeOptions); err == nil {
			t.Error("took a number of an empty range")
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := db.OpenFreeNode(ended, numbers, nodeOptions); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
		bound := store.NumberRange{First: 47, Last: 47}
		must(t, storetest.World(db).Make(ctx, bound))
		must(t, storetest.World(db).Bind(ctx, bound, strings.Repeat("ab", 16)))
		for range 5 {
			_, err := db.OpenFreeNode(ctx, numbers, nodeOptions)
			if bound, ok := errors.AsType[*registry.BoundError](err); !ok || bound.Server != 47 {
				t.Fatalf("without its fleet registry: %v", err)
			}
		}
	})
}
