// Package storetest makes databases for tests as a game server makes its own,
// and rows to fill them with.
package storetest

import (
	"context"
	"errors"

	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/starter"
)

// Create makes the tables of the registry, of short numbers, and the starter
// tables.
func Create(ctx context.Context, db *store.DB) error {
	return errors.Join(db.CreateRegistry(ctx), numbers.Create(ctx, db.Registry()), starter.Create(ctx, db))
}

// World is the registry of a database, for what a game does not do.
func World(db *store.DB) *worldregistry.Registry { return (*worldregistry.Registry)(db.Registry()) }

// Check returns an error unless all of them are there. It changes nothing.
func Check(ctx context.Context, db *store.DB) error {
	return errors.Join(World(db).Check(ctx), numbers.Check(ctx, db.Registry()), starter.Check(ctx, db))
}
