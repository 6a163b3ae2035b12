package change

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"

	"mergesafe/merge/plan"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// fromPlan takes the rows of a group from the plan, since these statements cannot prove them, and says so.
func fromPlan(worlds []*World, table, why, since string) {
	proof := worlds[0].Proof
	if line := fmt.Sprintf("%s: %s: %s", table, why, since); !slices.Contains(proof.FromPlan, line) {
		proof.FromPlan = append(proof.FromPlan, line)
	}
	for _, w := range worlds {
		if s := w.Plan.StaysOf(w.Name, table); s != nil {
			for _, r := range s.Why {
				if r.Why == why {
					for n := range r.Keys.Keys() {
						w.Add(s, n)
					}
				}
			}
		}
	}
}

// image is what a value of a column becomes, by the map that the plan has of its keys.
func image(w *World, table, column string, when *rules.When) (func(keys.Integer) keys.Integer, bool) {
	of := w.Plan.Rekey.Column(table, column)
	if of == nil {
		return func(n keys.Integer) keys.Integer { return n }, true
	}
	for i := range of.Cases {
		if c := &of.Cases[i]; c.Format == "" && c.When.Text() == when.Text() {
			shift, err := w.Plan.Rekey.Shift(c, w.Name)
			return func(n keys.Integer) keys.Integer {
				image, _ := shift.Image(n)
				return image
			}, err == nil
		}
	}
	return nil, false
}

// imageOfKey is what a key becomes in columns.
func imageOfKey(w *World, table string, columns []string, when *rules.When) func(keys.Key) keys.Key {
	images := slice.Map(columns, func(name string) func(keys.Integer) keys.Integer {
		if image, able := image(w, table, name, when); able {
			return image
		}
		return func(n keys.Integer) keys.Integer { return n }
	})
	return func(k keys.Key) keys.Key {
		return k.Image(func(column int, n keys.Integer) keys.Integer { return images[column](n) })
	}
}

// candidate is a row that has a group.
type candidate struct {
	w     *World
	world int
	key   keys.Key
	by    [][]byte
}

// decimal is a number with a fraction; nil if it is none.
func decimal(v []byte) *big.Rat {
	if len(v) > 80 || len(bytes.Trim(v, "0123456789.-")) > 0 {
		return nil
	}
	n, _ := new(big.Rat).SetString(string(v))
	return n
}

