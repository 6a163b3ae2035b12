package transfer

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge"
	"mergesafe/merge/sqlsource"
	"mergesafe/store"
)

// source is a database as package merge sees it.
type source struct {
	*sqlsource.Source
	catalog *merge.Catalog
	dialect dialect
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
	s := &source{Source: inner, catalog: found, dialect: dialect(store.MySQL)}
	if found.Engine == "sqlite" {
		s.dialect = dialect(store.SQLite)
	}
	return s, nil
}

// table returns the table of that name, or nil.
func (s *source) table(name string) *merge.Table {
	for i := range s.catalog.Tables {
		if s.catalog.Tables[i].Name == name {
			return &s.catalog.Tables[i]
		}
	}
	return nil
}

// schema is a fingerprint of all that says how the tables are made. What moves
// with the rows, such as counters, is not in it.
func (s *source) schema() string {
	tables := slices.Clone(s.catalog.Tables)
	for i := range tables {
		tables[i].AutoIncrement = nil
	}
	return fingerprint([]any{s.catalog.Engine, s.catalog.SchemaVersion, tables, s.catalog.Skipped})
}

// world describes the database for a plan.
func (s *source) world(ctx context.Context) (World, error) {
	w := World{Name: s.Name(), Schema: s.schema()}
	if !s.catalog.HasRegistry {
		return w, nil
	}
	servers, err := s.Servers(ctx)
	if err != nil {
		return w, fmt.Errorf("database %q: %w", s.Name(), err)
	}
	for _, m := range servers {
		w.Servers = append(w.Servers, Server{Server: m.Server, Name: m.Name, World: m.World, Own: m.Own, Mark: m.Reserved})
	}
	return w, nil
}
