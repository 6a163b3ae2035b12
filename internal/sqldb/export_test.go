package sqldb

// Locked reports whether another connection has the lock of an SQLite file.
func (db *DB) Locked() bool { return db.locked() }

// OutOfGroup is outOfGroup.
var OutOfGroup = outOfGroup
