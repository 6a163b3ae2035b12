package worldregistry_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// starts opens the node of server 7, makes an ID and closes the node.
func starts(t testing.TB, db *store.DB) gameid.Of[entity.Player] {
	t.Helper()
	n, err := db.OpenNode(t.Context(), 7, nodeOptions)
	must(t, err)
	defer n.Close()
	id, err := gameid.NewGenerator[entity.Player](n).Next()
	must(t, err)
	return id
}

func TestRaiseMark(t *testing.T) {
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		before := starts(t, db)
		at := time.Now().Add(2 * time.Minute).Truncate(time.Millisecond)
		for _, to := range []time.Time{at, at.Add(-time.Minute)} { // the second time it lies there already
			if mark, err := storetest.World(db).RaiseMark(ctx, 7, to, nodeOptions.Options); err != nil || !gameid.TimeOf(mark).Equal(at) {
				t.Errorf("the mark is %s, %v, want %s", gameid.TimeOf(mark), err, at)
			}
		}
		if _, err := storetest.World(db).RaiseMark(ctx, 7, at.Add(time.Hour), nodeOptions.Options); err == nil || !strings.Contains(err.Error(), "would not start") {
			t.Errorf("a mark in the far future: %v", err)
		}
		if id := starts(t, db); !id.Time().After(at) || id.Compare(before) <= 0 {
			t.Errorf("%s after the mark %s", id, at)
		}
		node, err := db.OpenNode(ctx, 7, nodeOptions)
		must(t, err)
		defer node.Close()
		if _, ok := errors.AsType[*gameid.HeldError](storetest.Second(storetest.World(db).RaiseMark(ctx, 7, at, nodeOptions.Options))); !ok {
			t.Error("the mark of a live server was raised")
		}
		if err := storetest.Second(storetest.World(db).RaiseMark(ctx, 8, at, nodeOptions.Options)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a server that is not there: %v", err)
		}
	})
}
