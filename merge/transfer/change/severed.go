package change

import (
	"slices"

	"mergesafe/merge/declare"
	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/change/move"
	"mergesafe/merge/transfer/rowio"
)

// InPlace returns what changes the rows of a table of a world beside its keys; nil if
// nothing does.
func (c *Changes) InPlace(world string, l *rowio.Layout) rowio.Changer {
	rename, cuts := c.Renamer.Of(world, l), c.cuts(world, l)
	if len(cuts) == 0 {
		return rename
	}
	return func(row []any) (changed bool, err error) {
		for i := range cuts { // by the row as it is: what names change are not integers
			if cuts[i].refers(row) {
				row[cuts[i].column], changed = cuts[i].instead(row), true
			}
		}
		if rename == nil {
			return changed, nil
		}
		renamed, err := rename(row)
		return changed || renamed, err
	}
}

// WithoutCut returns what leaves references out of the new values of a row that are cleared, since their rows stay behind.
func (c *Changes) WithoutCut(world string, l *rowio.Layout) func(images []move.Value, row []any) []move.Value {
	cuts := c.cuts(world, l)
	return func(images []move.Value, row []any) []move.Value {
		return slices.DeleteFunc(images, func(image move.Value) bool {
			return slices.ContainsFunc(cuts, func(cut cut) bool { return cut.column == image.Column && cut.stay != nil && cut.refers(row) })
		})
	}
}

// cut is a column of which values that refer to what stays behind become nobody's.
type cut struct {
	column int
	none   rekey.Values
	when   *declare.When
	on     int        // the column of the condition
	stay   *rekey.Set // only these keys, if not nil
	key    declare.RowKey
	nobody any
	text   *string // in the place of nobody, of a column of texts
}

// instead is what the row gets, of the type that its column has.
func (c *cut) instead(row []any) any {
	if c.text == nil {
		return c.nobody
	}
	if _, is := row[c.column].([]byte); is {
		return []byte(*c.text)
	}
	return *c.text
}

func (c *Changes) cuts(world string, l *rowio.Layout) (all []cut) {
	for _, s := range c.severed {
		if s.Table != l.Table || s.Gone != declare.GoneNone || world == c.first && !s.Partly {
			continue
		}
		var stay *rekey.Set
		if s.Partly {
			if stay = c.stay(world, s.To); stay == nil || stay.Len() == 0 {
				continue
			}
		}
		none, err := rekey.ParseValues(s.None)
		if err != nil {
			panic(err) // the plan was validated
		}
		one := cut{column: slices.Index(l.Columns, s.Column), none: none, when: s.When, stay: stay}
		one.key.Columns = []string{s.Column}
		if stay != nil {
			one.key.Kinds = stay.Kinds
		}
		if s.When != nil {
			one.on = slices.Index(l.Columns, s.When.Column)
		}
		if s.Becomes != nil && one.key.Kinds != "" {
			one.text = s.Becomes
		} else if s.Becomes != nil {
			n, _ := rekey.ParseInteger([]byte(*s.Becomes))
			one.nobody, _ = rowio.As(int64(0), n)
		}
		all = append(all, one)
	}
	return all
}

func (c *cut) refers(row []any) bool {
	value := rowio.Printed(row[c.column])
	if n, ok := c.key.Read(func(int) any { return row[c.column] }); c.stay != nil && !(ok && c.stay.HasKey(n)) {
		return false
	}
	return value != nil && !c.none.Has(value) && (c.when == nil || c.when.Holds(rowio.Printed(row[c.on])))
}
