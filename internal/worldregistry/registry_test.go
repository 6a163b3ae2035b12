package worldregistry_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

var nodeOptions = storetest.NodeOptions

func TestReserver(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		dsns := make(map[*testing.T]string)
		gameidtest.TestReserver(t, func(t *testing.T) gameid.Reserver {
			if dsns[t] == "" {
				dsns[t] = newDSN()
			}
			return storetest.World(withRegistry(t, dsns[t])) // connections of its own, like another process
		})
	})
}

func TestServers(t *testing.T) {
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		r := storetest.World(db)
		if servers, err := r.Servers(ctx); len(servers) != 0 || err != nil {
			t.Errorf("of a new database: %v, %v", servers, err)
		}
		if err := r.SetName(ctx, 7, "early"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a name for a server that is not there: %v", err)
		}
		node, err := db.OpenNode(ctx, 7, nodeOptions)
		must(t, err)
		must(t, r.SetName(ctx, 7, "Älder 7"))
		must(t, r.SetName(ctx, 7, "Älder 7")) // again
		if err := r.SetName(ctx, 7, strings.Repeat("x", 65)); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("a name of 65 characters: %v", err)
		}
		addMerged(t, db, 12, 42)

		before, err := r.Servers(ctx)
		must(t, err)
		if len(before) != 2 {
			t.Fatalf("got %v", before)
		}
		own, merged := before[0], before[1]
		if own.ID != 7 || own.Name != "Älder 7" || own.Role != worldregistry.RoleOwn || !own.Leased || own.Holder.PID == 0 || own.Epoch != 1 {
			t.Errorf("got %+v", own)
		}
		if merged.ID != 12 || merged.Role != worldregistry.RoleMerged || merged.Leased || merged.Reserved != 42 || !merged.Holder.IsZero() {
			t.Errorf("got %+v", merged)
		}
		if hex := regexp.MustCompile("^[0-9a-f]{32}$"); !hex.MatchString(own.World) || !hex.MatchString(merged.World) || own.World == merged.World {
			t.Errorf("the worlds are %q and %q", own.World, merged.World)
		}
		for what, at := range map[string]time.Time{"mark": gameid.TimeOf(own.Reserved), "lease": own.LeaseUntil, "created": own.CreatedAt, "updated": own.UpdatedAt} {
			if at.Location() != time.UTC || time.Since(at).Abs() > 3*time.Minute { // the lease is of 90 s
				t.Errorf("%s is %s", what, at)
			}
		}
		must(t, node.Close())
		after, err := r.Servers(ctx)
		must(t, err)
		if after[0].Leased || after[0].World != own.World || after[0].Epoch != 2 || after[0].Name != own.Name || after[0].CreatedAt != own.CreatedAt {
			t.Errorf("after the node was closed: %+v, was %+v", after[0], own)
		}
	})
}

func TestOpenNode(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		dsn := newDSN()
		db, second := storetest.WithTables(t, dsn), storetest.WithTables(t, dsn)
		node, err := db.OpenNode(ctx, 7, nodeOptions)
		must(t, err)
		_, err = second.OpenNode(ctx, 7, nodeOptions)
		if held, ok := errors.AsType[*gameid.HeldError](err); !ok || held.Holder.PID == 0 {
			t.Errorf("a second process: %v", err)
		}
		other, err := second.OpenNode(ctx, 8, nodeOptions)
		must(t, err)
		must(t, other.Close())

		// The row is lost, or comes from an old backup. What was stored tells
		// how far the IDs went.
		players := gameid.NewGenerator[entity.Player](node)
		var last entity.Player
		for i := range 10 {
			last = player(i)
			last.ID, err = players.Next()
			must(t, err)
			must(t, starter.Players.Insert(ctx, db, last))
		}
		must(t, node.Close())
		exec(t, db, "DELETE FROM gameid_servers WHERE server_id = 7")
		node, err = db.OpenNode(ctx, 7, store.NodeOptions{Options: gameid.Options{Clock: storetest.SlowClock()}})
		must(t, err)
		defer node.Close()
		next, err := gameid.NewGenerator[entity.Player](node).Next()
		if err != nil || next.Millis() <= last.ID.Millis() {
			t.Errorf("after %s came %s, %v", last.ID, next, err)
		}
	})
}

