package postgres_test

import (
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/registry"
	"mergesafe/store/storetest"
)

var must = storetest.Must

// A server that may lose what it confirms is refused, by the name of the setting; a session's own
// synchronous_commit is set on.
func TestLossyServer(t *testing.T) {
	server := servertest.PrivatePostgres(t, "fsync=off", "full_page_writes=off", "synchronous_commit=off")
	db := storetest.WithTables(t, servertest.PostgresDatabase(t, server.DSN()))
	_, err := db.OpenNode(t.Context(), 7, storetest.NodeOptions)
	lossy, ok := errors.AsType[*registry.LossyError](err)
	if !ok || len(lossy.Settings) != 3 {
		t.Fatalf("got %v, want three settings refused", err)
	}
	for _, want := range []string{"fsync is off", "full_page_writes is off", "synchronous_commit is off", "ALTER SYSTEM SET fsync = on"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q in it", err, want)
		}
	}
	var has string
	must(t, db.Get(t.Context(), &has, "SELECT current_setting('synchronous_commit')"))
	if has != "on" {
		t.Errorf("synchronous_commit of a session is %s", has)
	}
	options := storetest.NodeOptions
	options.AcceptLossyDatabase = true
	node, err := db.OpenNode(t.Context(), 7, options)
	must(t, err)
	must(t, node.Close())
}

// A process that is frozen in a transaction with Guard is named, with what ends it, and no other that waits for it.
func TestRowLock(t *testing.T) {
	db := storetest.WithTables(t, servertest.PostgresDSN(t))
	node, err := db.OpenNode(t.Context(), 7, storetest.NodeOptions)
	must(t, err)
	defer node.Close()
	const update = "UPDATE gameid_servers SET name = 'seven' WHERE server_id = 7"
	var waiting sync.WaitGroup
	must(t, db.InTx(t.Context(), func(tx *store.Tx) error {
		must(t, tx.Guard(t.Context(), node))
		for range 2 {
			waiting.Go(func() { storetest.Exec(t, db, update) })
		}
		storetest.Await(t, "others wait", func() (yes bool) {
			must(t, db.Get(t.Context(), &yes, "SELECT COUNT(*) = 2 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"))
			return yes
		})
		var pid string
		must(t, tx.Get(t.Context(), &pid, "SELECT pg_backend_pid()::TEXT"))
		by, err := storetest.World(db).RowLock(t.Context(), 7)
		if want := "SELECT pg_terminate_backend(" + pid + ")"; err != nil || !strings.HasSuffix(by, want) || !strings.Contains(by, "idle in transaction") {
			t.Errorf("got %q, %v, want %q at its end", by, err, want)
		}
		return nil
	}))
	waiting.Wait()
	if by, err := storetest.World(db).RowLock(t.Context(), 7); by != "" || err != nil {
		t.Errorf("a row that is not locked: %q, %v", by, err)
	}
	var most int
	if must(t, db.Get(t.Context(), &most, "SELECT current_setting('max_prepared_transactions')::INT")); most == 0 {
		return
	}
	conn, err := db.Pool().Conn(t.Context())
	must(t, err)
	defer conn.Close()
	for _, statement := range []string{"BEGIN", update, "PREPARE TRANSACTION 'game'"} {
		must(t, storetest.Second(conn.ExecContext(t.Context(), statement)))
	}
	if by, err := storetest.World(db).RowLock(t.Context(), 7); err != nil || !strings.Contains(by, "ROLLBACK PREPARED") {
		t.Errorf("a prepared transaction: %q, %v", by, err)
	}
	storetest.Exec(t, db, "ROLLBACK PREPARED 'game'")
}

// Arguments and names are written as the driver takes them, and what is quoted stays.
func TestNative(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT `a` FROM t WHERE b = ? AND c = ?": `SELECT "a" FROM t WHERE b = $1 AND c = $2`,
		"SELECT '?', \"?\", ? -- why?\n, ?":       "SELECT '?', \"?\", $1 -- why?\n, $2",
		"SELECT $1 WHERE doc ? 'key'":             "SELECT $1 WHERE doc ? 'key'",
		"SELECT 'it''s ?', ?":                     "SELECT 'it''s ?', $1",
		"SELECT /* why? /* ? */ ? */ ?":           "SELECT /* why? /* ? */ ? */ $1",
		"SELECT $$it's ?$$, $a$ $$? $a$, ?":       "SELECT $$it's ?$$, $a$ $$? $a$, $1",
		`SELECT E'\' ?', ?, '\', ?`:               `SELECT E'\' ?', $1, '\', $2`,
		"SELECT `a?`, `b\"c`, ? FROM t":           `SELECT "a?", "b""c", $1 FROM t`,
	} {
		if got := sqldb.PostgreSQL.Native(query); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}

