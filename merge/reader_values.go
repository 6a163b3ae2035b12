package merge

import (
	"context"
	"errors"
	"slices"
	"strings"

	"mergesafe/merge/rekey"
)

// columnValues is what a column of one database holds.
type columnValues struct {
	column string
	*valueCounts
	inside *valueCounts // whole numbers within texts; nil if there is none
}

// values counts the values of columns of a table in one database, in one pass. Of
// columns that turn out to be unreadable it says why. covers, if not nil, limits it to
// some rows: it is given the values of the column by.
func (r openReader) values(ctx context.Context, db *database, table string, columns []string) (all []*columnValues, unread map[string]string, err error) {
	t := db.tables[table]
	unread = make(map[string]string)
	for {
		all = nil
		s := r.stream(db, r.code, 0, Scan{Table: table, Unsorted: true})
		for _, name := range columns {
			col := t.column(name)
			if col == nil || unread[name] != "" {
				continue
			}
			read := &columnValues{column: name, valueCounts: newValueCounts()}
			all = append(all, read)
			at, add := s.carry(name), read.reads(col)
			s.visit = append(s.visit, func(b *Batch) {
				for row := range b.Len {
					if v := b.Carry[at].At(row); v == nil {
						read.nulls++
					} else {
						add(v)
					}
				}
			})
		}
		if len(all) == 0 {
			return nil, unread, nil
		}
		err := s.drain(ctx)
		unsupported, ok := errors.AsType[*UnsupportedError](err)
		if !ok || unsupported.Column == "" || unread[unsupported.Column] != "" || !slices.Contains(columns, unsupported.Column) {
			return all, unread, err
		}
		unread[unsupported.Column] = unsupported.Error()
	}
}

// reads returns what counts a value of a column.
func (c *columnValues) reads(col *Column) func(v []byte) {
	return func(v []byte) {
		text := v
		if col.Kind == KindDecimal {
			whole, fraction, _ := strings.Cut(string(v), ".")
			if strings.Trim(fraction, "0") == "" {
				text = []byte(whole)
			}
		}
		if n, ok := rekey.ParseInteger(text); ok {
			c.add(n)
			return
		}
		c.others++
		if col.Kind != KindText && col.Kind != KindJSON && col.Kind != KindAny {
			return
		}
		for t := range tokens(v) {
			if n, ok := t.decimal(); ok && t.form == tokenDecimal {
				if c.inside == nil {
					c.inside = newValueCounts()
				}
				c.inside.add(n)
			}
		}
	}
}

// valuesBy counts the values of a column of a table in one database, separately for
// each value of another column, as the database prints it; nil if this one has more
// than most values.
func (r openReader) valuesBy(ctx context.Context, db *database, table, column string, by []string, most int) (map[string]map[string]*columnValues, error) {
	t := db.tables[table]
	s := r.stream(db, r.code, 0, Scan{Table: table, Unsorted: true})
	at := s.carry(column)
	all := make(map[string]map[string]*columnValues)
	for _, name := range by {
		groups, on := make(map[string]*columnValues), s.carry(name)
		all[name] = groups
		adds := make(map[string]func([]byte))
		s.visit = append(s.visit, func(b *Batch) {
			for row := range b.Len {
				v, key := b.Carry[at].At(row), b.Carry[on].At(row)
				if v == nil || key == nil || len(groups) > most {
					continue
				}
				group := groups[string(key)]
				if group == nil {
					group = &columnValues{column: column, valueCounts: newValueCounts()}
					groups[string(key)] = group
					adds[string(key)] = group.reads(t.column(column))
				}
				adds[string(key)](v)
			}
		})
	}
	err := s.drain(ctx)
	for name, groups := range all {
		if len(groups) > most {
			delete(all, name)
		}
	}
	return all, err
}
