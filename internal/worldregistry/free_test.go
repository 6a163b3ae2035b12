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

func TestServerRange(t *testing.T) {
	for _, tt := range []struct {
		servers worldregistry.ServerRange
		text    string
		count   int
		wrong   string
	}{
		{worldregistry.ServerRange{First: 40, Last: 59}, "40-59", 20, ""},
		{worldregistry.ServerRange{First: 7, Last: 7}, "7-7", 1, ""},
		{worldregistry.ServerRange{First: 1, Last: worldregistry.MaxRange}, "1-4096", worldregistry.MaxRange, ""},
		{worldregistry.ServerRange{First: gameid.MaxServer, Last: gameid.MaxServer}, "1048575-1048575", 1, ""},
		{worldregistry.ServerRange{First: 1, Last: worldregistry.MaxRange + 1}, "1-4097", 4097, "has 4097 servers: want at most 4096"},
		{worldregistry.ServerRange{First: 59, Last: 40}, "59-40", -18, "ends before it begins"},
		{worldregistry.ServerRange{}, "0-0", 1, "out of range"},
		{worldregistry.ServerRange{First: 1, Last: gameid.MaxServer + 1}, "1-1048576", 1048576, "out of range"},
	} {
		err := tt.servers.Validate()
		if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s: %v, want %q", tt.servers, err, tt.wrong)
		}
		if tt.servers.String() != tt.text || tt.servers.Len() != tt.count {
			t.Errorf("%v: %s with %d servers, want %s with %d", tt.servers, tt.servers, tt.servers.Len(), tt.text, tt.count)
		}
	}
}

// A server of the range is taken that no process holds; once all are held, the
// error names every holder; and a server that is given back is taken again, with
// IDs above those it had.
func TestOpenFreeNode(t *testing.T) {
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		servers := store.ServerRange{First: 40, Last: 43}
		nodes := make(map[gameid.ServerID]*gameid.Node)
		for range servers.Len() {
			node, err := db.OpenFreeNode(ctx, servers, nodeOptions)
			must(t, err)
			t.Cleanup(func() { node.Close() })
			if s := node.Server(); s < servers.First || s > servers.Last || nodes[s] != nil {
				t.Fatalf("got server %s of %s, with %v taken", s, servers, nodes)
			}
			nodes[node.Server()] = node
		}
		_, err := db.OpenFreeNode(ctx, servers, nodeOptions)
		full, ok := errors.AsType[*worldregistry.NoneFreeError](err)
		if !ok || len(full.Holders()) != servers.Len() || full.Servers != servers {
			t.Fatalf("with all servers taken: %v", err)
		}
		for i, held := range full.Holders() {
			if want := servers.First + gameid.ServerID(i); held.Server != want || held.Holder.IsZero() {
				t.Errorf("holder %d is %+v, want that of %s", i, held, want)
			}
		}
		for _, part := range []string{"none of the 4 servers 40-43 is free", "processes hold 4; 40: ",
			"; and 1 more; stop a process", "gameid servers inspect "} {
			if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the message lacks %q: %v", part, err)
			}
		}

		newest, err := gameid.NewGenerator[entity.Player](nodes[42]).Next()
		must(t, err)
		must(t, nodes[42].Close())
		node, err := db.OpenFreeNode(ctx, servers, nodeOptions)
		must(t, err)
		defer node.Close()
		if id, err := gameid.NewGenerator[entity.Player](node).Next(); err != nil || node.Server() != 42 || id.ID().Compare(newest.ID()) <= 0 {
			t.Errorf("after server 42 ended with %s: server %s, %s, %v", newest, node.Server(), id, err)
		}
	})
}

// Servers that came by a merge or have a mark in the far future are
// passed over, and named if nothing else is left.
func TestOpenFreeNodePassesOver(t *testing.T) {
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		ctx, reg := t.Context(), storetest.World(db)
		addMerged(t, db, 41, 5)
		mark, err := gameid.MillisOf(time.Now().Add(24 * time.Hour))
		must(t, err)
		_, err = reg.CompareAndSet(ctx, 42, gameid.Record{}, gameid.Claim{Reserved: mark})
		must(t, err)

		for range 8 {
			node, err := db.OpenFreeNode(ctx, store.ServerRange{First: 41, Last: 43}, nodeOptions)
			must(t, err)
			if node.Server() != 43 {
				t.Errorf("took %s", node.Server())
			}
			must(t, node.Close())
		}
		_, err = db.OpenFreeNode(ctx, store.ServerRange{First: 41, Last: 42}, nodeOptions)
		if _, ok := errors.AsType[*worldregistry.NoneFreeError](err); !ok {
			t.Fatalf("no server is usable: %v", err)
		}
		if _, ok := errors.AsType[*gameid.MarkError](err); !ok {
			t.Errorf("no mark in: %v", err)
		}
		for _, part := range []string{"processes hold 0", "server 41 was merged into ", "gameid servers repair-mark"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the message lacks %q: %v", part, err)
			}
		}
	})
}

// A server that is bound in a fleet registry keeps the whole range from being
// used without it. Errors that are about no server end the search.
func TestOpenFreeNodeRefuses(t *testing.T) {
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		servers := store.ServerRange{First: 40, Last: 49}
		if _, err := db.OpenFreeNode(ctx, store.ServerRange{First: 9, Last: 8}, nodeOptions); err == nil {
			t.Error("took a server of an empty range")
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := db.OpenFreeNode(ended, servers, nodeOptions); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
		bound := store.ServerRange{First: 47, Last: 47}
		must(t, storetest.World(db).Make(ctx, bound))
		must(t, storetest.World(db).Bind(ctx, bound, strings.Repeat("ab", 16)))
		for range 5 {
			_, err := db.OpenFreeNode(ctx, servers, nodeOptions)
			if bound, ok := errors.AsType[*registry.BoundError](err); !ok || bound.Server != 47 {
				t.Fatalf("without its fleet registry: %v", err)
			}
		}
	})
}
