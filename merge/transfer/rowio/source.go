package rowio

import (
	"context"
	"fmt"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/sqlsource"
	"mergesafe/store/registry"
)

// Source is a database as package merge sees it.
type Source struct {
	*sqlsource.Source
	Known   *catalog.Catalog
	Dialect Dialect
	On      *Connection // for what package merge does not read
}

// Close closes all connections.
func (s *Source) Close() error {
	s.On.Close()
	return s.Source.Close()
}

func OpenSource(ctx context.Context, d Database) (*Source, error) {
	inner, err := sqlsource.Open(ctx, d.Name, d.DSN)
	if err != nil {
		return nil, fmt.Errorf("database %q: %w", d.Name, err)
	}
	found, err := inner.Catalog(ctx)
	if err != nil {
		inner.Close()
		return nil, fmt.Errorf("database %q: %w", d.Name, err)
	}
	on := &Connection{Database: d}
	return &Source{Source: inner, Known: found, Dialect: on.Dialect(), On: on}, nil
}

// Table returns the table of that name, or nil.
func (s *Source) Table(name string) *catalog.Table {
	return First(s.Known.Tables, func(t *catalog.Table) bool { return t.Name == name })
}

func RegistryOf(db *sqldb.DB) *registry.Registry {
	return registry.New(db.Pool().DB, registry.Dialect(db.Dialect()))
}
