package transfer

import (
	"context"
	"fmt"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
	"mergesafe/merge/sqlsource"
	"mergesafe/store/registry"
)

// source is a database as package merge sees it.
type source struct {
	*sqlsource.Source
	catalog *merge.Catalog
	dialect dialect
	on      *connection // for what package merge does not read
}

// Close closes all connections.
func (s *source) Close() error {
	s.on.close()
	return s.Source.Close()
}

func openSource(ctx context.Context, d Database) (*source, error) {
	inner, err := sqlsource.Open(ctx, d.Name, d.DSN)
	if err != nil {
		return nil, fmt.Errorf("database %q: %w", d.Name, err)
	}
	found, err := inner.Catalog(ctx)
	if err != nil {
		inner.Close()
		return nil, fmt.Errorf("database %q: %w", d.Name, err)
	}
	on := &connection{Database: d}
	return &source{Source: inner, catalog: found, dialect: on.dialect(), on: on}, nil
}

// table returns the table of that name, or nil.
func (s *source) table(name string) *merge.Table {
	return first(s.catalog.Tables, func(t *merge.Table) bool { return t.Name == name })
}

// world describes the database for a plan.
func (s *source) world(ctx context.Context) (World, error) {
	w := World{Name: s.Name(), Schema: s.schema()}
	var err error
	if w.Tables, err = pack(s.form()); err != nil || !s.catalog.HasRegistry {
		return w, err
	}
	if w.Servers, err = s.Servers(ctx); err != nil {
		err = fmt.Errorf("database %q: %w", s.Name(), err)
	}
	return w, err
}

func registryOf(db *sqldb.DB) *registry.Registry {
	return registry.New(db.Pool().DB, registry.Dialect(db.Dialect()))
}
