package sqldb

import (
	"context"
	"fmt"
	"time"
)

// RowLockTimeout is how long RowLock waits for a lock until that counts as held. A server
// tells about waits with a delay of up to 0.1 s.
const RowLockTimeout = 500 * time.Millisecond

// Holder is a connection whose transaction has a lock, or may have it.
type Holder struct {
	ID             int64
	User, Host, DB string
	Doing          string // busy, idle, or what else the server calls it
	Seconds        int64  // for which it does that
}

func (h Holder) String() string {
	return fmt.Sprintf("connection %d of %q at %q, database %q, %s for %s", h.ID, h.User, h.Host, h.DB, h.Doing, time.Duration(h.Seconds)*time.Second)
}

// Locks says that the connection has the lock, and by which statement it is ended.
func (h Holder) Locks(end string) string {
	return fmt.Sprintf("locked by the transaction of %s: if its process is frozen or gone, end it on the database server: %s", h, end)
}

// RowLock says who keeps the rows of a query from being changed, and how to end that, as
// the rest of a sentence that begins with the rows; empty if they can be changed. It waits for
// the lock for half a second, and gives it back at once. In SQLite it is a lock on the whole file,
// and only Linux tells who has it.
//
// A lock that a process has taken and does not give back, because it is frozen or gone, ends
// with its connection. A server knows which one that is only while another one waits for
// the lock.
func (db *DB) RowLock(ctx context.Context, query string, args ...any) (string, error) {
	return db.dialect.of().RowLock(ctx, db, query, args...)
}
