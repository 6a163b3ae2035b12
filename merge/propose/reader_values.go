package propose

import (
	"context"
	"errors"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
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
func values(ctx context.Context, r check.OpenReader, db *rules.Database, table string, columns []string) (all []*columnValues, unread map[string]string, err error) {
	t := db.Tables[table]
	unread = make(map[string]string)
	for {
		all = nil
		s := r.Stream(db, r.Code, 0, catalog.Scan{Table: table, Unsorted: true})
		for _, name := range columns {
			col := t.Column(name)
			if col == nil || unread[name] != "" {
				continue
			}
			read := &columnValues{column: name, valueCounts: newValueCounts()}
			all = append(all, read)
			at, add := s.Carry(name), read.reads(col)
			s.Visit = append(s.Visit, func(b *catalog.Batch) {
				for row := range b.Len {
					if v := b.Carry[at].At(row); v != nil {
						add(v)
					}
				}
			})
		}
		if len(all) == 0 {
			return nil, unread, nil
		}
		err := s.Drain(ctx)
		unsupported, ok := errors.AsType[*catalog.UnsupportedError](err)
		if !ok || unsupported.Column == "" || unread[unsupported.Column] != "" || !slices.Contains(columns, unsupported.Column) {
			return all, unread, err
		}
		unread[unsupported.Column] = unsupported.Error()
	}
}

// reads returns what counts a value of a column.
func (c *columnValues) reads(col *catalog.Column) func(v []byte) {
	return func(v []byte) {
		text := v
		if col.Kind == catalog.KindDecimal {
			whole, fraction, _ := strings.Cut(string(v), ".")
			if strings.Trim(fraction, "0") == "" {
				text = []byte(whole)
			}
		}
		if n, ok := keys.ParseInteger(text); ok {
			c.add(n)
			return
		}
		c.others++
		if col.Kind != catalog.KindText && col.Kind != catalog.KindJSON && col.Kind != catalog.KindAny {
			return
		}
		for t := range check.Tokens(v) {
			if n, ok := t.Decimal(); ok && t.Form == check.TokenDecimal {
				if c.inside == nil {
					c.inside = newValueCounts()
				}
				c.inside.add(n)
			}
		}
	}
}
