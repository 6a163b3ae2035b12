package mapping

import (
	"fmt"
	"slices"

	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
)

// renamer changes rows as the renames of a plan say.
type renamer struct {
	byKey   map[renamed]map[string]*plan.Rename // by the key of the row
	copies  []plan.NameCopy
	keyless []plan.KeylessName
}

// renamed is a column that has renames.
type renamed struct{ world, table, column string }

func newRenamer(p *plan.Plan) *renamer {
	r := &renamer{byKey: make(map[renamed]map[string]*plan.Rename), copies: p.Copies, keyless: p.Keyless}
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
func (r *renamer) Of(w string, l *world.Layout) world.Changer {
	changes := r.columns(w, l)
	if changes == nil {
		return nil
	}
	return func(row []any) (changed bool, err error) {
		var images []Value // all are found by the row as it is: a name may be part of its key
		for _, c := range changes {
			n, err := c.of(row)
			if err != nil {
				return false, err
			}
			if n == nil {
				continue
			}
			switch old := row[c.column].(type) {
			case []byte:
				if string(old) == n.Old {
					images = append(images, Value{c.column, []byte(n.New)})
				}
			case string:
				if old == n.Old {
					images = append(images, Value{c.column, n.New})
				}
			case int64, uint64: // of a setting
				if string(world.Printed(old)) != n.Old {
					continue
				}
				to, ok := keys.ParseInteger([]byte(n.New))
				if !ok {
					return false, fmt.Errorf("%.40q is not an integer, as the column %s has", n.New, l.Columns[c.column])
				}
				image, err := world.As(old, to)
				if err != nil {
					return false, err
				}
				images = append(images, Value{c.column, image})
			}
		}
		put(row, images)
		return len(images) > 0, nil
	}
}

// columns are the columns of a table of a world that have new names.
func (r *renamer) columns(w string, l *world.Layout) (changes []columnRenames) {
	for i, name := range l.Columns {
		if to := r.byKey[renamed{w, l.Table, name}]; to != nil {
			changes = append(changes, columnRenames{column: i, key: l.Key, to: to})
		}
	}
	for _, c := range r.copies {
		if to := r.byKey[renamed{w, c.OfTable, c.OfColumn}]; to != nil && c.Table == l.Table {
			changes = append(changes, columnRenames{column: slices.Index(l.Columns, c.Column), key: []int{slices.Index(l.Columns, c.Key)}, to: to})
		}
	}
	for _, k := range r.keyless {
		if to := r.byKey[renamed{w, k.Table, k.Column}]; to != nil && k.Table == l.Table {
			one := columnRenames{column: slices.Index(l.Columns, k.Column), key: []int{slices.Index(l.Columns, k.By)}, to: to, when: k.When}
			if k.When != nil {
				one.on = slices.Index(l.Columns, k.When.Column)
			}
			changes = append(changes, one)
		}
	}
	return changes
}

// columnRenames are the new values of a column of a table, by the key of the row that has the name.
type columnRenames struct {
	column int
	key    []int // the columns with that key
	to     map[string]*plan.Rename
	when   *rules.When // of the rows; nil: all
	on     int         // the column of the condition
}

// of returns what becomes of the value in a row; nil if it stays.
func (c *columnRenames) of(row []any) (*plan.Rename, error) {
	values := make([]any, len(c.key))
	for i, k := range c.key {
		values[i] = row[k]
	}
	if slices.Contains(values, nil) || c.when != nil && !c.when.Holds(world.Printed(row[c.on])) {
		return nil, nil
	}
	key, err := world.EncodeKey(values)
	if err != nil {
		return nil, err
	}
	n := c.to[key]
	if n == nil && len(values) == 1 {
		if b, ok := values[0].([]byte); ok { // a text that is no key here
			key, err = world.EncodeKey([]any{string(b)})
			n = c.to[key]
		}
	}
	return n, err
}
