package transfer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
	"mergesafe/merge/rekey"
)

// KeysTable is the target's record of where its keys came from, also by merges that
// were undone and by those in the records of its sources.
const KeysTable = sqldb.KeysTable

// keySet is one entry: the keys of one column of one source of a merge.
type keySet struct {
	Path   string // the merges by which it came, the last one first: "merge.source", the number of the source in its plan
	Source string
	Table  string
	Column string
	Space  string
	Offset uint64
	Range  rekey.Range // of the new keys; wider than that of Keys, if others were given along
	Keys   *rekey.Set  // old ones; nil where only the ends of the pieces were read
	Undone bool
	pieces []keyPiece

	matching bool         // [MatchesTable] may have keys of it
	matches  *rekey.Pairs // these, if they were loaded
}

func createKeys(d dialect) string {
	if d.mysql() {
		return "CREATE TABLE IF NOT EXISTS " + KeysTable + ` (
			path VARCHAR(500) CHARACTER SET ascii NOT NULL, source VARCHAR(200) NOT NULL, tab VARCHAR(64) NOT NULL, col VARCHAR(64) NOT NULL, part INT NOT NULL,
			space VARCHAR(200) NOT NULL, shift BIGINT UNSIGNED NOT NULL, low VARCHAR(20) NOT NULL, high VARCHAR(20) NOT NULL, n BIGINT NOT NULL, undone INT NOT NULL, data MEDIUMBLOB NOT NULL,
			first_key VARCHAR(20) NOT NULL DEFAULT '', last_key VARCHAR(20) NOT NULL DEFAULT '', came DATETIME(3) NULL,
			id BIGINT NOT NULL AUTO_INCREMENT, PRIMARY KEY (id), UNIQUE KEY entry (path, tab, col, part)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`
	}
	return "CREATE TABLE IF NOT EXISTS " + KeysTable + ` (
		path TEXT NOT NULL, source TEXT NOT NULL, tab TEXT NOT NULL, col TEXT NOT NULL, part INTEGER NOT NULL,
		space TEXT NOT NULL, shift TEXT NOT NULL, low TEXT NOT NULL, high TEXT NOT NULL, n INTEGER NOT NULL, undone INTEGER NOT NULL, data BLOB NOT NULL,
		first_key TEXT NOT NULL DEFAULT '', last_key TEXT NOT NULL DEFAULT '', came TEXT NULL,
		PRIMARY KEY (path, tab, col, part)) WITHOUT ROWID`
}

// createKeys makes the table, and adds to one that older programs made what these did not
// note: of entries from then that stays empty.
func (r *run) createKeys(ctx context.Context) error {
	d := r.target.dialect()
	if _, err := r.target.exec(ctx, "create", createKeys(d), false); err != nil {
		return err
	}
	have, err := columnsOfKeys(ctx, r.target)
	moment := map[bool]string{true: "DATETIME(3)", false: "TEXT"}[d.mysql()]
	for _, c := range []struct{ name, is string }{{"first_key", "VARCHAR(20) NOT NULL DEFAULT ''"}, {"last_key", "VARCHAR(20) NOT NULL DEFAULT ''"}, {"came", moment + " NULL"}} {
		if err == nil && !slices.Contains(have, c.name) {
			_, err = r.target.exec(ctx, "create", "ALTER TABLE "+KeysTable+" ADD COLUMN "+c.name+" "+c.is, false)
		}
	}
	return err
}

// columnsOfKeys are the columns that the table has; none if it is not there.
func columnsOfKeys(ctx context.Context, on *connection) ([]string, error) {
	if on.dialect().mysql() {
		return on.texts(ctx, "SELECT LOWER(COLUMN_NAME) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '"+KeysTable+"'")
	}
	return on.texts(ctx, "SELECT LOWER(name) FROM pragma_table_info('"+KeysTable+"')")
}

// hasKeys reports whether a database has the table.
func hasKeys(ctx context.Context, on *connection) (bool, error) {
	have, err := columnsOfKeys(ctx, on)
	return len(have) > 0, err
}

// rememberKeys records the keys of the sources, and what these remember of theirs, when
// all rows were copied.
func (r *run) rememberKeys(ctx context.Context) error {
	if r.plan.Rekey == nil {
		return nil
	}
	if err := r.createKeys(ctx); err != nil {
		return err
	}
	for i, src := range r.sources {
		var all []keySet
		for _, c := range r.plan.Rekey.Columns {
			if !c.Key {
				continue
			}
			k, err := r.keysOf(ctx, i, &c)
			if err != nil {
				return err
			}
			all = append(all, *k)
		}
		matches := r.ownMatches(i)
		known, err := hasKeys(ctx, src)
		if err != nil {
			return err
		}
		if known {
			theirs, err := loadKeys(ctx, src, "", nil)
			if err != nil {
				return err
			}
			brought, err := r.broughtMatches(ctx, i, theirs)
			if err != nil {
				return err
			}
			matches = append(matches, brought...)
			for _, k := range theirs {
				k.Path = r.path(i) + " " + k.Path
				all = append(all, k)
			}
		}
		for i := range all {
			if err := saveKeys(ctx, r.target, &all[i], r.hooks.clock()); err != nil {
				return err
			}
		}
		if err := r.saveMatches(ctx, i, matches); err != nil {
			return err
		}
	}
	return r.makeKeysView(ctx)
}

// path is that of the keys of a source.
func (r *run) path(source int) string { return fmt.Sprintf("%s.%d", r.plan.ID, source) }

