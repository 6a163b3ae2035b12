package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/rules"
)

// keyOfRows is what tells the rows of a table that come or stay, as far as a plan knows: what is no integer that moves
// is a text.
func keyOfRows(p *plan.Plan, source, table string) (key rules.RowKey) {
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

// TableName is the name of a table as the plan has it: SQLite takes names of any case.
func TableName(p *plan.Plan, table string) string {
	if p.Engine != "sqlite" {
		return table
	}
	for _, t := range p.Tables {
		if strings.EqualFold(t.Name, table) {
			return t.Name
		}
	}
	return table
}

// numbered reports whether the rows of a table of a world are told by one column of integers that moves.
func numbered(p *plan.Plan, source, table string) bool {
	key := keyOfRows(p, source, table)
	if len(key.Columns) != 1 {
		return false
	}
	c := p.Rekey.Column(table, key.Columns[0])
	return c != nil && c.Key
}

// keyFate is what becomes of the row with a key by a plan: it stays behind, or its key is New. Keys are written as
// [keys.Key.String] does.
type keyFate struct{ Old, New, Stays string }

// fateOf says what becomes of the row with a key of a world, if the world has it. New and Stays are both empty if no row of the
// table comes, and the plan does not know of rows that stay behind; it is an error if the plan does not know what became of the
// key.
func fateOf(p *plan.Plan, source, table, text string) (fate keyFate, err error) {
	fate.Old = text
	w, s := p.World(source), p.StaysOf(source, table)
	if w < 0 {
		return fate, nil
	}
	if slices.ContainsFunc(p.Alike, func(a plan.Alike) bool { return a.Table == table }) {
		fate.New = text // which is the same in all worlds
		return fate, nil
	}
	comes := p.Comes(w, table) != nil && len(p.Table(table).Key) > 0
	if !comes && (s == nil || s.Rows() == 0) {
		return fate, nil
	}
	of := keyOfRows(p, source, table)
	key, ok := of.Kinds.Parse(text)
	if !ok {
		return fate, fmt.Errorf("the key is of another form: want %s", wantedKey(of))
	}
	fate.Old = key.String()
	if s != nil && s.Rows() > 0 {
		if err := rules.Link(slice.Map(p.Leaving.Stays, func(s plan.Stays) *rules.Stays { return s.Stays })); err != nil {
			return fate, err
		}
		values := key.Values()
		fate.Stays, err = s.WhyOf(func(column string) (v any, known bool) {
			at := slices.Index(of.Columns, column)
			if at < 0 {
				return nil, false
			}
			return []byte(values[at]), true
		})
		if err != nil || fate.Stays != "" {
			return fate, err
		}
	}
	if comes {
		fate.New, err = becomes(p, source, table, of, key)
	}
	return fate, err
}

// wantedKey says how keys are written.
func wantedKey(of rules.RowKey) string {
	kinds := map[byte]string{keys.KeyInteger: "an integer", keys.KeyBytes: "bytes as digits from 00 to ff"}
	if len(of.Columns) == 1 {
		if of.Kinds == "" {
			return "an integer"
		}
		return kinds[of.Kinds[0]]
	}
	named := slices.Clone(of.Columns)
	for i := range named {
		if kind := kinds[of.Kinds[i]]; kind != "" {
			named[i] += " (" + kind + ")"
		}
	}
	return strings.Join(named, "/") + ", in which a slash is written as %2F and % as %25"
}

// becomes is what a key of a row that comes becomes.
func becomes(p *plan.Plan, source, table string, of rules.RowKey, key keys.Key) (image string, err error) {
	if slices.ContainsFunc(p.Renames, func(r plan.Rename) bool {
		return r.Source == source && r.Table == table && slices.Contains(of.Columns, r.Column)
	}) {
		return "", errors.New("the names in such keys changed: servermerge whois PLAN lists them")
	}
	key = key.Image(func(i int, n keys.Integer) keys.Integer {
		c := p.Rekey.Column(table, of.Columns[i])
		if c == nil {
			return n
		}
		one := &c.Cases[0]
		shift, wrong := p.Rekey.Shift(one, source)
		if to, ok := shift.Image(n); wrong == nil && ok && len(c.Cases) == 1 && one.When == nil && one.Format == "" {
			return to
		}
		err = fmt.Errorf("what its %s became depends on other columns of the row: look in %s", c.Column, source)
		return n
	})
	return key.String(), err
}
