package inventory

import (
	"flag"
	"reflect"
	"slices"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/store/storetest"
	"mergesafe/store/storetest/faulty"
)

var long = flag.Bool("torture.long", servertest.Scale(0, 1) == 1, "let every request to a database fail once")

// A request to a database that fails is no finding: the world has a problem, and what else is said
// of it, and of the others, is what is said if no request fails.
func TestEveryReadFailsOnce(t *testing.T) {
	onEach(t, func(t *testing.T, world func(string, ...string) Database) {
		worlds := []Database{world("w1", characters, logins(1, 0, 25, 50)), world("w2", characters, "CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY)"), world("w3", characters)}
		db := storetest.WithTables(t, worlds[2].DSN)
		node, err := db.OpenNode(t.Context(), 7, storetest.NodeOptions)
		storetest.Must(t, err)
		storetest.Must(t, node.Close())
		db.Close()
		read := func(n *faulty.Nth) *Inventory {
			inv := Read(n.In(t.Context()), worlds, Options{Parallel: 1, Players: "characters", Active: "logout_time", Now: now})
			inv.Took = 0
			return inv
		}
		smooth := &faulty.Nth{N: -1}
		want := read(smooth)
		if p := problems(want); p != nil {
			t.Fatal(p)
		}
		most, cases, same := 30, 0, 0
		if *long {
			most = 0
		}
		for n := range faulty.Faults(smooth.Count(), most) {
			got := read(n)
			cases++
			failed := len(problems(got))
			if failed == 0 {
				same++
			}
			for i := range got.Worlds {
				wrong := said(got.Worlds[i], want.Worlds[i])
				if failed > 1 || wrong != nil {
					t.Errorf("%s: %v\n%+v\nwant\n%+v", n, wrong, got.Worlds[i], want.Worlds[i])
				}
			}
			for _, s := range got.Schemas {
				if !slices.ContainsFunc(want.Schemas, func(w Schema) bool { return w.Fingerprint == s.Fingerprint }) {
					t.Errorf("%s: another schema: %+v", n, s)
				}
			}
		}
		t.Logf("%d requests, %d cases, %d the same", smooth.Count(), cases, same)
	})
}

// said are the fields that say something else of a world than is true of it. Of a world with a problem
// they may say nothing. How the schemas of others differ depends on which of them were read.
func said(got, want World) (wrong []string) {
	a, b := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range a.NumField() {
		name := a.Type().Field(i).Name
		silent := got.Problem != "" && (a.Field(i).IsZero() || name == "State" && got.State == Unknown || name == "Problem" || name == "Estimated" || name == "Rows" && got.Estimated)
		if !silent && name != "Drift" && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			wrong = append(wrong, name)
		}
	}
	return wrong
}
