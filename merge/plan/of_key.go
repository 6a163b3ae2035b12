package plan

import (
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/slice"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
)

// keyOfRows is what tells the rows of a table that come or stay, as far as a plan knows: what is no integer that moves
// is a text.
func (p *Plan) keyOfRows(source, table string) (key rules.RowKey) {
	if s := p.StaysOf(source, table); s != nil && s.Keyed() {
		return s.RowKey()
	}
	if t := p.Table(table); t != nil {
		key.Columns = t.Key
	}
	for _, name := range key.Columns {
		kind := keys.KeyText
		if p.Rekey.Column(table, name) != nil {
			kind = keys.KeyInteger
		}
		key.Kinds += keys.Kinds([]byte{kind})
	}
	return key
}

// Stayed is why the row with a key stayed behind; "" if it did not.
func (p *Plan) Stayed(source, table, text string) (why string, err error) {
	s := p.StaysOf(source, table)
	if s == nil || s.Rows() == 0 {
		return "", nil
	}
	key := p.keyOfRows(source, table)
	if err := rules.Link(slice.Map(p.Leaving.Stays, func(s Stays) *rules.Stays { return s.Stays })); err != nil {
		return "", err
	}
	for _, k := range key.Kinds.Parse(text) {
		for _, r := range s.Why {
			if r.Keys != nil && r.Keys.HasKey(k) {
				return r.Why, nil
			}
		}
		if s.Keyed() {
			continue
		}
		values := k.Values()
		for i, by := range s.By { // in the order of Why
			one := rules.Stays{By: []*rules.Severed{by}}
			columns, is := one.Sift()
			at := func(i int) any {
				return []byte(values[slices.Index(key.Columns, columns[i])])
			}
			if slices.ContainsFunc(columns, func(name string) bool { return !slices.Contains(key.Columns, name) }) {
				return "", fmt.Errorf("it may have stayed behind, since it %s, and the key does not say to which row: look in %s",
					s.Why[i].Why, source)
			}
			if is(at) {
				return s.Why[i].Why, nil
			}
		}
	}
	return "", nil
}

// Became is what a key has become; "" if the plan has no such rows, or their key is one column of integers that move.
func (p *Plan) Became(source, table, text string) (image string, err error) {
	key := p.keyOfRows(source, table)
	world := p.World(source)
	comes := world >= 0 && p.comes(world, table) != nil
	if len(key.Columns) == 1 {
		c := p.Rekey.Column(table, key.Columns[0])
		comes = comes && (c == nil || !c.Key)
	}
	if !comes || len(key.Columns) == 0 {
		return "", nil
	}
	if slices.ContainsFunc(p.Renames, func(r Rename) bool {
		return r.Source == source && r.Table == table && slices.Contains(key.Columns, r.Column)
	}) {
		return "", errors.New("the names in such keys changed: servermerge whois with the plan alone has them")
	}
	for _, k := range key.Kinds.Parse(text) {
		k = k.Image(func(i int, n keys.Integer) keys.Integer {
			c := p.Rekey.Column(table, key.Columns[i])
			if c == nil {
				return n
			}
			one := &c.Cases[0]
			shift, wrong := p.Rekey.Shift(one, source)
			if to, ok := shift.Image(n); wrong == nil && ok && len(c.Cases) == 1 && one.When == nil && one.Format == "" {
				return to
			}
			err = fmt.Errorf("what became of its %s depends on other columns of the row: look in %s", c.Column, source)
			return n
		})
		if one := k.String(); image != "" && image != one {
			return "", errors.New("it may be several keys, with slashes in their texts")
		}
		image = k.String()
	}
	return image, err
}
