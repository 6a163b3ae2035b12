package world

import (
	"context"
	"fmt"

	"mergesafe/merge/catalog"
)

// World is a database as package merge sees it.
type World struct {
	*Source
	Known   *catalog.Catalog
	Dialect Dialect
	On      *Connection // for what package merge does not read
}

// Close closes all connections.
func (s *World) Close() error {
	s.On.Close()
	return s.Source.Close()
}

func OpenWorld(ctx context.Context, d Database) (*World, error) {
	inner, err := Open(ctx, d.Name, d.DSN)
	if err != nil {
		return nil, fmt.Errorf("database %q: %w", d.Name, err)
	}
	found, err := inner.Catalog(ctx)
	if err != nil {
		inner.Close()
		return nil, fmt.Errorf("database %q: %w", d.Name, err)
	}
	on := &Connection{Database: d}
	return &World{Source: inner, Known: found, Dialect: on.Dialect(), On: on}, nil
}

// Table returns the table of that name, or nil.
func (s *World) Table(name string) *catalog.Table {
	return First(s.Known.Tables, func(t *catalog.Table) bool { return t.Name == name })
}

// HiddenObjects says what of the database the account may not be shown, so that a database that is
// made like it could lack it: triggers, events, routines.
func (s *World) HiddenObjects(ctx context.Context) (reasons []string, err error) {
	if !s.Dialect.MySQL() {
		return nil, nil
	}
	if why := s.Known.HiddenTriggers; why != "" {
		reasons = append(reasons, "triggers: "+why)
	}
	for _, part := range []struct{ what, privilege string }{{"events", "EVENT"}, {"routines", "EXECUTE"}} {
		why, err := hides(ctx, s.conn, part.privilege)
		if err != nil {
			return nil, fmt.Errorf("database %q: %w", s.Name(), err)
		}
		if why != "" {
			reasons = append(reasons, part.what+": "+why)
		}
	}
	return reasons, nil
}

// Bytes is about how much the database takes on the disk.
func (s *World) Bytes(ctx context.Context) (int64, error) {
	query := sqliteBytes
	if s.Dialect.MySQL() {
		query = "SELECT CAST(COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) AS SIGNED) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
	}
	return s.On.Number(ctx, query, false)
}
