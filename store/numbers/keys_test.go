package numbers_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/storetest"
)

type item struct {
	ID   gameid.Key[item] `db:"id" json:"id"`
	Name string           `db:"name" json:"name"`
}

func openKeys(t testing.TB, db *store.DB, server gameid.ServerID, o numbers.KeyOptions) *numbers.Keys[item] {
	t.Helper()
	o.Timeout = cmp.Or(o.Timeout, time.Minute) // on a busy machine 10 s may be too short
	k, err := numbers.OpenKeys[item](t.Context(), db.Registry(), server, "item", o)
	must(t, err)
	t.Cleanup(func() { k.Close() })
	return k
}

func nextKey(t testing.TB, k *numbers.Keys[item]) int64 {
	t.Helper()
	got, err := k.Next(t.Context())
	must(t, err)
	return int64(got)
}

func TestKeys(t *testing.T) {
	storetest.OnEach(t, func(t *testing.T, newDSN func() string) {
		db := withTables(t, newDSN())
		ran(t, db, 7)
		exec(t, db, "CREATE TABLE loot (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL)")
		inLoot := numbers.KeyOptions{Columns: []string{"loot.id"}, MinBlock: 10}
		k := openKeys(t, db, 7, inLoot)
		sword := item{Name: "sword"}
		for i := range int64(25) {
			var err error
			sword.ID, err = k.Next(t.Context())
			must(t, err)
			if want := 7<<43 + 1 + i; int64(sword.ID) != want {
				t.Fatalf("key %d is %d, want %d", i, sword.ID, want)
			}
		}
		if got := k.Stats(); got.Issued != 25 || got.Blocks < 2 || got.Err != nil {
			t.Errorf("after 25 keys: %+v", got)
		}
		exec(t, db, fmt.Sprintf("INSERT INTO loot VALUES (%d, 'sword')", sword.ID))
		var read item
		must(t, db.Get(t.Context(), &read, "SELECT * FROM loot WHERE id = ?", sword.ID))
		if text, err := json.Marshal(read); read != sword || string(text) != `{"id":61572651155481,"name":"sword"}` || err != nil {
			t.Errorf("read %+v: %s, %v", read, text, err)
		}
		// Close gives the rest back; keys of another server in the table do not matter.
		must(t, k.Close())
		exec(t, db, fmt.Sprintf("INSERT INTO loot VALUES (%d, 'of server 9'), (17, 'old')", int64(9)<<43+5))
		k = openKeys(t, db, 7, inLoot)
		if got := nextKey(t, k); got != int64(sword.ID)+1 {
			t.Errorf("after Close: %d", got)
		}
		must(t, k.Close())
		// A row that forgot: the column is asked.
		for _, lose := range []string{"DELETE FROM gameid_numbers", "UPDATE gameid_numbers SET next_number = next_number - 20"} {
			exec(t, db, lose)
			k = openKeys(t, db, 7, inLoot)
			if got := nextKey(t, k); got <= int64(sword.ID) {
				t.Errorf("%s: %d comes again", lose, got)
			}
			must(t, k.Close())
		}
		// Short numbers of the same name are another sequence.
		same(t, "short numbers", take(t, share(t, db).open(t, numbers.Options{}), 1), run(9170000, 9170000))

		for _, bad := range []struct {
			name, want string
			o          numbers.KeyOptions
		}{
			{"item", `it was begun as "key63:item", so keys could be issued twice`, numbers.KeyOptions{Form: gameid.Narrow}},
			{"item", "want gameid.Wide or gameid.Narrow", numbers.KeyOptions{Form: 40}},
			{"item", `"items" in numbers.KeyOptions.Columns is not a column`, numbers.KeyOptions{Columns: []string{"items"}}},
			{"item", "look for keys in use", numbers.KeyOptions{Columns: []string{"nothing.id"}}},
			{"", "needs a name", numbers.KeyOptions{}},
			{strings.Repeat("x", 59), "is not allowed for a sequence", numbers.KeyOptions{}},
		} {
			if _, err := numbers.OpenKeys[item](t.Context(), db.Registry(), 7, bad.name, bad.o); err == nil || !strings.Contains(err.Error(), bad.want) {
				t.Errorf("%q, %+v: %v", bad.name, bad.o, err)
			}
		}
		if _, err := numbers.Open(t.Context(), db.Registry(), 7, "key53:item", numbers.Options{}); err == nil || !strings.Contains(err.Error(), "names that begin with key53: are for keys") {
			t.Errorf("short numbers of that name: %v", err)
		}
		if _, err := numbers.OpenKeys[item](t.Context(), db.Registry(), 8, "item", numbers.KeyOptions{}); err == nil || !strings.Contains(err.Error(), "server 8 has never run") {
			t.Errorf("of a server that never ran: %v", err)
		}
	})
}

