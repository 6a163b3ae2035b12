package sqldb

import (
	"context"
	"time"
)

// RowLockTimeout is how long RowLock waits for a lock until that counts as held. A server
// tells about waits with a delay of up to 0.1 s.
const RowLockTimeout = 500 * time.Millisecond

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
