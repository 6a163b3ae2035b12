package worldregistry_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/internal/worldregistry"
	"mergesafe/store/storetest"
)

// Random tokens of 10 bytes are no IDs: they neither refuse a server nor move its
// IDs into the future, however many there are.
func TestFloorTokens(t *testing.T) {
	for _, n := range []int{1, 15, 16, 100, 5_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			on := storetest.OnOneOrEach // how many are too few is decided in Go
			if n > 1000 {
				on = onEach
			}
			on(t, func(t *testing.T, newDSN func() string) {
				ctx := t.Context()
				db := storetest.Open(t, newDSN())
				must(t, db.CreateRegistry(ctx))
				exec(t, db, "CREATE TABLE sessions (token BINARY(10) NOT NULL PRIMARY KEY)")
				var tokens []any
				for range n {
					token := make([]byte, gameid.Size)
					rand.Read(token)
					tokens = append(tokens, token)
				}
				if n > 1000 {
					// As many of them lie in the past as are counted, as in a table of
					// 300,000; and some would be IDs of this server.
					for i := range 1500 {
						tokens = append(tokens, storetest.ID[any](i))
					}
					for i := range 5 {
						tokens = append(tokens, storetest.IDOf[any](7, time.Now().AddDate(100*(i+1), 0, 0), i))
					}
				}
				for some := range slices.Chunk(tokens, 500) {
					exec(t, db, "INSERT INTO sessions VALUES "+strings.Repeat(",(?)", len(some))[1:], some...)
				}
				node, err := db.OpenNode(ctx, 7, nodeOptions)
				must(t, err)
				id, err := gameid.NewGenerator[any](node).Next()
				if err != nil || time.Until(id.Time()) > time.Minute {
					t.Errorf("minted %s, %v", id, err)
				}
				must(t, node.Close())
			})
		})
	}
}

func TestFloorColumns(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		db := storetest.Open(t, newDSN())
		must(t, db.CreateRegistry(ctx))
		// IDs of two tables and tokens, few enough to be taken for IDs, one of which
		// would be one of server 7 in a hundred years.
		now := time.Now().Truncate(time.Millisecond)
		at := map[string]time.Time{"mails": now.Add(-3 * time.Hour), "Pets": now.Add(-2 * time.Hour), "sessions": now.AddDate(100, 0, 0)}
		for table, last := range at {
			exec(t, db, "CREATE TABLE "+table+" (id BINARY(10) NOT NULL PRIMARY KEY)")
			exec(t, db, "INSERT INTO "+table+" VALUES (?)", storetest.IDOf[any](7, last, 1))
		}
		for _, test := range []struct {
			only, except []string
			want         string
		}{
			{nil, nil, "sessions"},
			{nil, []string{"sessions.id"}, "Pets"},
			{nil, []string{"SESS*.*", "pet?.id"}, "mails"},
			{[]string{"mails.*"}, nil, "mails"},
			{[]string{"mails.*", "pets.id"}, nil, "Pets"},
			{[]string{"*.id"}, []string{"sessions.*"}, "Pets"},
			{[]string{"*.token"}, nil, ""},
		} {
			floor, err := storetest.World(db).Floor(ctx, 7, worldregistry.NodeOptions{FloorOnly: test.only, FloorExcept: test.except})
			if err != nil || test.want == "" && floor != 0 || test.want != "" && !gameid.TimeOf(floor).Equal(at[test.want]) {
				t.Errorf("%+v: the floor is %s, %v, want that of %q", test, gameid.TimeOf(floor), err, test.want)
			}
		}
		options := nodeOptions
		for _, bad := range []string{"sessions", "a.b.c", "a[.b", ""} {
			options.FloorExcept = []string{bad}
			if _, err := db.OpenNode(ctx, 7, options); err == nil || !strings.Contains(err.Error(), "want table.column") {
				t.Errorf("%q: %v", bad, err)
			}
		}
		if _, err := db.OpenNode(ctx, 7, nodeOptions); err == nil {
			t.Error("a server with an ID of a hundred years ahead was opened")
		}
		options.FloorExcept = []string{"sessions.*"}
		node, err := db.OpenNode(ctx, 7, options)
		must(t, err)
		must(t, node.Close())
	})
}