// before reports whether a row comes before another one in its group; ordered is false if the values are no numbers
// and no times of one form.
func (a *candidate) before(b *candidate, by []rules.ByColumn, ordered *bool) int {
	for i := range by {
		x, y := a.by[i], b.by[i]
		switch {
		case x == nil && y == nil:
			continue
		case x == nil:
			return 1 // NULL is last
		case y == nil:
			return -1
		}
		m, isNumber := keys.ParseInteger(x)
		n, both := keys.ParseInteger(y)
		c, able := bytes.Compare(x, y), false
		if isNumber && both {
			c, able = m.Compare(n), true
		} else if p, q := decimal(x), decimal(y); p != nil && q != nil {
			c, able = p.Cmp(q), true
		}
		switch {
		case able:
		case len(x) != len(y) || strings.Trim(string(x)+string(y), "0123456789-:. +UTC") != "":
			*ordered = false
		}
		if by[i].Descending {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	if a.world != b.world {
		return a.world - b.world
	}
	return a.key.Compare(b.key)
}

// Best finds anew which rows are not among the first of their group, over all worlds.
func Best(ctx context.Context, worlds []*World) error {
	for i := range worlds[0].Plan.Leaving.Says {
		said := &worlds[0].Plan.Leaving.Says[i]
		if said.Best == nil {
			continue
		}
		cannot, err := bestOf(ctx, worlds, said)
		if err != nil {
			return err
		}
		if cannot != "" {
			fromPlan(worlds, said.Table, said.Best.String(), cannot)
		}
	}
	return nil
}

// bestOf returns why that cannot be done; "" if it was.
func bestOf(ctx context.Context, worlds []*World, said *verdict.Leave) (cannot string, err error) {
	none, err := keys.ParseValues(said.None)
	var by []rules.ByColumn
	names := []string{said.Best.Of}
	for _, text := range said.Best.By {
		one, _ := rules.ParseBy(text) // the plan was validated
		by, names = append(by, one), append(names, one.Column)
	}
	ordered := true
	groups := make(map[keys.Integer][]*candidate)
	for number, w := range worlds {
		s := w.Plan.StaysOf(w.Name, said.Table)
		if s == nil {
			continue // it has no such table
		}
		image, able := image(w, said.Table, said.Best.Of, nil)
		if !able || err != nil {
			return "its new values cannot be computed", err
		}
		quote := w.On.Dialect().Quote
		key := s.RowKey()
		columns := w.On.Dialect().QuoteAll(names) + ", " + w.On.Dialect().QuoteAll(key.Columns)
		err = w.Rows(ctx, said.Table, columns, quote(said.Best.Of)+" IS NOT NULL", "", func(row []any) error {
			of, isNumber := keys.ParseInteger(world.Printed(row[0]))
			if !isNumber {
				cannot = "its groups are not integers"
			}
			if !isNumber || none.HasInteger(of) {
				return nil
			}
			key, ok := w.keyIn(s, key, row[len(names):])
			if !ok || w.Found[s.Table][key] {
				return nil
			}
			c := &candidate{w: w, world: number, key: key}
			for _, v := range row[1:len(names)] {
				c.by = append(c.by, bytes.Clone(world.Printed(v)))
			}
			groups[image(of)] = append(groups[image(of)], c)
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	var behind []*candidate
	for _, all := range groups {
		slices.SortFunc(all, func(a, b *candidate) int { return a.before(b, by, &ordered) })
		behind = append(behind, all[min(said.Best.Keep, len(all)):]...)
	}
	if cannot == "" && !ordered {
		cannot = "its order is neither numeric nor by times of a single form"
	}
	for _, c := range behind {
		if cannot == "" {
			c.w.Add(c.w.Plan.StaysOf(c.w.Name, said.Table), c.key)
		}
	}
	return cannot, nil
}

// Fewer counts anew how many rows that come refer to each row that comes, and finds those to which too few do.
func Fewer(ctx context.Context, worlds []*World) error {
	type small struct {
		w *World
		s *plan.Stays
		n keys.Key
	}
	var all []small
	for i := range worlds[0].Plan.Leaving.Says {
		said := &worlds[0].Plan.Leaving.Says[i]
		if said.Fewer == nil {
			continue
		}
		if said.Counted == nil {
			fromPlan(worlds, said.Table, said.Fewer.String(), "its rows are matched with those of other worlds")
			continue
		}
		counts := make(map[keys.Key]int64)
		for _, w := range worlds {
			if !slices.Contains(said.Counted.In, w.Name) {
				continue
			}
			if err := countNaming(ctx, w, said, counts); err != nil {
				return err
			}
		}
		for _, w := range worlds {
			s := w.Plan.StaysOf(w.Name, said.Table)
			if s == nil {
				continue
			}
			image := imageOfKey(w, s.Table, s.RowKey().Columns, nil)
			err := w.Each(ctx, s, "1 = 1", func(n keys.Key) {
				if !w.Found[s.Table][n] && counts[image(n)] < int64(said.Fewer.Than) {
					all = append(all, small{w, s, n})
				}
			})
			if err != nil {
				return err
			}
		}
	}
	for _, one := range all { // judged all at once
		one.w.Add(one.s, one.n)
	}
	return nil
}

// countNaming counts the rows of a world that come so far, by what they name.
func countNaming(ctx context.Context, w *World, said *verdict.Leave, counts map[keys.Key]int64) error {
	quote, counted := w.On.Dialect().Quote, said.Counted
	naming := rules.Severed{Table: counted.Table, Column: counted.Column, None: counted.None,
		When: counted.When}
	key := rules.RowKey{Columns: append([]string{counted.Column}, counted.And...)}
	to := world.First(w.Plan.Leaving.Stays, func(s *plan.Stays) bool { return s.Table == said.Table })
	none, err := keys.ParseValues(counted.None)
	if to == nil {
		return nil // none of its rows may stay behind
	}
	if key.Kinds = to.Kinds; key.Kinds != "" || err != nil {
		naming.None = nil
	}
	condition := naming.SQL(quote)
	if s := w.Plan.StaysOf(w.Name, counted.Table); s != nil {
		out := []string{"1 = 0"}
		if s.Keyed() {
			out = append(out, w.SetOf(s.Table).SQL(slice.Map(s.RowKey().Columns, quote)...))
		} else {
			for _, by := range s.By {
				out = append(out, by.Naming(w.SetOf(by.To)).SQL(quote))
			}
		}
		condition += " AND NOT (" + strings.Join(out, " OR ") + ")"
	}
	image, columns := imageOfKey(w, counted.Table, key.Columns, counted.When), w.On.Dialect().QuoteAll(key.Columns)
	return w.Rows(ctx, counted.Table, columns+", COUNT(*)", condition, " GROUP BY "+columns, func(row []any) error {
		n, ok := key.Read(func(i int) any { return row[i] })
		rows, err := world.IntIn(row[len(row)-1], counted.Table)
		if ok && !n.Among([]keys.Values{none}) {
			counts[image(n)] += rows
		}
		return err
	})
}
