package store_test

import (
	"slices"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/store/registry"
	"mergesafe/store/storetest"
)

// A game sees its own server and those that came by a merge.
func TestServers(t *testing.T) {
	db := storetest.WithTables(t, "sqlite:"+t.TempDir()+"/game.db")
	r := db.Registry()
	node, err := db.OpenNode(t.Context(), 7, storetest.NodeOptions)
	storetest.Must(t, err)
	storetest.Must(t, r.SetName(t.Context(), 7, "seven"))
	_, err = storetest.World(db).CompareAndSet(t.Context(), 12, gameid.Record{}, gameid.Claim{})
	storetest.Must(t, err)
	storetest.Exec(t, db, "UPDATE gameid_servers SET role = 'merged' WHERE server_id = 12")
	servers, err := r.Servers(t.Context())
	storetest.Must(t, err)
	storetest.Must(t, node.Close())
	own, merged := servers[0], servers[1]
	want := []registry.Server{
		{ID: 7, Name: "seven", World: own.World, Holder: node.Holder(), LeaseUntil: own.LeaseUntil, Leased: true},
		{ID: 12, World: merged.World, Merged: true, LeaseUntil: merged.LeaseUntil},
	}
	if !slices.Equal(servers, want) || len(own.World) != 32 || time.Until(own.LeaseUntil) <= 0 {
		t.Errorf("got %+v, want %+v", servers, want)
	}
}
