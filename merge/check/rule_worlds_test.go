package check_test

import (
	"errors"
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Keys that carry their world's number are held against it, and against those of the
// other databases.
func TestWorldsInKeys(t *testing.T) {
	world := func(name string, number int64, keys ...int64) *mergetest.Database {
		db := oldWorld(name, 0)
		for _, k := range keys {
			db.Rows["heroes"] = append(db.Rows["heroes"], mergetest.Row{"id": number*1000 + k, "level": int64(1)})
		}
		return db
	}
	o := rules.Options{Worlds: []rules.WorldKey{{At: "heroes.id", Value: "id / 1_000"}}}
	of := func(dbs ...*mergetest.Database) verdict.Result {
		return find(mustCheck(t, o, dbs...), verdict.CodeKeyWorld, "heroes", "id")[0]
	}
	if r := of(world("a", 3, 1, 2), world("b", 4, 1)); r.Verdict != verdict.Pass || r.Read != 3 || r.Message != "a: world 3; b: world 4" {
		t.Errorf("%+v", r)
	}
	// No key collides yet, and it is only a matter of time.
	if r := of(world("a", 3, 1, 2), world("b", 3, 5)); r.Verdict != verdict.Fail || r.Count != 3 || !strings.Contains(r.Message, "world 3 is in 2 databases") {
		t.Errorf("%+v", r)
	}
	// A registry says which worlds are its own.
	a, b := world("a", 3, 1), world("b", 4, 1, 1001, 7000)
	b.Registry = []catalog.Server{{Server: 4, World: "w4", Own: true}, {Server: 5, World: "w5"}}
	if r := of(a, b); r.Verdict != verdict.Fail || r.Count != 1 || len(r.Samples) != 1 || r.Message != "a: world 3; b: 1 row of worlds that are not its own; b: world 4, 5" {
		t.Errorf("%+v", r)
	}
	for _, bad := range []rules.WorldKey{{At: "heroes.id", Value: "guid / 5"}, {At: "heroes.name", Value: "id"}, {At: "nobody.id", Value: "id"}} {
		if _, err := merge.Check(t.Context(), sources(a, b), rules.Options{Worlds: []rules.WorldKey{bad}}); !errors.Is(err, rules.ErrOptions) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
