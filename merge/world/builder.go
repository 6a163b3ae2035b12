package world

import (
	"cmp"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
)

// builder puts a catalogue together from what the database says of tables,
// columns, indexes and references, in this order. What belongs to a table that
// is not read is left out.
type builder struct {
	catalog.Catalog
	tables  map[string]*building
	skipped map[string]bool

	sequences []string // of MariaDB: their rows are not read, and where they stand is
}

// building is a table of the catalogue, its columns apart, and how to read it.
type building struct {
	catalog.Table
	table

	partitionOfRest bool // see hasPartitionOfRest
}

func newBuilder() *builder {
	return &builder{Catalog: catalog.Catalog{About: make(map[string]int64)}, tables: make(map[string]*building), skipped: make(map[string]bool)}
}

func (b *builder) table(name string) {
	b.tables[name] = &building{Table: catalog.Table{Name: name}, table: table{name: name, byName: make(map[string]*column)}}
}

// skip names a table that will not be read. It may have been added before.
func (b *builder) skip(name, reason string) {
	delete(b.tables, name)
	if !b.skipped[name] {
		b.skipped[name] = true
		b.Skipped = append(b.Skipped, catalog.Skipped{Table: name, Reason: reason})
	}
}

func (b *builder) column(table string, c column) {
	if t := b.tables[table]; t != nil {
		t.columns = append(t.columns, &c)
		t.byName[c.Name] = &c
	}
}

// index adds one column to a unique index. unclear, if not empty, says why it
// does not simply count.
func (b *builder) index(table, index string, primary bool, column, unclear string) {
	t := b.tables[table]
	switch {
	case t == nil:
	case primary && unclear != "":
		b.skip(table, "its primary key cannot be compared: "+unclear)
	case primary:
		t.Primary = append(t.Primary, column)
	default:
		if n := len(t.Uniques); n == 0 || t.Uniques[n-1].Name != index {
			t.Uniques = append(t.Uniques, catalog.Unique{Name: index})
		}
		u := &t.Uniques[len(t.Uniques)-1]
		u.Columns = append(u.Columns, cmp.Or(column, catalog.Expression))
		u.Unclear = cmp.Or(u.Unclear, unclear)
	}
}

// view adds a view, unless it is ours: that one comes and goes with the table of keys, and
// is no part of the game's schema.
func (b *builder) view(name string) {
	if !strings.EqualFold(name, sqldb.KeysView) {
		b.Views = append(b.Views, name)
	}
}

// reference adds one pair of columns to a reference.
func (b *builder) reference(table string, r catalog.Reference, column, toColumn string) {
	t := b.tables[table]
	if t == nil {
		return
	}
	if n := len(t.References); n == 0 || t.References[n-1].Name != r.Name {
		t.References = append(t.References, r)
	}
	last := &t.References[len(t.References)-1]
	last.Columns = append(last.Columns, column)
	last.ToColumns = append(last.ToColumns, toColumn)
}

func (b *builder) finish() *schema {
	s := &schema{Catalog: b.Catalog, tables: make(map[string]*table)}
	for _, t := range b.tables {
		for _, c := range t.columns {
			if c.Kind = c.kind.shown(); c.alone {
				c.Kind = catalog.KindOther
			}
			if c.json {
				c.Kind = catalog.KindJSON
			}
			t.Columns = append(t.Columns, c.Column)
		}
		s.Tables = append(s.Tables, t.Table)
		t.table.primary, t.table.uniques = t.Primary, t.Uniques
		s.tables[t.name] = &t.table
	}
	slices.SortFunc(s.Tables, func(x, y catalog.Table) int { return strings.Compare(x.Name, y.Name) })
	slices.Sort(s.Views)
	slices.SortFunc(s.Skipped, func(x, y catalog.Skipped) int { return strings.Compare(x.Table, y.Table) })
	return s
}
