package world

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/internal/sqldb"
)

// Twin are two of several databases that are one, under two names; or that may be, and Unclear says why that is not
// known.
type Twin struct {
	A, B    string // their names
	Unclear string
}

// Twins compares each two databases by what both ends of live connections say. All of them are there. Beside an error
// it returns what it found of the databases that answer.
func Twins(ctx context.Context, all []Database) (twins []Twin, err error) {
	var names []string
	var dbs []*sqldb.Located
	for _, d := range all {
		db, failed := sqldb.Dial(ctx, d.DSN, sqldb.ReadOnly)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("database %q: %w", d.Name, failed))
			continue
		}
		defer db.Close()
		at, failed := db.Locate(ctx)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("database %q: %w", d.Name, failed))
			continue
		}
		for i, other := range dbs {
			same, unclear, failed := other.Same(ctx, at)
			if failed != nil {
				err = errors.Join(err, fmt.Errorf("databases %q and %q: %w", names[i], d.Name, failed))
			} else if same || unclear != "" {
				twins = append(twins, Twin{names[i], d.Name, unclear})
			}
		}
		dbs, names = append(dbs, at), append(names, d.Name)
	}
	return twins, err
}
