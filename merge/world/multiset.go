package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
)

// A table without a key is a multiset: equal rows cannot be told apart, and need not
// be. Sums prove it, as they do for every table.

// Multiset reports whether the table has no key.
func (l *Layout) Multiset() bool { return len(l.Key) == 0 }

// identity is an expression that is the same for two rows exactly if all values are.
func (d Dialect) identity(t *catalog.Table) string {
	var parts []string
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Generated == "" {
			parts = append(parts, d.identityOf(c))
		}
	}
	if d.MySQL() {
		// Of the hashes of values, since CONCAT returns NULL for what is too long.
		return "SHA2(CONCAT(" + strings.Join(parts, ", ',', ") + "), 256)"
	}
	// In groups: SQLite has tables of 2000 columns, and expressions of 1000 levels.
	var groups []string
	for some := range slices.Chunk(parts, 40) {
		groups = append(groups, "("+strings.Join(some, " || ',' || ")+")")
	}
	return strings.Join(groups, " || ',' || ")
}

func (d Dialect) identityOf(c *catalog.Column) string {
	name, declared := d.Quote(c.Name), strings.ToLower(c.Type)
	if !d.MySQL() {
		// quote writes both zeros alike.
		negative := "typeof(" + name + ") = 'real' AND " + name + " = 0 AND atan2(" + name + ", -1) < 0"
		return "quote(" + name + ") || CASE WHEN " + negative + " THEN '-' ELSE '' END"
	}
	switch {
	case strings.HasPrefix(declared, "float"), strings.HasPrefix(declared, "double"):
		name = "CAST(" + name + " * 1e0 AS CHAR)" // alone, a FLOAT is printed in 6 digits; + 0e0 makes -0 0
	case strings.HasPrefix(declared, "bit"):
		name = "CAST(" + name + " + 0 AS CHAR)"
	case c.Collation != "" || c.Kind == catalog.KindBytes:
	case c.Kind == catalog.KindOther && declared != "json" && !strings.HasPrefix(declared, "set") && !strings.HasPrefix(declared, "inet") && declared != "uuid":
		// Shapes and vectors are bytes.
	default:
		name = "CAST(" + name + " AS CHAR)"
	}
	return "COALESCE(SHA2(" + name + ", 256), 'NULL')"
}

// Every calls take with every row of a table, in no order. take may keep the row.
func Every(ctx context.Context, on *Connection, l *Layout, take func(row []any) error) error {
	err := on.Rows(ctx, l.SelectFrom()+Where(on.Comes(l.Table)), true, nil, func(row []any) (bool, error) {
		row = slices.Clone(row)
		l.Tidy(row)
		return true, take(row)
	})
	if err != nil {
		return fmt.Errorf("reading table %q of %q: %w", l.Table, on.Name, err)
	}
	return nil
}

// MovedTable is the table of rows that meet a condition, with the keys that moves say, of which
// every value moves but for those that stay.
func (l *Layout) MovedTable(moves []Move, condition string) string {
	table := l.Dialect.Quote(l.Table)
	if len(moves) == 0 && condition == "" {
		return table
	}
	columns := make([]string, len(l.Columns))
	for i, name := range l.Columns {
		columns[i] = l.Dialect.Quote(name)
	}
	for _, m := range moves {
		name := columns[m.Column]
		columns[m.Column] = m.Cases[0].Shift.SQL(name) + " AS " + name
	}
	return "(SELECT " + strings.Join(columns, ", ") + " FROM " + table + Where(condition) + ") AS " + table
}

// ContentsOfMultiset is contents for a table without a key.
func ContentsOfMultiset(ctx context.Context, on *Connection, l *Layout, change Changer, between func(rows int) error) (Content, error) {
	var c Content
	var h Hasher
	const often = 2000
	err := Every(ctx, on, l, func(row []any) error {
		sum, err := h.Row(row)
		if err != nil {
			return err
		}
		c.Rows++
		c.Sum = c.Sum.Add(sum)
		changed, err := change.Row(row)
		if err == nil && changed {
			sum, err = h.Row(row)
		}
		if err != nil {
			return err
		}
		c.After = c.After.Add(sum)
		if c.Rows%often == 0 {
			return between(often)
		}
		return nil
	})
	if err == nil {
		err = between(int(c.Rows % often))
	}
	return c, err
}

// Identities counts the rows of a table by their identity, with the keys that moves say;
// of those that are wanted only, unless wanted is nil.
func Identities(ctx context.Context, on *Connection, l *Layout, moves []Move, wanted map[string]int64) (map[string]int64, error) {
	found := make(map[string]int64)
	err := on.Rows(ctx, "SELECT "+l.Identity+" FROM "+l.MovedTable(moves, on.Comes(l.Table)), true, nil, func(row []any) (bool, error) {
		if row[0] == nil {
			return false, errors.New("the database cannot identify a row: a value is larger than max_allowed_packet")
		}
		is := Text(row[0])
		if _, want := wanted[is]; want || wanted == nil {
			found[is]++
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading table %q of %q: %w", l.Table, on.Name, err)
	}
	return found, nil
}

func Total64(all map[string]int64) (n int64) {
	for _, rows := range all {
		n += rows
	}
	return n
}