// Of a key of several columns only the first is looked at: to find the largest ID
// of another one takes reading the whole table.
func TestFloorOfCompositeKeys(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		db := storetest.Open(t, newDSN())
		must(t, db.CreateRegistry(t.Context()))
		born := time.Now().Truncate(time.Millisecond)
		at := func(minutes int) gameid.Of[any] {
			return storetest.IDOf[any](7, born.Add(time.Duration(minutes)*time.Minute), 1)
		}
		const columns = " (id BINARY(10) NOT NULL, other BINARY(10) NOT NULL, slot INT NOT NULL, "
		for i, table := range []string{
			"a" + columns + "PRIMARY KEY (slot, id))",
			"b" + columns + "PRIMARY KEY (id, slot, other))",
			"c" + columns + "PRIMARY KEY (other, id))",
			"d" + columns + "PRIMARY KEY (slot, other))",
		} {
			exec(t, db, "CREATE TABLE "+table)
			exec(t, db, "INSERT INTO "+table[:1]+" VALUES (?, ?, 1)", at(10*i), at(10*i+1))
		}
		floor, err := storetest.World(db).Floor(t.Context(), 7, worldregistry.NodeOptions{})
		must(t, err)
		if want := at(21); floor != want.ID().Millis() {
			t.Errorf("the floor is %s, want %s", gameid.TimeOf(floor), want.Time())
		}
	})
}

// BenchmarkFloor opens a node in a database with many tables; making them takes
// longer.
//
//	go run ./internal/servertest/with-server -- go test ./internal/worldregistry -run '^$' -bench Floor -benchtime 5x
//
// The first is cold: the server has none of the tables open.
func BenchmarkFloor(b *testing.B) {
	for _, key := range []string{"id", "id, slot"} {
		for _, tables := range []int{500, 5_000} {
			b.Run(fmt.Sprintf("%d tables of key (%s)", tables, key), func(b *testing.B) {
				ctx := b.Context()
				db := storetest.Open(b, "mysql:"+servertest.DSN(b))
				must(b, db.CreateRegistry(ctx))
				for i := range tables {
					exec(b, db, fmt.Sprintf("CREATE TABLE t%d (id BINARY(10) NOT NULL, slot INT NOT NULL, PRIMARY KEY (%s))", i, key))
					exec(b, db, fmt.Sprintf("INSERT INTO t%d VALUES (?, 1)", i), storetest.ID[any](i))
				}
				b.ResetTimer()
				for range b.N {
					node, err := db.OpenNode(ctx, 7, nodeOptions)
					must(b, err)
					b.StopTimer()
					must(b, node.Close())
					b.StartTimer()
				}
				b.StopTimer()
				b.Logf("%s for each of %d", b.Elapsed()/time.Duration(b.N), b.N)
				for i := range tables { // to drop all at once would take longer than the clean-up may
					exec(b, db, fmt.Sprintf("DROP TABLE t%d", i))
				}
			})
		}
	}
}

// In PostgreSQL a game may make a type of its own for IDs.
func TestFloorOfDomains(t *testing.T) {
	db := storetest.Open(t, servertest.PostgresDSN(t))
	must(t, db.CreateRegistry(t.Context()))
	exec(t, db, "CREATE DOMAIN game_id AS BYTEA CHECK (octet_length(VALUE) = 10)")
	exec(t, db, "CREATE DOMAIN player_id AS game_id")
	exec(t, db, "CREATE TABLE players (id player_id PRIMARY KEY)")
	id := storetest.IDOf[any](7, time.Now().Truncate(time.Millisecond), 1)
	exec(t, db, "INSERT INTO players VALUES (?)", id)
	floor, err := storetest.World(db).Floor(t.Context(), 7, worldregistry.NodeOptions{})
	must(t, err)
	if floor != id.ID().Millis() {
		t.Errorf("the floor is %s, want %s", gameid.TimeOf(floor), id.Time())
	}
	found, err := storetest.World(db).IDs(t.Context(), 7, 0)
	must(t, err)
	if len(found) != 1 || found[0].Largest != id.ID() {
		t.Errorf("the IDs of the table: %+v", found)
	}
}
