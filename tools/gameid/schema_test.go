package main

import (
	"bytes"
	"database/sql"
	"os"
	"slices"
	"strings"
	"testing"

	"mergesafe/store"
	"mergesafe/store/storetest"
	"mergesafe/tools/internal/cli"
)

// Tables made from the printed statements, by a tool that knows nothing of this
// project, are accepted, and are what the game server itself makes.
func TestSchema(t *testing.T) {
	storetest.OnEach(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		dsn := newDSN()
		scheme, rest, _ := strings.Cut(dsn, ":")
		var text, stderr bytes.Buffer
		if code := run(ctx, []string{"gameid", "servers", "schema", "-" + scheme}, os.LookupEnv, &text, &stderr); code != cli.OK {
			t.Fatalf("exit code %d: %s", code, &stderr)
		}
		if scheme == "postgres" {
			scheme, rest = "pgx", dsn
		}
		pool, err := sql.Open(scheme, rest)
		storetest.Must(t, err)
		defer pool.Close()
		for statement := range strings.SplitSeq(strings.TrimSpace(text.String()), ";") { // as simple tools do
			if statement != "" {
				_, err = pool.ExecContext(ctx, statement)
				storetest.Must(t, err)
			}
		}

		db := storetest.Open(t, dsn)
		want := []string{"gameid_servers", "mergesafe_schema"}
		if names := storetest.TableNames(t, db); !slices.Equal(names, want) {
			t.Errorf("the statements make %v, want %v", names, want)
		}
		for range 2 {
			node, err := db.OpenNode(ctx, 7, storetest.NodeOptions)
			storetest.Must(t, err)
			storetest.Must(t, node.Close())
			storetest.Must(t, db.CreateRegistry(ctx))
		}

		own := storetest.Open(t, newDSN())
		storetest.Must(t, own.CreateRegistry(ctx))
		if made, want := definitions(t, db), definitions(t, own); made != want {
			t.Errorf("the statements make\n%s\nthe game server makes\n%s", made, want)
		}
	})
}

// definitions returns how the tables of a registry were made, and their marks.
func definitions(t *testing.T, db *store.DB) string {
	t.Helper()
	var all []string
	for _, table := range []string{"gameid_servers", "mergesafe_schema"} {
		var name, text string
		query, dest := "SELECT sql FROM sqlite_schema WHERE name = '"+table+"'", []any{&text}
		switch db.Dialect() {
		case store.MySQL:
			query, dest = "SHOW CREATE TABLE "+table, []any{&name, &text}
		case store.PostgreSQL:
			query = "SELECT string_agg(CONCAT_WS(' ', column_name, data_type, character_maximum_length, is_nullable, column_default), ', ' ORDER BY ordinal_position)" +
				" FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = '" + table + "'"
		}
		storetest.Must(t, db.Pool().QueryRowContext(t.Context(), query).Scan(dest...))
		all = append(all, strings.Join(strings.Fields(text), " "))
	}
	var marks []struct {
		Application string
		Version     int
	}
	storetest.Must(t, db.Select(t.Context(), &marks, "SELECT application, version FROM mergesafe_schema"))
	for _, m := range marks {
		all = append(all, m.Application, string(rune('0'+m.Version)))
	}
	return strings.Join(all, "\n")
}
