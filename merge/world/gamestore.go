package world

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/catalog"
)

// What this package knows of databases that package store made is in this
// file.

const (
	storeMarks = "SELECT application, version FROM " + sqldb.SchemaTable

	// storeUnfinished is the ID of the merge that made the database, unless that was opened; empty if its record
	// has no row yet.
	storeUnfinished = "SELECT CASE WHEN COUNT(*) = 0 THEN '' ELSE MIN(CASE WHEN state <> 'open' THEN id END) END FROM " + sqldb.RecordTable

	storeServers = "SELECT server_id, name, world, role = '" + worldregistry.RoleOwn + "', reserved_ms, epoch FROM " +
		worldregistry.Table + " ORDER BY server_id"
)

// describeStore takes the tables that describe the database itself out of the
// catalogue, and notes what they say.
func describeStore(ctx context.Context, conn *sql.Conn, b *builder) error {
	b.HasRegistry = b.tables[worldregistry.Table] != nil
	marked := b.tables[sqldb.SchemaTable] != nil
	if b.tables[sqldb.KeysTable] != nil {
		if err := readGiven(ctx, conn, b); err != nil {
			return fmt.Errorf("table %q: %w", sqldb.KeysTable, err)
		}
	}
	if b.tables[sqldb.RecordTable] != nil {
		var id sql.NullString
		take := func() {
			if id.Valid {
				b.Unfinished = append(b.Unfinished, cmp.Or(id.String, "that has just begun"))
			}
		}
		if err := each(ctx, conn, storeUnfinished, take, &id); err != nil {
			return fmt.Errorf("table %q: %w", sqldb.RecordTable, err)
		}
	}
	maps.DeleteFunc(b.tables, func(name string, _ *building) bool { return sqldb.Ours(name) })
	if !marked {
		return nil
	}
	var mark string
	var version int
	unfinished := false
	err := each(ctx, conn, storeMarks, func() {
		switch mark {
		case sqldb.StarterMark:
			b.SchemaVersion = version
			fallthrough
		case sqldb.RegistryMark, sqldb.NumbersMark:
			unfinished = unfinished || version == 0
		}
	}, &mark, &version)
	switch {
	case err != nil:
		return fmt.Errorf("table %q: %w", sqldb.SchemaTable, err)
	case unfinished:
		return errors.New("its tables were never completed: start its game server on it again")
	}
	return nil
}

// readGiven reads the numbers that merges gave to keys here, not in other worlds before.
func readGiven(ctx context.Context, conn *sql.Conn, b *builder) error {
	var g catalog.Given
	var low, high string
	var bad error
	err := each(ctx, conn, "SELECT tab, col, low, high FROM "+sqldb.KeysTable+" WHERE part = 0 AND low <> '' AND path NOT LIKE '% %' ORDER BY path, tab, col", func() {
		bad = errors.Join(bad, g.Range.Low.UnmarshalText([]byte(low)), g.Range.High.UnmarshalText([]byte(high)))
		g.Range.Any = true
		b.Given = append(b.Given, g)
	}, &g.Table, &g.Column, &low, &high)
	return errors.Join(err, bad)
}

// Servers implements [catalog.Source].
func (s *Source) Servers(ctx context.Context) (servers []catalog.Server, err error) {
	err = s.ask(ctx, worldregistry.Table, func(*schema) error {
		var server catalog.Server
		var epoch int64
		return each(ctx, s.conn, storeServers, func() {
			server.Generation = worldregistry.Generation(epoch)
			servers = append(servers, server)
		}, &server.Server, &server.Name, &server.World, &server.Own, &server.Reserved, &epoch)
	})
	return servers, err
}
