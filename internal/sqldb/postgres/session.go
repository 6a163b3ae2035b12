package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jmoiron/sqlx"

	"mergesafe/internal/sqldb"
)

// setting is one of a session that the code relies on.
type setting struct {
	name string
	good func(value string) bool
	set  string
}

func is(want string) func(string) bool { return func(value string) bool { return value == want } }

// settings are what a session needs, whatever the server, the account, the database or the DSN says.
// Of synchronous_commit, what waits for replicas as well is as good as on.
var settings = []setting{
	{"synchronous_commit", func(value string) bool { return value != "off" }, "on"},
	{"default_transaction_read_only", is("off"), "off"},
	{"standard_conforming_strings", is("on"), "on"},
	{"statement_timeout", is("0"), "0"},
	{"lock_timeout", is("0"), "0"},
	{"client_encoding", is("UTF8"), "UTF8"},
	{"bytea_output", is("hex"), "hex"}, // what the driver reads, unless values come in binary form
	{"datestyle", func(value string) bool { return strings.HasPrefix(value, "ISO") }, "ISO"},
}

// fights returns an error if a DSN has a parameter that a session needs to be otherwise.
func fights(parameters url.Values, readOnly bool) error {
	for _, s := range settings {
		value := parameters.Get(s.name)
		if value != "" && !s.good(value) && !(readOnly && s.name == "default_transaction_read_only") {
			return fmt.Errorf("the DSN sets %s, but this program needs %s: remove it from the DSN", s.name, s.set)
		}
	}
	return nil
}

// readSettings has the names and values of those, and where the session is.
var readSettings = func() string {
	each := []string{"SELECT 'database' AS name, current_database()::TEXT AS value",
		"SELECT 'schema', COALESCE(current_schema()::TEXT, '')",
		"SELECT 'search_path', current_setting('search_path')"}
	for _, s := range settings {
		each = append(each, fmt.Sprintf("SELECT '%[1]s', current_setting('%[1]s')", s.name))
	}
	return strings.Join(each, " UNION ALL ")
}()

// where is a database and a schema.
type where struct{ Database, Schema, Path string }

// home is where the first connection of a pool was. All others are kept there, whatever schemas and settings come
// later: tables that a search_path does not lead to any more would be made again, and numbers given out twice.
type home struct{ first atomic.Pointer[where] }

// errNoSchema says that tables would be made nowhere.
var errNoSchema = errors.New("no schema of the search_path exists: create one, or set search_path")

// differing returns what sets the settings of a session that are otherwise, and what puts them back. With fixed the
// schema stands first in the search_path, and stays that if another one is made that would come before.
func (h *home) differing(has map[string]string, fixed bool) (set, was []string, err error) {
	at := &where{has["database"], has["schema"], has["search_path"]}
	if at.Schema != "" && !at.temporary() {
		h.first.CompareAndSwap(nil, at)
	}
	first := h.first.Load()
	switch {
	case first == nil && at.temporary():
		return nil, nil, fmt.Errorf("%w: the search_path %q leads to %s, the temporary schema of this one connection, because no schema before pg_temp exists or may be used: "+
			"create one, grant USAGE on it, or set search_path", sqldb.ErrSchema, at.Path, at.Schema)
	case first == nil:
		return nil, nil, errNoSchema
	case first.Database != at.Database:
		return nil, nil, fmt.Errorf("a connection of the pool is in the database %q, want %q", at.Database, first.Database)
	case first.Schema != at.Schema || fixed && !at.fixed():
		set = append(set, fmt.Sprintf("SET SESSION search_path = %s, %s", sqldb.PostgreSQL.Quote(first.Schema), first.Path))
		was = append(was, "SET SESSION search_path = "+at.Path)
	}
	for _, s := range settings {
		if value := has[s.name]; !s.good(value) {
			set, was = append(set, config(s.name, s.set)), append(was, config(s.name, value))
		}
	}
	return set, was, nil
}

// temporary reports whether tables would be those of the connection, and gone with it.
func (w *where) temporary() bool { return strings.HasPrefix(w.Schema, "pg_temp_") } // a prefix that no other schema may have

// fixed reports whether the schema stands first in the search_path.
func (w *where) fixed() bool {
	before, _, _ := strings.Cut(w.Path, ", ")
	return before == w.Schema || before == sqldb.PostgreSQL.Quote(w.Schema)
}

func config(name, value string) string {
	return fmt.Sprintf("SET SESSION %s = '%s'", name, strings.ReplaceAll(value, "'", "''"))
}

// otherwise returns what sets the settings of a session of the game that are otherwise, and what puts them back.
func (h *home) otherwise(ctx context.Context, conn *sqlx.Conn) (set, was []string, err error) {
	has, err := sqldb.Pairs(ctx, conn, readSettings)
	if err != nil {
		return nil, nil, err
	}
	return h.differing(has, false)
}

// settle gives a new connection the settings, and makes sure that it has them.
func (h *home) settle(ctx context.Context, conn *pgx.Conn, readOnly, pooled bool) error {
	conn.TypeMap().RegisterType(&pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC}})
	if !pooled {
		var pid uint32
		if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
			return err
		}
		if pid != conn.PgConn().PID() {
			return errors.New("a pooler between this program and the server loses session settings: " +
				"use the address of the server itself; or, if its pool_mode is session, add pooler=session to the DSN")
		}
	}
	for attempt := 0; ; attempt++ {
		rows, _ := conn.Query(ctx, readSettings)
		pairs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Name, Value string }])
		if err != nil {
			return err
		}
		has := make(map[string]string)
		for _, pair := range pairs {
			has[pair.Name] = pair.Value
		}
		set, was, err := h.differing(has, true)
		if err != nil {
			return err
		}
		set = slices.DeleteFunc(set, func(s string) bool {
			return readOnly && strings.HasPrefix(s, "SET SESSION default_transaction_read_only")
		})
		switch {
		case len(set) == 0 && readOnly:
			_, err := conn.Exec(ctx, "SET SESSION default_transaction_read_only = on")
			return err
		case len(set) == 0:
			return nil
		case attempt > 0:
			return fmt.Errorf("the session does not keep its settings: it has %s, want %s; does a proxy change them?",
				strings.Join(was, ", "), strings.Join(set, ", "))
		}
		if _, err := conn.Exec(ctx, strings.Join(set, "; ")); err != nil {
			return sqldb.CannotSet(was, set, err)
		}
	}
}
