package mapping

import (
	"slices"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"

	"mergesafe/merge/world"
)

// InPlace returns what changes the rows of a table of a world beside its keys; nil if
// nothing does.
func (c *Mapping) InPlace(world string, l *world.Layout) world.Changer {
	rename, cuts := c.Renamer.Of(world, l), c.cuts(world, l)
	if world == c.first {
		rename = c.raised(l, rename)
	}
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
func (c *Mapping) WithoutCut(world string, l *world.Layout) func(images []Value, row []any) []Value {
	cuts := c.cuts(world, l)
	return func(images []Value, row []any) []Value {
		return slices.DeleteFunc(images, func(image Value) bool {
			return slices.ContainsFunc(cuts, func(cut cut) bool { return cut.column == image.Column && cut.stay != nil && cut.refers(row) })
		})
	}
}

// cut is a column of which values that refer to what stays behind become nobody's.
type cut struct {
	column int
	none   keys.Values
	when   *rules.When
	on     int       // the column of the condition
	stay   *keys.Set // only these keys, if not nil
	key    rules.RowKey
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

func (c *Mapping) cuts(w string, l *world.Layout) (all []cut) {
	for _, s := range c.severed {
		if s.Table != l.Table || s.Gone != rules.GoneNone || w == c.first && !s.Partly {
			continue
		}
		var stay *keys.Set
		if s.Partly {
			if stay = c.stay(w, s.To); stay == nil || stay.Len() == 0 {
				continue
			}
		}
		none, err := keys.ParseValues(s.None)
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
			n, _ := keys.ParseInteger([]byte(*s.Becomes))
			one.nobody, _ = world.As(int64(0), n)
		}
		all = append(all, one)
	}
	return all
}

func (c *cut) refers(row []any) bool {
	value := world.Printed(row[c.column])
	if n, ok := c.key.Read(func(int) any { return row[c.column] }); c.stay != nil && !(ok && c.stay.HasKey(n)) {
		return false
	}
	return value != nil && !c.none.Has(value) && (c.when == nil || c.when.Holds(world.Printed(row[c.on])))
}
