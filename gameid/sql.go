package gameid

import (
	"database/sql/driver"
	"fmt"
)

// Value gives the raw 10 bytes to the database driver, for a column of type
// BINARY(10) in MySQL and MariaDB or BLOB in SQLite. The zero ID is an error,
// so that a forgotten ID is never stored: for a column that may be NULL use a
// pointer or [database/sql.Null].
func (id ID) Value() (driver.Value, error) {
	b, err := id.MarshalBinary()
	if err != nil {
		return nil, err // not b: a nil slice inside an interface is not NULL
	}
	if askedByGORM() {
		return string(b), nil // which GORM does not take apart
	}
	return b, nil
}

// Scan reads an ID from a database: 10 raw bytes, or the 20 digits as string
// or bytes, as HEX(id) gives them. NULL, another length and another type are
// errors. Then *id becomes the zero ID. It does not allocate unless it
// fails.
func (id *ID) Scan(src any) (err error) {
	switch v := src.(type) {
	case []byte:
		if len(v) == TextSize {
			*id, err = parse(v)
		} else {
			*id, err = FromBytes(v)
		}
	case string:
		if len(v) == Size { // drivers may deliver BINARY as string
			*id, err = FromBytes([]byte(v))
		} else {
			*id, err = parse(v)
		}
	case nil:
		*id, err = ID{}, fmt.Errorf("gameid: the column is NULL: scan into a pointer or sql.Null if an ID may be missing")
	default:
		*id, err = ID{}, fmt.Errorf("gameid: a column of Go type %T is not an ID: want %d bytes or %d hexadecimal digits", src, Size, TextSize)
	}
	return err
}
