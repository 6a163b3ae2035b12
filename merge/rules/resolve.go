package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/naming"
	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
)

// Names are the tables and columns that the sources have, to look up what was
// declared. A table that no source reads is there without columns.
type Names map[string]map[string]*catalog.Column // by table, by column: one of them

func namesOf(dbs []*Database) Names {
	n := make(Names)
	for _, db := range dbs {
		for _, t := range db.Tables {
			if n[t.Name] == nil {
				n[t.Name] = make(map[string]*catalog.Column)
			}
			for i := range t.Columns {
				n[t.Name][t.Columns[i].Name] = either(n[t.Name][t.Columns[i].Name], &t.Columns[i])
			}
		}
	}
	for _, db := range dbs {
		for _, s := range db.Skipped {
			if _, read := n[s.Table]; !read {
				n[s.Table] = nil
			}
		}
	}
	return n
}

// either is a column of two databases: what two ENUM take that differ is not known.
func either(before, c *catalog.Column) *catalog.Column {
	listed := func(c *catalog.Column) bool { return strings.HasPrefix(strings.ToLower(c.Type), "enum(") }
	if before == nil || !listed(c) || before.Type == c.Type {
		return c
	}
	both := *before
	if listed(before) {
		both.Type = "an ENUM with different words in the databases"
	}
	return &both
}

// lacks says that a table has no such column, and which it has.
func (n Names) lacks(table, column string) string {
	columns := slices.Sorted(maps.Keys(n[table]))
	hint := naming.Hint(column, columns)
	if hint == "" && len(columns) > 0 {
		hint = ": it has " + printable.Names(columns)
	}
	return fmt.Sprintf("table %q has no column %q%s", table, column, hint)
}

// has returns an error if no world has one of the columns. what is what was
// declared: `unique 2`.
func (n Names) has(what, table string, columns ...string) error {
	found, known := n[table]
	if !known {
		return Unsuitable("%s: no world has a table %q%s", what, table, naming.Hint(table, slices.Sorted(maps.Keys(n))))
	}
	if len(columns) == 0 {
		return Unsuitable("%s: it has no column of %q", what, table)
	}
	for i, c := range columns {
		if found != nil && found[c] == nil {
			return Unsuitable("%s: %s", what, n.lacks(table, c))
		}
		if slices.Contains(columns[:i], c) {
			return Unsuitable("%s: it has column %q twice", what, c)
		}
	}
	return nil
}

// resolve makes sure that the tables and columns that the operator declares
// exist, and notes in the tables which columns hold IDs.
func resolve(opts Options, dbs []*Database) error {
	n := namesOf(dbs)
	err := opts.eachUnique(func(what, table string, columns, _ []string) error { return n.has(what, table, columns...) })
	if err != nil {
		return err
	}
	for i, a := range opts.Accounts {
		what := fmt.Sprintf("account %d%s", i+1, in(a.File, a.Line))
		if err := n.has(what, a.Table, a.Column); err != nil {
			return err
		}
		if a.Max < 0 {
			return Unsuitable("%s: max is %d, want 0 or more", what, a.Max)
		}
	}
	for i, id := range opts.IDs {
		what := fmt.Sprintf("id %d%s", i+1, in(id.File, id.Line))
		if err := n.has(what, id.Table, id.Column); err != nil {
			return err
		}
		for _, db := range dbs {
			if err := db.declareID(id); err != nil {
				return Unsuitable("%s: %v", what, err)
			}
		}
	}
	return nil
}

// declareID notes that a column holds IDs.
func (db *Database) declareID(id IDColumn) error {
	t := db.Tables[id.Table]
	if t == nil || t.Column(id.Column) == nil {
		return nil
	}
	switch col := t.Column(id.Column); col.Kind {
	case catalog.KindBytes, catalog.KindText, catalog.KindOther:
	default:
		return fmt.Errorf("column %s of %s is %s in %s: an ID is 10 bytes or 20 digits of text", id.Column, id.Table, col.Declared(), db.Name)
	}
	// The catalogue belongs to the source.
	clone := *t
	clone.Columns = slices.Clone(t.Columns)
	col := clone.Column(id.Column)
	col.IsID, col.Opaque = true, ""
	db.Tables[id.Table] = &clone
	return nil
}
