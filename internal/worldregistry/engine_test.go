package worldregistry_test

import (
	"errors"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/storetest"
)

// A table of ours that forgets its rows, has no transactions or takes a key twice
// is refused, with what to do.
func TestUnsoundTables(t *testing.T) {
	refused := func(t *testing.T, check func() error, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if err := check(); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), part) {
				t.Errorf("got %v, want %q", err, part)
			}
		}
	}
	ctx := t.Context()
	servertest.OnMySQLToo(t, func(t *testing.T) {
		db := storetest.WithRegistry(t, "mysql:"+servertest.DSN(t))
		reg := db.Registry()
		must(t, numbers.Create(ctx, reg))
		for table, check := range map[string]func() error{
			"gameid_servers":   func() error { return storetest.World(db).Check(ctx) },
			"gameid_numbers":   func() error { return numbers.Check(ctx, reg) },
			"mergesafe_schema": func() error { return reg.Create(ctx) },
		} {
			for _, engine := range []string{"MyISAM", "MEMORY"} {
				if engine == "MEMORY" && table == "gameid_servers" {
					continue // its rows are too long for it
				}
				exec(t, db, "ALTER TABLE "+table+" ENGINE="+engine)
				refused(t, check, `"`+table+`"`, engine, "ALTER TABLE `"+table+"` ENGINE=InnoDB")
				exec(t, db, "ALTER TABLE "+table+" ENGINE=InnoDB")
				must(t, check())
			}
		}
		exec(t, db, "ALTER TABLE gameid_servers DROP PRIMARY KEY")
		refused(t, func() error { return storetest.Second(db.OpenNode(ctx, 7, nodeOptions)) }, `"gameid_servers" has no primary key`)
		refused(t, func() error { return reg.Create(ctx) }, `"gameid_servers" has no primary key`)
	})
	t.Run("sqlite", func(t *testing.T) {
		db := storetest.WithRegistry(t, "sqlite:"+t.TempDir()+"/game.db")
		exec(t, db, "CREATE TABLE copy AS SELECT * FROM gameid_servers")
		exec(t, db, "DROP TABLE gameid_servers")
		exec(t, db, "ALTER TABLE copy RENAME TO gameid_servers")
		refused(t, func() error { return db.CreateRegistry(ctx) }, `"gameid_servers" has no primary key`)
	})
}