// The last server has keys below the ends of both forms, and then none.
func TestKeysUsedUp(t *testing.T) {
	db := withTables(t, "sqlite:"+t.TempDir()+"/game.db")
	ran(t, db, gameid.MaxServer)
	exec(t, db, "CREATE TABLE loot (id BIGINT NOT NULL PRIMARY KEY)")
	for form, limit := range map[gameid.KeyForm]int64{gameid.Wide: math.MaxInt64 - 1<<24, gameid.Narrow: 1<<53 - 1<<24 - 1} {
		exec(t, db, "DELETE FROM gameid_numbers")
		exec(t, db, "DELETE FROM loot")
		if got := nextKey(t, openKeys(t, db, gameid.MaxServer, numbers.KeyOptions{Form: form})); got != form.Join(gameid.MaxServer, 1) {
			t.Errorf("the first is %d", got)
		}
		exec(t, db, "DELETE FROM gameid_numbers")
		exec(t, db, fmt.Sprintf("INSERT INTO loot VALUES (%d)", limit-2))
		k := openKeys(t, db, gameid.MaxServer, numbers.KeyOptions{Form: form, Columns: []string{"loot.id"}, MinBlock: 1, MaxBlock: 1})
		if a, b := nextKey(t, k), nextKey(t, k); a != limit-1 || b != limit {
			t.Errorf("the last are %d and %d, want %d", a, b, limit)
		}
		if got, err := k.Next(t.Context()); !errors.Is(err, numbers.ErrUsedUp) || got != 0 {
			t.Errorf("after the last: %d, %v", got, err)
		}
	}
}

// Whatever processes of two servers do, and whatever their row forgets, no key comes twice, and
// each says its server and its form.
func TestKeysProperty(t *testing.T) {
	storetest.OnOneOrEach(t, func(t *testing.T, newDSN func() string) {
		db := withTables(t, newDSN())
		exec(t, db, "CREATE TABLE loot (id BIGINT NOT NULL PRIMARY KEY)")
		for _, server := range []gameid.ServerID{7, 300_000} {
			ran(t, db, server)
		}
		form := gameid.Wide
		seen := make(map[int64]bool)
		var crashed []*numbers.Keys[item] // which may be asking for their next block still
		rapid.Check(t, func(rt *rapid.T) {
			if rapid.IntRange(0, 5).Draw(rt, "new") == 0 { // from the beginning, in the other form
				form = gameid.Wide + gameid.Narrow - form
				clear(seen)
				for _, k := range crashed { // one that takes a block from now on would begin the sequence in its form
					k.Close()
				}
				crashed = nil
				exec(t, db, "DELETE FROM loot")
				exec(t, db, "DELETE FROM gameid_numbers")
			}
			var open []*numbers.Keys[item]
			of := make(map[*numbers.Keys[item]]gameid.ServerID)
			defer func() {
				for _, k := range open {
					k.Close()
				}
			}()
			for range rapid.IntRange(1, 5).Draw(rt, "steps") {
				what := rapid.SampledFrom([]string{"open", "take", "take", "take", "close", "crash", "forget"}).Draw(rt, "what")
				switch i := rapid.IntRange(0, 99).Draw(rt, "which"); {
				case what == "open" || len(open) == 0:
					server := rapid.SampledFrom([]gameid.ServerID{7, 300_000}).Draw(rt, "server")
					k := openKeys(t, db, server, numbers.KeyOptions{
						Form: form, Columns: []string{"loot.id"}, MinBlock: rapid.IntRange(1, 30).Draw(rt, "block")})
					open, of[k] = append(open, k), server
				case what == "take":
					k, last := open[i%len(open)], int64(0)
					for range rapid.IntRange(1, 60).Draw(rt, "count") {
						last = nextKey(t, k)
						server, counter, ok := form.Split(last)
						if seen[last] || !ok || server != of[k] || form.Join(server, counter) != last {
							rt.Fatalf("%d came twice (%t), or is not of server %s", last, seen[last], of[k])
						}
						seen[last] = true
					}
					exec(t, db, fmt.Sprintf("INSERT INTO loot VALUES (%d)", last))
				case what == "close" || what == "crash": // then what it has is lost
					if what == "close" {
						must(t, open[i%len(open)].Close())
					} else {
						crashed = append(crashed, open[i%len(open)])
					}
					open = append(open[:i%len(open)], open[i%len(open)+1:]...)
				case what == "forget": // no process runs, and the row is restored
					for _, k := range open {
						must(t, k.Close())
					}
					open = nil
					exec(t, db, "UPDATE gameid_numbers SET next_number = next_number - 500")
				}
			}
		})
	})
}

func BenchmarkKeys(b *testing.B) {
	db := withTables(b, "sqlite:"+b.TempDir()+"/game.db")
	ran(b, db, 7)
	k := openKeys(b, db, 7, numbers.KeyOptions{MinBlock: 10_000_000, MaxBlock: 10_000_000})
	ctx := b.Context()
	for b.Loop() {
		if _, err := k.Next(ctx); err != nil {
			b.Fatal(err)
		}
	}
}
