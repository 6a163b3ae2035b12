package record

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/keys"
	"mergesafe/merge/world"
)

// KeysTable is the record of where the keys of a new database came from, also by merges
// before, from the records of its worlds.
const KeysTable = sqldb.KeysTable

// KeySet is one entry: the keys of one column of one source of a merge.
type KeySet struct {
	Path   string // the merges by which it came, the last one first: "merge.source", the number of the source in its plan
	Source string
	Table  string
	Column string
	Space  string
	Offset uint64
	Range  keys.Range // of the new keys; wider than that of Keys, if others were given along
	Keys   *keys.Set  // old ones; nil where only the ends of the pieces were read
	Count  int64      // how many they are, as the view shows it
	pieces []keyPiece

	matching bool        // [MatchesTable] may have keys of it
	Matches  *keys.Pairs // these, if they were loaded
}

func CreateKeys(d world.Dialect) string {
	if d.MySQL() {
		return "CREATE TABLE IF NOT EXISTS " + KeysTable + ` (
			path VARCHAR(500) CHARACTER SET ascii NOT NULL, source VARCHAR(200) NOT NULL, tab VARCHAR(64) NOT NULL, col VARCHAR(64) NOT NULL, part INT NOT NULL,
			space VARCHAR(200) NOT NULL, shift BIGINT UNSIGNED NOT NULL, low VARCHAR(20) NOT NULL, high VARCHAR(20) NOT NULL, n BIGINT NOT NULL, data MEDIUMBLOB NOT NULL,
			first_key VARCHAR(20) NOT NULL DEFAULT '', last_key VARCHAR(20) NOT NULL DEFAULT '', came DATETIME(3) NULL,
			id BIGINT NOT NULL AUTO_INCREMENT, PRIMARY KEY (id), UNIQUE KEY entry (path, tab, col, part)` + mysqlEnd
	}
	return "CREATE TABLE IF NOT EXISTS " + KeysTable + ` (
		path TEXT NOT NULL, source TEXT NOT NULL, tab TEXT NOT NULL, col TEXT NOT NULL, part INTEGER NOT NULL,
		space TEXT NOT NULL, shift TEXT NOT NULL, low TEXT NOT NULL, high TEXT NOT NULL, n INTEGER NOT NULL, data BLOB NOT NULL,
		first_key TEXT NOT NULL DEFAULT '', last_key TEXT NOT NULL DEFAULT '', came TEXT NULL,
		PRIMARY KEY (path, tab, col, part)) WITHOUT ROWID`
}

// columnsOfKeys are the columns that the table has; none if it is not there.
func columnsOfKeys(ctx context.Context, on *world.Connection) ([]string, error) {
	if on.Dialect().MySQL() {
		return on.Texts(ctx, "SELECT LOWER(COLUMN_NAME) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '"+KeysTable+"'")
	}
	return on.Texts(ctx, "SELECT LOWER(name) FROM pragma_table_info('"+KeysTable+"')")
}

// HasKeys reports whether a database has the table.
func HasKeys(ctx context.Context, on *world.Connection) (bool, error) {
	have, err := columnsOfKeys(ctx, on)
	return len(have) > 0, err
}

// SaveKeys writes an entry, in the place of an older one.
func SaveKeys(ctx context.Context, on *world.Connection, k *KeySet, now time.Time) error {
	ends := func(r keys.Range) (low, high string) { // "": the source had nothing of that kind
		if r.Any {
			low, high = r.Low.String(), r.High.String()
		}
		return low, high
	}
	low, high := ends(k.Range)
	came := now.UTC().Format("2006-01-02 15:04:05.000")
	return on.Tx(ctx, func() error {
		if _, err := on.Exec(ctx, "clear", "DELETE FROM "+KeysTable+" WHERE path = ? AND tab = ? AND col = ?", false, k.Path, k.Table, k.Column); err != nil {
			return err
		}
		return eachPiece(k.Keys, func(p keyPiece) error {
			first, last := ends(p.ends)
			_, err := on.Exec(ctx, "keys", "INSERT INTO "+KeysTable+" (path, source, tab, col, part, space, shift, low, high, n, data, first_key, last_key, came) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", false,
				k.Path, k.Source, k.Table, k.Column, p.part, k.Space, fmt.Sprint(k.Offset), low, high, k.Keys.Len(), p.bytes, first, last, came)
			return err
		})
	})
}

// LoadKeys reads the entries that meet a condition, with their keys; "" is all.
func LoadKeys(ctx context.Context, on *world.Connection, where string, args []any) (all []KeySet, err error) {
	if all, err = ReadKeys(ctx, on, true, where, args); err != nil {
		return nil, err
	}
	for i := range all {
		k := &all[i]
		if k.Keys, err = k.whole(); err != nil {
			return nil, k.unread(on, err)
		}
		k.pieces = nil
	}
	return all, nil
}

// ReadKeys reads the entries that meet a condition. Without their keys it reads where these
// lie.
func ReadKeys(ctx context.Context, on *world.Connection, keyed bool, where string, args []any) (all []KeySet, err error) {
	if known, err := HasKeys(ctx, on); err != nil || !known {
		return nil, err
	}
	query := "SELECT path, source, tab, col, part, space, shift, low, high, n, first_key, last_key"
	if keyed {
		query += ", data"
	}
	query += " FROM " + KeysTable
	if where != "" {
		query += " WHERE " + where
	}
	span := func(low, high any, columns string) (r keys.Range, err error) {
		if r.Any = len(world.Printed(low)) > 0; !r.Any {
			return r, nil
		}
		if r.Low, err = world.KeyIn(low, KeysTable+"."+columns); err == nil {
			r.High, err = world.KeyIn(high, KeysTable+"."+columns)
		}
		return r, err
	}
	err = on.Rows(ctx, query+" ORDER BY path, tab, col, part", false, args, func(row []any) (bool, error) {
		var p keyPiece
		var err error
		if p.ends, err = span(row[10], row[11], "first_key, last_key"); err != nil {
			return false, err
		}
		if p.part, err = world.IntIn(row[4], KeysTable+".part"); err != nil {
			return false, err
		}
		if p.part == 0 {
			k := KeySet{Path: world.Text(row[0]), Source: world.Text(row[1]), Table: world.Text(row[2]), Column: world.Text(row[3]), Space: world.Text(row[5])}
			if k.Range, err = span(row[7], row[8], "low, high"); err != nil {
				return false, err
			}
			offset, err := world.KeyIn(row[6], KeysTable+".shift")
			if err != nil {
				return false, err
			}
			k.Offset = offset.Bits
			if k.Count, err = world.IntIn(row[9], KeysTable+".n"); err != nil {
				return false, err
			}
			all = append(all, k)
		}
		if keyed {
			p.bytes = slices.Clone(world.Printed(row[12]))
		}
		if len(all) > 0 {
			k := &all[len(all)-1]
			k.pieces = append(k.pieces, p)
		}
		return true, nil
	})
	return all, err
}