// A schema that comes later, or another search_path, does not lead a pool to other tables; and where a second
// registry would begin beside the first, a new process is refused.
func TestSchemasThatComeLater(t *testing.T) {
	dsn := servertest.PostgresDSN(t)
	db := storetest.WithTables(t, dsn)
	reg := db.Registry()
	must(t, numbers.Create(t.Context(), reg))
	pool, err := sql.Open("pgx", dsn)
	must(t, err)
	defer pool.Close()
	wrapped, err := store.Wrap(t.Context(), pool, store.PostgreSQL)
	must(t, err)
	storetest.Exec(t, db, "CREATE SCHEMA root") // the first of "$user", public
	storetest.Exec(t, db, "CREATE TABLE root.gameid_servers (LIKE public.gameid_servers INCLUDING ALL)")
	pool.SetMaxIdleConns(0)
	db.Pool().SetMaxIdleConns(0)
	reg.Pool().SetMaxIdleConns(0)
	for _, db := range []*store.DB{db, wrapped} {
		node, err := db.OpenNode(t.Context(), 7, storetest.NodeOptions)
		must(t, err)
		must(t, node.Close())
	}
	var of [2]int
	must(t, db.Get(t.Context(), &of[0], "SELECT COUNT(*) FROM public.gameid_servers"))
	must(t, db.Get(t.Context(), &of[1], "SELECT COUNT(*) FROM root.gameid_servers"))
	if of != [2]int{1, 0} {
		t.Errorf("rows in the schemas public and root: %v", of)
	}

	storetest.Exec(t, db, "DROP TABLE root.gameid_servers")
	next := storetest.Open(t, dsn)
	want := `the table "gameid_servers" is in the schema "public", which is not first in the search_path`
	for _, err := range []error{next.CreateRegistry(t.Context()), storetest.World(next).Check(t.Context())} {
		if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	must(t, storetest.Open(t, dsn+"?search_path=public").CreateRegistry(t.Context()))
	_, err = store.Open(t.Context(), dsn+"?search_path=absent")
	if err == nil || !strings.Contains(err.Error(), "no schema of the search_path exists") {
		t.Errorf("no schema: %v", err)
	}
}

// Two pools are of one database whatever their settings are, and a parameter of a DSN may have spaces.
func TestPoolsThatDiffer(t *testing.T) {
	dsn := servertest.PostgresDSN(t)
	one, err := sql.Open("pgx", dsn)
	must(t, err)
	defer one.Close()
	two, err := sql.Open("pgx", dsn+"?TimeZone=Asia/Tokyo&DateStyle=German")
	must(t, err)
	defer two.Close()
	if _, err = store.WrapTwo(t.Context(), one, two, store.PostgreSQL); err != nil {
		t.Error(err)
	}
	var has string
	db := storetest.Open(t, dsn+"?application_name=my%20game")
	must(t, db.Get(t.Context(), &has, "SELECT current_setting('application_name')"))
	if has != "my game" {
		t.Errorf("application_name is %q", has)
	}
}

// A table whose columns get other types while a pool has statements for it can be read on.
func TestColumnsChange(t *testing.T) {
	type note struct {
		ID gameid.Of[struct{}] `db:"id"`
		N  int64               `db:"n"`
	}
	table := store.MustTable[gameid.Of[struct{}], note]("notes")
	dsn := servertest.PostgresDSN(t)
	pool, err := sql.Open("pgx", dsn)
	must(t, err)
	defer pool.Close()
	wrapped, err := store.Wrap(t.Context(), pool, store.PostgreSQL)
	must(t, err)
	opened := storetest.Open(t, dsn)
	storetest.Exec(t, opened, "CREATE TABLE notes (id BYTEA PRIMARY KEY, n INT)")
	id, err := gameid.Make(time.Now(), 7, 1)
	must(t, err)
	row := note{gameid.As[struct{}](id), 5}
	must(t, table.Insert(t.Context(), opened, row))
	for _, kind := range []string{"INT", "BIGINT", "INT"} {
		storetest.Exec(t, opened, "ALTER TABLE notes ALTER n TYPE "+kind)
		for _, db := range []*store.DB{opened, wrapped} {
			get := func(s store.Session) error {
				got, err := table.Get(t.Context(), s, row.ID)
				if err == nil && got != row {
					t.Errorf("got %v, want %v", got, row)
				}
				return err
			}
			must(t, db.InTx(t.Context(), func(tx *store.Tx) error { return get(tx) }))
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for range 4 {
						if err := get(db); err != nil {
							t.Error(kind, err)
						}
					}
				})
			}
			all.Wait()
			for _, err := range table.Each(t.Context(), db, "TRUE") {
				must(t, err)
			}
		}
	}
}