func TestFloor(t *testing.T) {
	type mail struct {
		ID   gameid.Of[mail] `db:"id"`
		Text string          `db:"text"`
	}
	mails := store.MustTable[gameid.Of[mail], mail]("mails")
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		exec(t, db, "CREATE TABLE mails (id BINARY(10) NOT NULL PRIMARY KEY, text VARCHAR(10) NOT NULL)")
		exec(t, db, "CREATE TABLE noise (id BINARY(16) NOT NULL PRIMARY KEY)") // no IDs of ours
		exec(t, db, "INSERT INTO noise VALUES (x'ffffffffffffffffffffffffffffffff')")
		exec(t, db, "CREATE TABLE zeros (id BINARY(10) NOT NULL PRIMARY KEY)")
		exec(t, db, "INSERT INTO zeros VALUES (x'ffffffffffff00000000')") // not an ID either: server 0
		now := time.Now().Truncate(time.Millisecond)
		ago := func(d time.Duration) time.Time { return now.Add(-d) }
		const h = time.Hour
		type row struct {
			server gameid.ServerID
			at     time.Time
		}
		for _, test := range []struct {
			name     string
			rows     []row
			reserved time.Time // the mark of server 7
			want     time.Time // or zero
		}{
			{name: "no rows"},
			{name: "own", rows: []row{{7, ago(3 * h)}, {7, ago(2 * h)}}, want: ago(2 * h)},
			{name: "below the mark", rows: []row{{7, ago(3 * h)}, {7, ago(2 * h)}}, reserved: ago(h)},
			{name: "at the mark", rows: []row{{7, ago(2 * h)}}, reserved: ago(2 * h)},
			{name: "above the mark", rows: []row{{7, ago(3 * h)}, {7, ago(2 * h)}}, reserved: ago(3 * h), want: ago(2 * h)},
			{name: "own in the future", rows: []row{{7, ago(-2 * h)}}, want: ago(-2 * h)},
			{name: "another later, in the past", rows: []row{{7, ago(3 * h)}, {8, ago(2 * h)}}, want: ago(2 * h)},
			{name: "another below the mark", rows: []row{{7, ago(3 * h)}, {8, ago(2 * h)}}, reserved: ago(h)},
			{name: "another in the future", rows: []row{{7, ago(3 * h)}, {8, ago(-2 * h)}}, want: ago(3 * h)},
			{name: "only another, in the future", rows: []row{{8, ago(-2 * h)}}},
			{name: "both in the future", rows: []row{{7, ago(-h)}, {8, ago(-2 * h)}, {8, ago(h)}}, want: ago(-h)},
			{name: "a mark in the future", rows: []row{{7, ago(-2 * h)}, {8, ago(-3 * h)}}, reserved: ago(-h), want: ago(-2 * h)},
			{name: "greatest of all", rows: []row{{7, gameid.Last()}, {gameid.MaxServer, gameid.Last()}}, want: gameid.Last()},
		} {
			t.Run(test.name, func(t *testing.T) {
				for i, row := range test.rows {
					must(t, mails.Insert(ctx, db, mail{ID: storetest.IDOf[mail](row.server, row.at, i)}))
				}
				exec(t, db, "DELETE FROM gameid_servers")
				if !test.reserved.IsZero() {
					mark, err := gameid.MillisOf(test.reserved)
					must(t, err)
					_, err = storetest.World(db).CompareAndSet(ctx, 7, gameid.Record{}, gameid.Claim{Reserved: mark})
					must(t, err)
				}
				floor, err := storetest.World(db).Floor(ctx, 7, worldregistry.NodeOptions{})
				if want := test.want; err != nil || floor != 0 && !gameid.TimeOf(floor).Equal(want) || floor == 0 && !want.IsZero() {
					t.Errorf("got floor %s, %v, want %s", gameid.TimeOf(floor), err, want)
				}
				exec(t, db, "DELETE FROM mails")
			})
		}
	})
}

// The floor comes from an index, however large the table is.
func TestFloorPlan(t *testing.T) {
	db := storetest.WithTables(t, "sqlite:"+t.TempDir()+"/x.db")
	var plan []struct {
		ID, Parent, Notused int
		Detail              string
	}
	must(t, db.Select(t.Context(), &plan, "EXPLAIN QUERY PLAN SELECT `id` FROM `items` WHERE `id` > ? ORDER BY `id` DESC LIMIT 1", storetest.ID[entity.Item](1)))
	if len(plan) != 1 || !strings.Contains(plan[0].Detail, "SEARCH items USING PRIMARY KEY") {
		t.Errorf("the plan is %v", plan)
	}
}

func TestRegistryOnReadOnly(t *testing.T) {
	dsn := "sqlite:" + t.TempDir() + "/x.db"
	db := withRegistry(t, dsn)
	node, err := db.OpenNode(t.Context(), 7, nodeOptions)
	must(t, err)
	defer node.Close()
	if _, err := openReadOnly(t, dsn).OpenNode(t.Context(), 8, nodeOptions); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("a node on a database opened read-only: %v", err)
	}
	servers, err := openReadOnly(t, dsn).Registry().Servers(t.Context())
	if err != nil || len(servers) != 1 || servers[0].ID != 7 {
		t.Errorf("got %v, %v", servers, err)
	}
}
