package integrations

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"ariga.io/atlas/sql/migrate"
	atlasmysql "ariga.io/atlas/sql/mysql"
	atlasschema "ariga.io/atlas/sql/schema"
	atlassqlite "ariga.io/atlas/sql/sqlite"
	gomigrate "github.com/golang-migrate/migrate/v4"
	migratedb "github.com/golang-migrate/migrate/v4/database"
	migratemysql "github.com/golang-migrate/migrate/v4/database/mysql"
	migratesqlite "github.com/golang-migrate/migrate/v4/database/sqlite"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/pressly/goose/v3"

	"mergesafe/gameid"
)

// storesIDs stores an ID in the table that a migration made, and reads it.
func storesIDs(t *testing.T, d database) {
	t.Helper()
	d.exec(t, "INSERT INTO players (id, name) VALUES (?, ?)", hero(1), "1")
	var id gameid.Of[Hero]
	must(t, d.pool.QueryRowContext(t.Context(), "SELECT id FROM players WHERE id = ?", hero(1)).Scan(&id))
	if id != hero(1) {
		t.Errorf("read %s", id)
	}
}

// A migration may have IDs in it, as literals.
func insertLiteral(n uint16) string {
	return fmt.Sprintf("INSERT INTO players (id, name) VALUES (X'%s', 'of a migration')", hero(n))
}

func TestGoose(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		dialect := goose.DialectSQLite3
		if d.driver == "mysql" {
			dialect = goose.DialectMySQL
		}
		files := fstest.MapFS{"1_players.sql": {Data: []byte("-- +goose Up\n" + createPlayers + ";\n" + insertLiteral(2) + ";\n-- +goose Down\nDROP TABLE players;\n")}}
		byCode := goose.NewGoMigration(2, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO players (id, name) VALUES (?, 'of Go')", hero(3))
			return err
		}}, nil)
		provider, err := goose.NewProvider(dialect, d.pool, files, goose.WithGoMigrations(byCode))
		must(t, err)
		_, err = provider.Up(t.Context())
		must(t, err)
		storesIDs(t, d)
		if got := d.hex(t, "SELECT HEX(id) FROM players ORDER BY id"); len(got) != 3 || !strings.EqualFold(got[1], hero(2).String()) || !strings.EqualFold(got[2], hero(3).String()) {
			t.Errorf("there are %q", got)
		}
	})
}

func TestGolangMigrate(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		files := fstest.MapFS{
			"1_players.up.sql": {Data: []byte(createPlayers)},
			"2_literal.up.sql": {Data: []byte(insertLiteral(2))},
		}
		source, err := iofs.New(files, ".")
		must(t, err)
		var driver migratedb.Driver
		if d.driver == "mysql" {
			driver, err = migratemysql.WithInstance(d.pool, &migratemysql.Config{})
		} else {
			driver, err = migratesqlite.WithInstance(d.pool, &migratesqlite.Config{})
		}
		must(t, err)
		m, err := gomigrate.NewWithInstance("iofs", source, d.driver, driver)
		must(t, err)
		must(t, m.Up())
		storesIDs(t, d)
		if got := d.hex(t, "SELECT HEX(id) FROM players ORDER BY id"); len(got) != 2 || !strings.EqualFold(got[1], hero(2).String()) {
			t.Errorf("there are %q", got)
		}
	})
}

// atlas makes the table, sees its columns as they are, and finds nothing to
// change.
func TestAtlas(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		ctx := t.Context()
		var driver migrate.Driver
		var err error
		if d.driver == "mysql" {
			driver, err = atlasmysql.Open(d.pool)
		} else {
			driver, err = atlassqlite.Open(d.pool)
		}
		must(t, err)
		current, err := driver.InspectSchema(ctx, "", nil)
		must(t, err)
		size := 10
		binary := &atlasschema.BinaryType{T: "binary", Size: &size}
		if d.driver == "sqlite" {
			binary = &atlasschema.BinaryType{T: "blob"}
		}
		id := atlasschema.NewColumn("id").SetType(binary)
		players := atlasschema.NewTable("players").AddColumns(id, atlasschema.NewNullColumn("name").SetType(&atlasschema.StringType{T: "text"})).
			SetPrimaryKey(atlasschema.NewPrimaryKey(id))
		players.Schema = current
		must(t, driver.ApplyChanges(ctx, []atlasschema.Change{&atlasschema.AddTable{T: players}}))
		storesIDs(t, d)

		now, err := driver.InspectSchema(ctx, "", nil)
		must(t, err)
		table, ok := now.Table("players")
		if !ok {
			t.Fatal("there is no table")
		}
		changes, err := driver.TableDiff(table, players)
		must(t, err)
		for _, c := range changes {
			if column, ok := c.(*atlasschema.ModifyColumn); ok && column.Change.Is(atlasschema.ChangeType) {
				t.Errorf("atlas would change %s", column.From.Name)
			}
		}
	})
}
