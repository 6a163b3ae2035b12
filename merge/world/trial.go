package world

import (
	"context"
	"errors"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
)

// Trial tries rows that a merge changes against all that their table wants of one row: its generated columns, CHECKs,
// partitions and lists of values. MySQL and MariaDB compute them by SELECT alone. SQLite takes the rows into a temporary
// table, since what becomes of a value is known when it is stored only.
type Trial struct {
	g       *Generated
	on      *Connection // to the first world, whose tables the new database has; nothing else uses it
	changes []int       // columns of the layout: a row is tried if one of them changes
	made    bool        // the temporary table

	unclear   *catalog.Condition // that cannot be tried; nil: none
	unclearly []int              // as changes, for that
	untried   bool               // a row changes so
}

// NewTrial returns the trial of rows in which values of some columns change, and others only as keys do that get new
// values: with these the check tries conditions. It is nil if nothing is to be tried.
func NewTrial(on *Connection, l *Layout, t *catalog.Table, changing []string) *Trial {
	y := &Trial{g: newGenerated(l, t), on: on}
	y.changes = slices.Clone(y.g.reads)
	add := func(all *[]int, column int) {
		if column >= 0 && !slices.Contains(*all, column) {
			*all = append(*all, column)
		}
	}
	for i := range t.Conditions {
		c := &t.Conditions[i]
		reads := func(column string) bool {
			return slices.ContainsFunc(c.Columns, func(name string) bool { return name == column || t.MadeFrom(name, column) })
		}
		if c.Off || c.Kind == catalog.ConditionSize || !slices.ContainsFunc(changing, reads) {
			continue
		}
		changes := &y.changes
		if c.Unclear != "" && l.Dialect.MySQL() {
			y.unclear, changes = c, &y.unclearly
		} else {
			y.g.conditions = append(y.g.conditions, c)
			for _, name := range c.Columns {
				add(&y.g.reads, slices.Index(l.Columns, name))
			}
		}
		for _, name := range changing {
			if reads(name) {
				add(changes, slices.Index(l.Columns, name))
			}
		}
	}
	if len(y.changes)+len(y.unclearly) == 0 {
		return nil
	}
	return y
}

// Wants reports whether a row that becomes another one is to be tried; was is nil if it is new.
func (y *Trial) Wants(was, row []any) bool {
	differs := func(i int) bool { return was == nil || !Same(was[i], row[i]) }
	y.untried = y.untried || slices.ContainsFunc(y.unclearly, differs)
	return y.untried || slices.ContainsFunc(y.changes, differs)
}

// Among finds one of some wanted rows that the table does not take; nil if there is none. At is -1 if it may be an earlier one.
func (y *Trial) Among(ctx context.Context, rows [][]any) (*Bent, error) {
	switch {
	case y.untried:
		return &Bent{At: -1, Row: "a row", condition: y.unclear, why: errors.New(y.unclear.Unclear)}, nil
	case !y.g.l.Dialect.MySQL():
		return y.stored(ctx, rows)
	}
	return y.g.among(ctx, y.on, rows)
}

// stored is Among in SQLite.
func (y *Trial) stored(ctx context.Context, rows [][]any) (*Bent, error) {
	l := y.g.l
	if !y.made {
		// The file itself is open read-only.
		if _, err := y.on.Exec(ctx, "session", "PRAGMA query_only = 0", false); err != nil {
			return nil, err
		}
		create, err := y.on.Texts(ctx, "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ?", l.Table)
		if err != nil || len(create) == 0 {
			return nil, err
		}
		_, err = y.on.Exec(ctx, "create", "CREATE TEMP TABLE"+strings.TrimPrefix(create[0], "CREATE TABLE"), false)
		if sqldb.Says(err, sqldb.Refused) {
			return nil, nil // a function of the game's program, or a text in double quotes: the table cannot be made in the new database either
		}
		if err != nil {
			return nil, err
		}
		y.made = true
		// What they compute of a row counts, not that it is unique: keys are compared by others.
		indexes, err := y.on.Texts(ctx, "SELECT sql FROM main.sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL", l.Table)
		for _, index := range indexes {
			_, index, _ = strings.Cut(index, "INDEX ")
			if err == nil {
				_, err = y.on.Exec(ctx, "create", "CREATE INDEX temp."+index, false)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	for i, row := range rows {
		_, err := y.on.Exec(ctx, "insert", l.Insert(1), true, row...)
		if errors.Is(err, sqldb.ErrInvalid) || errors.Is(err, sqldb.ErrDuplicate) || sqldb.Says(err, sqldb.Refused) {
			return &Bent{At: i, Row: "a row", table: l.Table, why: err}, nil
		}
		if err != nil {
			return nil, err
		}
	}
	_, err := y.on.Exec(ctx, "delete", "DELETE FROM temp."+l.Dialect.Quote(l.Table), false)
	return nil, err
}

// Close leaves the connection without a temporary table.
func (y *Trial) Close() {
	if y != nil && y.made {
		y.on.Drop()
	}
}
