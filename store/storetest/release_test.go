package storetest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/fleet"
	"mergesafe/store/numbers"
	"mergesafe/store/storetest"
)

// fill runs the statements of a file of testdata on a database.
func fill(t *testing.T, db *store.DB, name string) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("testdata/%s_%s.sql", name, db.Dialect()))
	must(t, err)
	for statement := range strings.SplitSeq(strings.TrimSpace(string(text)), ";\n") {
		exec(t, db, statement)
	}
}

// The databases of release v0.1.0, of a world and of the fleet registry that it is bound in, are read by the present
// program: the world goes on above all IDs, numbers and keys that it has given out, and the fleet keeps what it knows.
func TestRelease(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		dsn, shared := newDSN(), newDSN()
		db, registryDB := open(t, dsn), open(t, shared)
		if db.Dialect() == store.PostgreSQL {
			t.Skip("its tables are as yet those of the present version")
		}
		fill(t, db, "v0.1.0/world")
		fill(t, registryDB, "v0.1.0/fleet")
		ctx := t.Context()
		must(t, storetest.Check(ctx, db))
		old, err := db.Registry().Server(ctx, 7)
		must(t, err)
		f, err := fleet.Open(shared)
		must(t, err)
		defer f.Close()
		member, err := f.Join(ctx, db.Registry(), 7, gameid.Options{}, fleet.Options{})
		must(t, err)
		defer member.Close()
		id, err := gameid.NewGenerator[entity.Player](member.Node).Next()
		if err != nil || old.Reserved == 0 || id.Millis() <= old.Reserved {
			t.Errorf("the next ID is %s, %v: not above the mark of %+v", id, err, old)
		}
		short, err := numbers.Open(ctx, db.Registry(), 7, "player", numbers.Options{})
		must(t, err)
		defer short.Close()
		wide, err := numbers.OpenKeys[entity.Item](ctx, db.Registry(), 7, "item", numbers.KeyOptions{})
		must(t, err)
		defer wide.Close()
		narrow, err := numbers.OpenKeys[entity.Item](ctx, db.Registry(), 7, "mail", numbers.KeyOptions{Form: gameid.Narrow})
		must(t, err)
		defer narrow.Close()
		number, err := short.Next(ctx)
		must(t, err)
		item, err := wide.Next(ctx)
		must(t, err)
		mail, err := narrow.Next(ctx)
		must(t, err)
		if number != 9170005 || item != 7<<43+6 || mail != 7<<33+6 {
			t.Errorf("after five of each: %d, %d, %d", number, item, mail)
		}
		servers, err := f.List(ctx)
		must(t, err)
		ranges, err := f.Ranges(ctx)
		must(t, err)
		places, err := f.Places(ctx)
		must(t, err)
		if len(servers) != 4 || len(ranges) != 1 || ranges[0].String() != "1,000,000 to 1,999,999 of characters.id" ||
			len(places) != 1 || places[0].World != "w7" || places[0].DSN != "sqlite:w7.db" || places[0].Labels["tz"] != "UTC" {
			t.Errorf("the fleet registry has %+v, %+v, %+v", servers, ranges, places)
		}
		_, err = f.Claim(ctx, "w8", 41, fleet.Note{By: "ops", Why: "try"})
		if err == nil {
			t.Error("a number that is claimed is claimed again")
		}
	})
}
