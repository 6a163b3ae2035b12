package transfer

import (
	"fmt"
	"slices"

	"mergesafe/merge/rekey"
)

// renamer changes rows as the renames of a plan say.
type renamer struct {
	byKey  map[renamed]map[string]*Rename // by the key of the row
	copies []NameCopy
}

// renamed is a column that has renames.
type renamed struct{ source, table, column string }

func newRenamer(p *Plan) *renamer {
	r := &renamer{byKey: make(map[renamed]map[string]*Rename), copies: p.Copies}
	for i := range p.Renames {
		n := &p.Renames[i]
		at := renamed{n.Source, n.Table, n.Column}
		if r.byKey[at] == nil {
			r.byKey[at] = make(map[string]*Rename)
		}
		r.byKey[at][n.Key] = n
	}
	return r
}

// changer changes a row in place, and tells whether it did. It belongs to one
// goroutine. The nil changer changes none.
type changer func(row []any) (changed bool, err error)

// row changes one.
func (c changer) row(row []any) (changed bool, err error) {
	if c == nil {
		return false, nil
	}
	return c(row)
}

// rows changes all of these.
func (c changer) rows(rows [][]any) error {
	for _, row := range rows {
		if _, err := c.row(row); err != nil {
			return err
		}
	}
	return nil
}

// of returns what changes the rows of a table of a source; nil if nothing there
// is renamed.
func (r *renamer) of(source string, l *layout) changer {
	type change struct {
		column int
		key    []int
		to     map[string]*Rename
	}
	var changes []change
	for i, name := range l.columns {
		if to := r.byKey[renamed{source, l.table, name}]; to != nil {
			changes = append(changes, change{i, l.key, to})
		}
	}
	for _, c := range r.copies {
		if to := r.byKey[renamed{source, c.OfTable, c.OfColumn}]; to != nil && c.Table == l.table {
			changes = append(changes, change{slices.Index(l.columns, c.Column), []int{slices.Index(l.columns, c.Key)}, to})
		}
	}
	if changes == nil {
		return nil
	}
	return func(row []any) (changed bool, err error) {
		for _, c := range changes {
			values := make([]any, len(c.key))
			for i, k := range c.key {
				values[i] = row[k]
			}
			if slices.Contains(values, nil) {
				continue
			}
			key, err := encodeKey(values)
			if err != nil {
				return false, err
			}
			n := c.to[key]
			if n == nil && len(values) == 1 {
				if b, ok := values[0].([]byte); ok { // a text that is no key here
					key, err = encodeKey([]any{string(b)})
					n = c.to[key]
				}
			}
			if n == nil || err != nil {
				continue
			}
			switch old := row[c.column].(type) {
			case []byte:
				if string(old) == n.Old {
					row[c.column], changed = []byte(n.New), true
				}
			case string:
				if old == n.Old {
					row[c.column], changed = n.New, true
				}
			case int64, uint64: // of a setting
				if string(printed(old)) != n.Old {
					continue
				}
				to, ok := rekey.ParseInteger([]byte(n.New))
				if !ok {
					return false, fmt.Errorf("%.40q is not an integer, as the column %s has", n.New, l.columns[c.column])
				}
				if row[c.column], err = as(old, to); err != nil {
					return false, err
				}
				changed = true
			}
		}
		return changed, nil
	}
}