// keysOf returns the keys of one column of a source, and reads them unless all came by
// while they were copied.
func (r *run) keysOf(ctx context.Context, source int, c *merge.RekeyedColumn) (*keySet, error) {
	src, space := r.sources[source], r.plan.Rekey.Space(c.Cases[0].Space)
	k := &keySet{Path: r.path(source), Source: src.Name, Table: c.Table, Column: c.Column, Space: space.Name,
		Offset: space.Sources[source].Offset, Range: space.Sources[source].New, Keys: &rekey.Set{Exact: true}}
	if r.plan.table(c.Table) == nil { // no source had a row
		k.Keys.Finish()
		return k, nil
	}
	if seen := r.seen.all(source, c.Table, c.Column, r.plan.table(c.Table).Sources[source].Rows); seen != nil {
		k.Keys = seen
		return k, nil
	}
	d := src.dialect()
	err := src.rows(ctx, "SELECT "+d.Quote(c.Column)+" FROM "+d.Quote(c.Table)+where(src.comes(c.Table)), false, nil, func(row []any) (bool, error) {
		n, ok := rekey.ParseInteger(printed(row[0]))
		if !ok {
			return false, fmt.Errorf("%s.%s has a key that is not an integer", c.Table, c.Column)
		}
		k.Keys.Add(n)
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the keys of table %q of %q: %w", c.Table, src.Name, err)
	}
	k.Keys.Finish()
	return k, nil
}

// saveKeys writes an entry, in the place of an older one.
func saveKeys(ctx context.Context, on *connection, k *keySet, now time.Time) error {
	ends := func(r rekey.Range) (low, high string) { // "": the source had nothing of that kind
		if r.Any {
			low, high = r.Low.String(), r.High.String()
		}
		return low, high
	}
	low, high := ends(k.Range)
	came := now.UTC().Format("2006-01-02 15:04:05.000")
	undone := 0
	if k.Undone {
		undone = 1
	}
	return on.tx(ctx, func() error {
		if _, err := on.exec(ctx, "clear", "DELETE FROM "+KeysTable+" WHERE path = ? AND tab = ? AND col = ?", false, k.Path, k.Table, k.Column); err != nil {
			return err
		}
		return eachPiece(k.Keys, func(p keyPiece) error {
			first, last := ends(p.ends)
			_, err := on.exec(ctx, "keys", "INSERT INTO "+KeysTable+" (path, source, tab, col, part, space, shift, low, high, n, undone, data, first_key, last_key, came) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", false,
				k.Path, k.Source, k.Table, k.Column, p.part, k.Space, fmt.Sprint(k.Offset), low, high, k.Keys.Len(), undone, p.bytes, first, last, came)
			return err
		})
	})
}

// loadKeys reads the entries that meet a condition, with their keys; "" is all.
func loadKeys(ctx context.Context, on *connection, where string, args []any) (all []keySet, err error) {
	if all, err = readKeys(ctx, on, true, where, args); err != nil {
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

// readKeys reads the entries that meet a condition. Without their keys it reads where these
// lie.
func readKeys(ctx context.Context, on *connection, keys bool, where string, args []any) (all []keySet, err error) {
	have, err := columnsOfKeys(ctx, on)
	if err != nil || len(have) == 0 {
		return nil, err
	}
	columns := "'', ''"
	if slices.Contains(have, "first_key") && slices.Contains(have, "last_key") {
		columns = "first_key, last_key"
	}
	if keys {
		columns += ", data"
	}
	query := "SELECT path, source, tab, col, part, space, shift, low, high, n, undone, " + columns + " FROM " + KeysTable
	if where != "" {
		query += " WHERE " + where
	}
	span := func(low, high any, columns string) (r rekey.Range, err error) {
		if r.Any = len(printed(low)) > 0; !r.Any {
			return r, nil
		}
		if r.Low, err = keyIn(low, KeysTable+"."+columns); err == nil {
			r.High, err = keyIn(high, KeysTable+"."+columns)
		}
		return r, err
	}
	err = on.rows(ctx, query+" ORDER BY path, tab, col, part", false, args, func(row []any) (bool, error) {
		var p keyPiece
		var err error
		if p.ends, err = span(row[11], row[12], "first_key, last_key"); err != nil {
			return false, err
		}
		if p.part, err = intIn(row[4], KeysTable+".part"); err != nil {
			return false, err
		}
		if p.part == 0 {
			k := keySet{Path: text(row[0]), Source: text(row[1]), Table: text(row[2]), Column: text(row[3]), Space: text(row[5])}
			if k.Range, err = span(row[7], row[8], "low, high"); err != nil {
				return false, err
			}
			offset, err := keyIn(row[6], KeysTable+".shift")
			if err != nil {
				return false, err
			}
			undone, err := intIn(row[10], KeysTable+".undone")
			if err != nil {
				return false, err
			}
			k.Offset, k.Undone = offset.Bits, undone != 0
			all = append(all, k)
		}
		if keys {
			p.bytes = slices.Clone(printed(row[13]))
		}
		if len(all) > 0 {
			k := &all[len(all)-1]
			k.pieces = append(k.pieces, p)
		}
		return true, nil
	})
	return all, err
}

// forgetKeys notes that the merge was undone. What was given stays on record, so that it
// is not given again.
func (r *run) forgetKeys(ctx context.Context) error {
	known, err := hasKeys(ctx, r.target)
	if err != nil || !known {
		return err
	}
	if _, err = r.target.exec(ctx, "keys", "UPDATE "+KeysTable+" SET undone = 1 WHERE path LIKE ?", false, r.plan.ID+".%"); err != nil {
		return err
	}
	if known, err = hasMatches(ctx, r.target); err != nil || !known {
		return err
	}
	_, err = r.target.exec(ctx, "keys", "UPDATE "+MatchesTable+" SET undone = 1 WHERE path LIKE ?", false, r.plan.ID+".%")
	return err
}
