package sqldb

import (
	"context"
	"fmt"
)

// Lossy is one setting with which a database may lose confirmed changes.
type Lossy struct {
	Variable string // as the database calls it
	Value    string
	Risk     string // which changes may be lost, and when
	Mend     string // the statement that corrects the setting

	// Serious says that the setting is refused; otherwise it is only worth a
	// warning.
	Serious bool
}

func (l Lossy) String() string {
	return fmt.Sprintf("%s is %s: %s. To correct it: %s", l.Variable, l.Value, l.Risk, l.Mend)
}

// Durability returns the settings with which the database may lose what it
// confirmed; none if it keeps it.
//
// A cluster that replicates a transaction to another member before it confirms
// it (Galera, Group Replication) keeps it when one of them fails. There the
// settings of one server are worth a warning only, while it has two members.
func (db *DB) Durability(ctx context.Context) ([]Lossy, error) {
	return db.dialect.of().Durability(ctx, &db.Session)
}

// AcceptLossy has [DB.Change] work also on a connection without a journal.
func (db *DB) AcceptLossy() { db.lossy.Store(true) }

// journaled returns an error if the connection of a transaction has no journal,
// which each connection of a pool may have otherwise.
func (tx *Tx) journaled(ctx context.Context) error {
	db := tx.db
	if !db.dialect.Words().File || !db.guard || db.lossy.Load() {
		return nil
	}
	found, err := db.dialect.of().Durability(ctx, &tx.Session)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("store: a connection of the pool would lose what it confirms: %s", found[0])
	}
	return err
}
