package mapping

import (
	"fmt"
	"slices"

	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// Renamer changes rows as the renames of a plan say.
type Renamer struct {
	byKey  map[renamed]map[string]*plan.Rename // by the key of the row
	copies []plan.NameCopy
}

// renamed is a column that has renames.
type renamed struct{ world, table, column string }

func newRenamer(p *plan.Plan) *Renamer {
	r := &Renamer{byKey: make(map[renamed]map[string]*plan.Rename), copies: p.Copies}
	for i := range p.Renames {
		n := &p.Renames[i]
		at := renamed{n.Source, n.Table, n.Column}
		if r.byKey[at] == nil {
			r.byKey[at] = make(map[string]*plan.Rename)
		}
		r.byKey[at][n.Key] = n
	}
	return r
}

// Of returns what changes the rows of a table of a world; nil if nothing there
// is renamed.
func (r *Renamer) Of(w string, l *world.Layout) world.Changer {
	type change struct {
		column int
		key    []int
		to     map[string]*plan.Rename
	}
	var changes []change
	for i, name := range l.Columns {
		if to := r.byKey[renamed{w, l.Table, name}]; to != nil {
			changes = append(changes, change{i, l.Key, to})
		}
	}
	for _, c := range r.copies {
		if to := r.byKey[renamed{w, c.OfTable, c.OfColumn}]; to != nil && c.Table == l.Table {
			changes = append(changes, change{slices.Index(l.Columns, c.Column), []int{slices.Index(l.Columns, c.Key)}, to})
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
			key, err := world.EncodeKey(values)
			if err != nil {
				return false, err
			}
			n := c.to[key]
			if n == nil && len(values) == 1 {
				if b, ok := values[0].([]byte); ok { // a text that is no key here
					key, err = world.EncodeKey([]any{string(b)})
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
				if string(world.Printed(old)) != n.Old {
					continue
				}
				to, ok := keys.ParseInteger([]byte(n.New))
				if !ok {
					return false, fmt.Errorf("%.40q is not an integer, as the column %s has", n.New, l.Columns[c.column])
				}
				if row[c.column], err = world.As(old, to); err != nil {
					return false, err
				}
				changed = true
			}
		}
		return changed, nil
	}
}
