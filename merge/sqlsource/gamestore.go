package sqlsource

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"mergesafe/merge"
	"mergesafe/store"
)

// What this package knows of databases that package store made is in this
// file.

const (
	storeVersion = "SELECT version FROM " + store.SchemaTable + " WHERE application = 'mergesafe'"

	storeServers = "SELECT server_id, name, world, role = '" + store.RoleOwn + "', reserved_ms FROM " +
		store.RegistryTable + " ORDER BY server_id"
)

// describeStore takes the tables that describe the database itself out of the
// catalogue, and notes what they say.
func describeStore(ctx context.Context, conn *sql.Conn, b *builder) error {
	if b.tables[store.RegistryTable] != nil {
		b.HasRegistry = true
		delete(b.tables, store.RegistryTable)
	}
	for _, name := range []string{store.MergesTable, store.MergeProgressTable, store.MergeRenamesTable} {
		delete(b.tables, name)
	}
	delete(b.tables, store.NumbersTable)
	if b.tables[store.SchemaTable] == nil {
		return nil
	}
	delete(b.tables, store.SchemaTable)
	err := conn.QueryRowContext(ctx, storeVersion).Scan(&b.SchemaVersion)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil // made by another program
	case err != nil:
		return fmt.Errorf("table %q: %w", store.SchemaTable, err)
	case b.SchemaVersion == 0:
		return errors.New("its tables were never completed: start its game server on it once more")
	}
	return nil
}

// Servers implements [merge.Source].
func (s *Source) Servers(ctx context.Context) ([]merge.Server, error) {
	if err := s.lock(); err != nil {
		return nil, err
	}
	defer s.unlock()
	var servers []merge.Server
	var server merge.Server
	err := each(ctx, s.conn, storeServers, func() {
		servers = append(servers, server)
	}, &server.Server, &server.Name, &server.World, &server.Own, &server.Reserved)
	if err == nil {
		err = s.dialect.unchanged()
	}
	if err != nil {
		return nil, fmt.Errorf("sqlsource: %s: %w", store.RegistryTable, err)
	}
	return servers, nil
}
