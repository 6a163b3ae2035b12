package fleet_test

import (
	"testing"

	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	storefleet "mergesafe/store/fleet"
	"mergesafe/store/numbers"
	"mergesafe/store/storetest"
)

// Whatever engine a server takes by default, ours have transactions: a world starts
// and is bound in a fleet, and takes numbers.
func TestDefaultEngines(t *testing.T) { servertest.OnMySQLToo(t, testDefaultEngines) }

func testDefaultEngines(t *testing.T) {
	ctx := t.Context()
	engines := []string{"MyISAM", "MEMORY"}
	if servertest.OnMariaDB(t) {
		engines = append(engines, "Aria")
	}
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			parameter := "?default_storage_engine=" + engine
			shared, world := "mysql:"+servertest.DSN(t)+parameter, "mysql:"+servertest.DSN(t)+parameter
			f := storetest.NewFleet(t, shared)
			must(t, storetest.Second(f.Claim(ctx, "s1", 7, fleet.Note{})))
			db := storetest.WithTables(t, world)
			node, err := f.Join(ctx, storetest.World(db), 7, worldOptions, fleet.Options{Name: "s1"})
			must(t, err)
			defer node.Close()
			n, err := numbers.OpenShared(ctx, (*storefleet.Fleet)(f), "player", numbers.Options{})
			must(t, err)
			must(t, n.Close())
			for _, on := range []*store.DB{db, open(t, shared)} {
				var of []string
				must(t, on.Select(ctx, &of, "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE()"))
				if len(of) < 6 {
					t.Errorf("%d tables", len(of))
				}
				for _, engine := range of {
					if engine != "InnoDB" {
						t.Errorf("a table of ours is of %s", engine)
					}
				}
			}
		})
	}
}
