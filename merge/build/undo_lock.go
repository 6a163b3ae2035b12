package build

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// Without a registry, only the database can keep a game from writing to it while it is compared and dropped. So undo locks the
// tables of a server on a connection of its own, and a file on the only one that it has: the locks end with that session, and so
// with the process. It reads and drops the tables on the same connection, since no other one can.

// errLetIn says that the session with the locks has ended: other processes may have written since.
var errLetIn = errors.New("the connection that locked the tables was lost")

// fromTheLocks makes [errLetIn] an error that the whole step retries, with new locks: a part of it cannot.
func fromTheLocks(err error) error {
	if errors.Is(err, errLetIn) {
		err = fmt.Errorf("%w: %w", sqldb.ErrRetryable, err)
	}
	return err
}

// keepOut locks the tables of the merge, or the file, and returns the connection that has the locks.
func (u *undo) keepOut(ctx context.Context) (*world.Connection, error) {
	if !u.New.Dialect().MySQL() {
		return u.lockFile(ctx)
	}
	out := &world.Connection{Database: u.New.Database, Writes: true, Unchecked: true, Fail: u.New.Fail}
	if err := u.lockTables(ctx, out); err != nil {
		out.Close()
		return nil, fmt.Errorf("locking the tables of %q: %w", u.New.Name, err)
	}
	out.Begins = func(context.Context) error { return errLetIn }
	u.out = out
	return out, nil
}

// lockTables locks the tables on a server. In a cluster of which several servers take writes it does not: what others write
// there is confirmed all the same, waits here to be applied, and with it all that comes later, the drop itself among it.
func (u *undo) lockTables(ctx context.Context, out *world.Connection) error {
	elsewhere, err := world.WritesElsewhere(ctx, out)
	if err != nil {
		return err
	}
	if elsewhere {
		note := "several servers of the cluster of " + printable.Text(u.New.Name) + " take writes, so its tables could not be locked: what a client wrote to them while undo ran is lost"
		if !slices.Contains(u.Notes, note) {
			u.Notes = append(u.Notes, note)
		}
		return nil
	}
	lock := func(how string, tables []string) []string {
		return slice.Map(tables, func(table string) string { return out.Dialect().Quote(table) + how })
	}
	tables, err := world.TablesOf(ctx, out, "BASE TABLE", append(u.tables(), u.counters()...))
	if err != nil {
		return err
	}
	sequences, err := world.TablesOf(ctx, out, "SEQUENCE", u.counters()) // which others read as objects
	if locks := append(lock(" WRITE", tables), lock(" READ", sequences)...); err == nil && len(locks) > 0 {
		_, err = out.Exec(ctx, "lock", "LOCK TABLES "+strings.Join(locks, ", "), false)
	}
	return err
}

// lockFile waits until no other process has the file open, and keeps it so.
func (u *undo) lockFile(ctx context.Context) (*world.Connection, error) {
	u.alone()
	if err := world.Lock(ctx, u.New); err != nil {
		return nil, err
	}
	u.out = u.New
	u.New.Begins = func(context.Context) error { // another session: the one with the lock has ended
		u.out, u.New.Begins = nil, nil
		return nil
	}
	return u.out, nil
}

// alone opens a file so that no other process has it open, when it is used next. So it can be read on a full disk, too.
func (u *undo) alone() {
	if !u.New.Dialect().MySQL() && !u.New.Alone {
		u.New.Close()
		u.New.Alone, u.New.Writes = true, true
	}
}

// letIn releases the locks.
func (u *undo) letIn() {
	if u.New.Alone {
		u.New.Close()
		u.New.Alone, u.New.Begins = false, nil
	} else if u.out != nil {
		u.out.Close()
	}
	u.out = nil
}

// counters are the tables and sequences from which the worlds learn.
func (u *undo) counters() []string {
	return slice.Map(u.Plan.Counters, func(c plan.RowCounter) string { return c.Table })
}

// reads is the run whose connection to the new database can read its tables.
func (u *undo) reads() *job.Run {
	if u.out == nil {
		return u.Run
	}
	return u.Over(u.out)
}

// shut locks the tables, or the file. Unless Force is set, it also compares them with the record, under the locks.
func (u *undo) shut(ctx context.Context) error {
	u.shuts = true
	if !u.force {
		return u.untouched(ctx)
	}
	return u.Retry(ctx, "locking "+u.New.Name, func(ctx context.Context) error {
		u.letIn()
		_, err := u.keepOut(ctx)
		return err
	})
}

// stillShut locks again if the session with the locks was lost.
func (u *undo) stillShut(ctx context.Context) error {
	if !u.shuts || u.out != nil {
		return nil
	}
	u.letIn()
	if err := u.Learn(ctx); err != nil {
		return err
	}
	return u.shut(ctx)
}

// dropLocked drops the tables that are locked, before others can write to them, and returns their names.
func (u *undo) dropLocked(ctx context.Context) (dropped []string, err error) {
	if u.out == nil {
		return nil, nil
	}
	defer u.letIn()
	dropped, err = world.TablesOf(ctx, u.out, "BASE TABLE", u.tables())
	if err != nil || len(dropped) == 0 {
		return nil, err
	}
	_, err = u.out.Exec(ctx, "drop", "DROP TABLE "+u.out.Dialect().QuoteAll(dropped), false)
	if sqldb.Says(err, sqldb.NoTable) { // MySQL dropped them, and opens again those of which a foreign key refers to another one
		left, unread := world.TablesOf(ctx, u.out, "BASE TABLE", u.tables())
		if unread == nil && len(left) == 0 {
			err = nil
		}
	}
	return dropped, err
}
