package storetest

import (
	"testing"

	"mergesafe/internal/fleet"
)

// OpenFleet opens a fleet registry as another process would.
func OpenFleet(t testing.TB, dsn string) *fleet.Fleet {
	t.Helper()
	f, err := fleet.Open(dsn)
	Must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// NewFleet opens a fleet registry and makes its tables.
func NewFleet(t testing.TB, dsn string) *fleet.Fleet {
	t.Helper()
	f := OpenFleet(t, dsn)
	Must(t, f.Create(t.Context()))
	return f
}

// OnEachWithFleet is [OnEachDialect] of a fleet registry and a way to make databases of games.
func OnEachWithFleet(t *testing.T, test func(t *testing.T, f *fleet.Fleet, newDSN func() string)) {
	OnEachDialect(t, func(t *testing.T, newDSN func() string) { test(t, NewFleet(t, newDSN()), newDSN) })
}

// OnOneOrEachWithFleet is the same for [OnOneOrEach].
func OnOneOrEachWithFleet(t *testing.T, test func(t *testing.T, f *fleet.Fleet, newDSN func() string)) {
	OnOneOrEach(t, func(t *testing.T, newDSN func() string) { test(t, NewFleet(t, newDSN()), newDSN) })
}