// Bytes and times can be read whatever form the server gives them, also from a driver that takes them as text.
func TestForms(t *testing.T) {
	dsn := servertest.PostgresDSN(t)
	storetest.Exec(t, storetest.Open(t, dsn), `DO 'BEGIN
		EXECUTE format(''ALTER DATABASE %I SET bytea_output = escape'', current_database());
		EXECUTE format(''ALTER DATABASE %I SET DateStyle = German'', current_database()); END'`)
	db := storetest.Open(t, dsn+"?default_query_exec_mode=simple_protocol")
	var row struct {
		B []byte
		T time.Time
	}
	must(t, db.Get(t.Context(), &row, `SELECT '\x00ff'::BYTEA AS b, '2026-02-03 04:05:06Z'::TIMESTAMPTZ AS t`))
	if string(row.B) != "\x00\xff" || !row.T.Equal(time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)) {
		t.Errorf("got %q and %s", row.B, row.T)
	}
}

// A game that has a pgxpool mints over it, as docs/postgresql.md says, and writes an ID as it writes any value.
func TestPgxpool(t *testing.T) {
	ctx := t.Context()
	pool, err := pgxpool.New(ctx, servertest.PostgresDSN(t))
	must(t, err)
	defer pool.Close()
	db, err := store.Wrap(ctx, stdlib.OpenDBFromPool(pool), store.PostgreSQL)
	must(t, err)
	must(t, db.CreateRegistry(ctx))
	node, err := db.OpenNode(ctx, 7, storetest.NodeOptions)
	must(t, err)
	id, err := gameid.NewGenerator[entity.Player](node).Next()
	must(t, err)
	_, err = pool.Exec(ctx, "CREATE TABLE players (id BYTEA PRIMARY KEY, name TEXT)")
	must(t, err)
	_, err = pool.Exec(ctx, "INSERT INTO players (id, name) VALUES ($1, $2)", id, "Aria")
	must(t, err)
	var read gameid.Of[entity.Player]
	if must(t, pool.QueryRow(ctx, "SELECT id FROM players").Scan(&read)); read != id {
		t.Errorf("read %s, want %s", read, id)
	}
	must(t, node.Close())
}

// Whatever isolation the game's sessions have, blocks of numbers are taken one after the other, without an error.
func TestIsolation(t *testing.T) {
	dsn := servertest.PostgresDSN(t)
	node, err := storetest.WithTables(t, dsn).OpenNode(t.Context(), 7, storetest.NodeOptions)
	must(t, err)
	must(t, node.Close())
	pool, err := sql.Open("pgx", dsn+"?default_transaction_isolation=serializable")
	must(t, err)
	defer pool.Close()
	db, err := store.Wrap(t.Context(), pool, store.PostgreSQL)
	must(t, err)
	must(t, numbers.Create(t.Context(), db.Registry()))
	var all sync.WaitGroup
	var given sync.Map
	for range 16 {
		all.Go(func() {
			seq, err := numbers.Open(t.Context(), db.Registry(), 7, "players", numbers.Options{MinBlock: 1, MaxBlock: 1})
			if err != nil {
				t.Error(err)
				return
			}
			defer seq.Close()
			for range 20 {
				n, err := seq.Next(t.Context())
				if _, twice := given.LoadOrStore(n, true); twice || err != nil {
					t.Errorf("number %s, twice: %t, %v", n, twice, err)
				}
			}
		})
	}
	all.Wait()
}

// Temporary tables are another registry for each connection. Where a search_path leads to them first, because the
// schemas before do not exist or may not be used, all that makes tables is refused, with the schema and the search_path.
func TestTemporarySchema(t *testing.T) {
	ctx := t.Context()
	for _, path := range []string{"game, pg_temp", "pg_temp, public", `"pg_temp"`} {
		dsn := servertest.PostgresDSN(t)
		storetest.Exec(t, storetest.Open(t, dsn), `DO 'BEGIN EXECUTE format(''ALTER DATABASE %I SET search_path = `+path+`'', current_database()); END'`)
		pool, err := sql.Open("pgx", dsn)
		must(t, err)
		defer pool.Close()
		shared, err := fleet.Open(dsn)
		must(t, err)
		defer shared.Close()
		for what, err := range map[string]error{
			"Open":         storetest.Second(store.Open(ctx, dsn)),
			"OpenReadOnly": storetest.Second(store.OpenReadOnly(ctx, dsn)),
			"Wrap":         storetest.Second(store.Wrap(ctx, pool, store.PostgreSQL)),
			"Registry":     storetest.Second(registry.Open(ctx, pool, store.PostgreSQL)),
			"New":          worldregistry.New(sqldb.Wrap(pool, sqldb.PostgreSQL)).Create(ctx),
			"Fleet":        shared.Create(ctx),
		} {
			if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "pg_temp_") || !strings.Contains(err.Error(), path) {
				t.Errorf("search_path %s: %s: got %v, want the schema and the search_path", path, what, err)
			}
		}
	}
}
