package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge"
	"mergesafe/merge/cell"
	"mergesafe/merge/rekey"
)

// KeyProof is one part of the proof that a merge with new keys changed nothing else:
// together they say that the target, restricted to the rows of one world and with their
// old keys, is that world.
type KeyProof struct {
	Part    string        `json:"part"`
	Verdict merge.Verdict `json:"verdict"` // PASS or FAIL
	Checked int64         `json:"checked"` // the number of things that Of names
	Of      string        `json:"of"`      // "keys", "rows", "references"
	Wrong   int64         `json:"wrong"`
	Details []string      `json:"details,omitempty"` // the first problems

	// Matched is how many keys became those of the same things in other worlds; see
	// [merge.Space.Match]. Each was compared with the target's record, and by its
	// natural key.
	Matched int64 `json:"matched,omitempty"`
}

// The parts, in their order.
const (
	PartInjective  = "no two keys of a world became the same"
	PartDisjoint   = "new keys collide with no other key"
	PartImages     = "each world's rows, with their old keys, are that world's"
	PartOwn        = "rows that kept their keys are as they were"
	PartReferences = "references name the same row as before, or none as before"
	PartSums       = "declared sums are the same"
)

// worldsOf tells the rows of a table apart by the world that they came from.
type worldsOf struct {
	layout *layout
	rename changer // of the rows of a source
	source int     // ofTarget: the rows are those of the target
	moves  [][]worldMove

	matching []bool // by source: it has keys that are matched
}

// worldMove is a column of which values of one source have moved.
type worldMove struct {
	move
	ranges []rekey.Range // of the new values, by case
}

func (c *changes) worldsOf(p *Plan, l *layout, source int) *worldsOf {
	w := &worldsOf{layout: l, source: source, moves: make([][]worldMove, len(p.Sources)), matching: make([]bool, len(p.Sources))}
	if source != ofTarget {
		w.rename = c.inPlace(p.Sources[source].Name, l)
	}
	for i, s := range p.Sources {
		for _, m := range c.moves(s.Name, l) {
			one := worldMove{move: m}
			for _, moved := range m.cases {
				one.ranges = append(one.ranges, p.Rekey.Space(moved.space).Sources[i].New)
				w.matching[i] = w.matching[i] || moved.shift.Match.Len() > 0
			}
			w.moves[i] = append(w.moves[i], one)
		}
	}
	return w
}

// group returns to which group a row belongs: 0 if it keeps its keys, or one more than
// the number of the source whose keys moved. It gives a row of the target its old keys
// back, and a row of a source its new names; changed tells whether it did.
func (w *worldsOf) group(row []any) (group int, changed bool, err error) {
	if w.source == ofTarget {
		return w.groupInTarget(row)
	}
	var images []change
	for i := range w.moves[w.source] {
		m := &w.moves[w.source][i]
		if images, err = m.images(images, row); err != nil {
			return 0, false, cmp.Or(w.layout.codecFails(err, m.column, row), err)
		}
	}
	came := len(images) > 0
	if came && w.matching[w.source] {
		moved := slices.Clone(row)
		put(moved, images)
		if _, came, err = w.olds(w.source, moved); err != nil {
			return 0, false, err
		}
	}
	if w.rename != nil {
		if changed, err = w.rename(row); err != nil {
			return 0, false, err
		}
	}
	switch {
	case came:
		return w.source + 1, changed, nil
	case len(images) == 0:
		return 0, changed, nil
	}
	// It has only keys that are matched, as rows of other worlds may have.
	put(row, images)
	group, _, err = w.groupInTarget(row)
	return group, true, err
}

// groupInTarget is group of a row as it is in the target. A source has numbers in a range that
// no world before it has, and keys of those worlds, if keys are matched: so the last source with
// a number in its range is that of the row.
func (w *worldsOf) groupInTarget(row []any) (group int, changed bool, err error) {
	for source := len(w.moves) - 1; source >= 0; source-- {
		olds, apart, err := w.olds(source, row)
		if err != nil {
			return 0, false, err
		}
		if !apart {
			continue
		}
		if !w.matching[source] {
			put(row, olds)
			return source + 1, true, nil
		}
		now := slices.Clone(row)
		put(row, olds)
		if came, err := w.comes(source, row, now); err != nil || !came {
			copy(row, now) // it would have other values
			return 0, false, err
		}
		return source + 1, true, nil
	}
	return 0, false, nil
}

// comes reports whether a row of a source, with its old keys, becomes that row of the target.
// That is looked at where keys are matched: an old key may be a key of the target, too.
func (w *worldsOf) comes(source int, row, now []any) (bool, error) {
	for i := range w.moves[source] {
		m := &w.moves[source][i]
		if !slices.ContainsFunc(m.cases, func(c moveCase) bool { return c.shift.Match.Len() > 0 }) {
			continue
		}
		again, err := m.images(nil, row)
		if err != nil {
			return false, cmp.Or(w.layout.codecFails(err, m.column, row), err)
		}
		image := slices.Clone(row)
		put(image, again)
		columns := []int{m.column}
		for _, c := range m.cases {
			columns = append(columns, c.at...)
		}
		if slices.ContainsFunc(columns, func(c int) bool { return !same(image[c], now[c]) }) {
			return false, nil
		}
	}
	return true, nil
}

// olds returns what the values of a row of the target were, if it is one of a source, and whether
// that source's number was added to any of them.
func (w *worldsOf) olds(source int, row []any) (olds []change, shifted bool, err error) {
	tell := func(one bool) { shifted = shifted || one }
	for i := range w.moves[source] {
		m := &w.moves[source][i]
		if olds, err = m.olds(olds, row, tell); err != nil {
			return nil, false, cmp.Or(w.layout.codecFails(err, m.column, row), err)
		}
	}
	return olds, shifted, nil
}

// before appends what the values of a row were before they moved; nothing if they did not.
func (m *worldMove) before(all []change, row []any) ([]change, error) {
	return m.olds(all, row, func(bool) {})
}

// olds is before that tells of each number that moved whether the source's was added to it.
func (m *worldMove) olds(all []change, row []any, tell func(shifted bool)) ([]change, error) {
	for i := range m.cases {
		c := &m.cases[i]
		if !c.about(row) {
			continue
		}
		if c.cells != nil {
			any := false
			changed, err := m.inCells(all, row, func(c int, n rekey.Integer) (rekey.Integer, error) {
				old, shifted, moved := m.old(c, n)
				if !moved {
					return n, nil
				}
				any = any || shifted
				return old, nil
			})
			if failed, is := errors.AsType[*cell.CodecError](err); is {
				return all, failed
			}
			if err != nil {
				return all, nil // as it is in no row that came
			}
			tell(any)
			return changed, nil
		}
		text := printed(row[m.column])
		if !c.shift.Moves() || c.shift.Stay.Has(text) {
			return all, nil
		}
		n, ok := rekey.ParseInteger(text)
		if !ok {
			return all, nil
		}
		old, shifted, moved := m.old(i, n)
		if !moved {
			return all, nil
		}
		tell(shifted)
		v, err := as(row[m.column], old)
		return append(all, change{m.column, v}), err
	}
	return all, nil
}

// old returns what a number of a case was before it moved, and whether the source's number was
// added to it.
func (m *worldMove) old(i int, n rekey.Integer) (old rekey.Integer, shifted, moved bool) {
	c, r := &m.cases[i], m.ranges[i]
	if c.shift.Stay.HasInteger(n) {
		return old, false, false
	}
	if old, matched := c.shift.Match.Old(n); matched {
		return old, false, true
	}
	if c.shift.By == 0 || !r.Any || n.Less(r.Low) || r.High.Less(n) {
		return old, false, false
	}
	old, moved = n.Sub(c.shift.By)
	if _, matched := c.shift.Match.Image(old); matched {
		return old, false, false // that one became another
	}
	return old, true, moved
}

// before returns the rows of the target that may have come from a source, with the keys
// that they had there, and the place of each among all.
func (c *changes) before(p *Plan, source int, l *layout, rows [][]any) (olds [][]any, at []int, err error) {
	moves := c.worldsOf(p, l, ofTarget).moves[source]
	for i, row := range rows {
		old, came := slices.Clone(row), true
		for k := range moves {
			olds, err := moves[k].before(nil, row)
			if err != nil {
				return nil, nil, cmp.Or(l.codecFails(err, moves[k].column, row), err)
			}
			put(old, olds)
			again, err := moves[k].images(nil, old) // as a value of the source it would have moved
			if failed := l.codecFails(err, moves[k].column, row); failed != nil {
				return nil, nil, failed
			}
			moved := slices.Clone(old)
			put(moved, again)
			touched := slices.Concat(olds, again)
			came = came && err == nil && !slices.ContainsFunc(touched, func(c change) bool { return !same(moved[c.column], row[c.column]) })
		}
		if came {
			olds, at = append(olds, old), append(at, i)
		}
	}
	return olds, at, nil
}

// contentsApart is contents that also sums up the groups of [worldsOf].
func contentsApart(ctx context.Context, on *connection, l *layout, w *worldsOf, between func(rows int) error) (apart, error) {
	c := apart{groups: make([]Content, len(w.moves)+1)}
	var h hasher
	add := func(row []any) error {
		sum, err := h.row(row)
		if err != nil {
			return err
		}
		c.Rows, c.Sum = c.Rows+1, c.Sum.Add(sum)
		group, changed, err := w.group(row)
		if err != nil {
			return err
		}
		if changed {
			sum, err = h.row(row)
		}
		g := &c.groups[group]
		g.Rows, g.Sum = g.Rows+1, g.Sum.Add(sum)
		return err
	}
	if l.multiset() {
		err := every(ctx, on, l, add)
		c.After = c.Sum
		if err == nil {
			err = between(int(c.Rows))
		}
		return c, err
	}
	next, stop := pages(ctx, on, l, nil, func() int { return 2000 }, all, false)
	defer stop()
	for {
		p, err := next()
		if err != nil {
			return c, err
		}
		for _, row := range p.rows {
			if err := add(row); err != nil {
				return c, err
			}
		}
		if err := between(len(p.rows)); err != nil {
			return c, err
		}
		if p.last {
			c.After = c.Sum
			return c, nil
		}
	}
}

// proveKeys makes the parts of the proof that need what was read of the tables.
func (r *run) proveKeys(ctx context.Context, found [][]*apart, combines []CombineProof) ([]KeyProof, error) {
	injective, err := r.proveInjective(ctx)
	if err != nil {
		return nil, err
	}
	disjoint := &KeyProof{Part: PartDisjoint, Of: "keys"}
	images := &KeyProof{Part: PartImages, Of: "rows"}
	own := &KeyProof{Part: PartOwn, Of: "rows"}
	r.proveRanges(disjoint)
	for i := range r.plan.Tables {
		t, all := &r.plan.Tables[i], found[i]
		if t.Combine != nil {
			continue
		}
		target := all[0]
		if target.groups == nil { // nothing in it moves
			own.Checked += target.Rows
			if want := t.merged(); target.Rows != want.Rows || target.Sum != want.Sum {
				own.wrong(1, "table %s", t.Name)
			}
			continue
		}
		still := Content{Rows: t.Target.Rows, Sum: t.Target.After}
		for j, name := range r.plan.Sources {
			here := target.groups[1+j]
			var of Content // its own, and those of others that have its keys, since they are matched
			for _, source := range all[1:] {
				of.Rows, of.Sum = of.Rows+source.groups[1+j].Rows, of.Sum.Add(source.groups[1+j].Sum)
			}
			still.Rows, still.Sum = still.Rows+all[1+j].groups[0].Rows, still.Sum.Add(all[1+j].groups[0].Sum)
			images.Checked += of.Rows
			if hasSpaceKey(r.plan.Rekey, t.Name) {
				disjoint.Checked += here.Rows
				if n := here.Rows - of.Rows; n != 0 {
					disjoint.wrong(max(n, -n), "table %s: %s with keys of %s, want %d", t.Name, countRows(here.Rows), name.Name, of.Rows)
				}
			}
			if here.Rows != of.Rows || here.Sum != of.Sum {
				images.wrong(max(1, here.Rows-of.Rows, of.Rows-here.Rows), "table %s: the rows of %s", t.Name, name.Name)
			}
		}
		own.Checked += still.Rows
		if here := target.groups[0]; here.Rows != still.Rows || here.Sum != still.Sum {
			own.wrong(max(1, here.Rows-still.Rows, still.Rows-here.Rows), "table %s", t.Name)
		}
	}
	for _, c := range combines { // each of their columns was compared with its formula
		own.Checked, images.Checked = own.Checked+c.Own, images.Checked+c.Copied+c.Keys
		if c.Verdict != merge.Pass {
			images.wrong(max(c.Wrong, 1), "table %s, of which rows are combined", c.Table)
		}
	}
	if err := r.proveCounters(ctx, disjoint); err != nil {
		return nil, err
	}
	if err := r.proveMatches(ctx, injective, disjoint); err != nil {
		return nil, err
	}
	return []KeyProof{*injective, *disjoint, *images, *own}, nil
}

// hasSpaceKey reports whether a table has keys of a space.
func hasSpaceKey(r *merge.Rekeying, table string) bool {
	for _, c := range r.Columns {
		if c.Key && c.Table == table {
			return true
		}
	}
	return false
}

// wrong notes what is wrong.
func (p *KeyProof) wrong(n int64, format string, args ...any) {
	p.Wrong += n
	if len(p.Details) < maxSamples {
		p.Details = append(p.Details, fmt.Sprintf(format, args...))
	}
}

// concluded gives the parts their verdicts.
func concluded(all []KeyProof) []KeyProof {
	for i := range all {
		all[i].Verdict = merge.Pass
		if all[i].Wrong > 0 {
			all[i].Verdict = merge.Fail
		}
	}
	return all
}

// proveInjective compares what the target remembers with the plan. That the same number
// was added to all keys of a space is how they move; that no key is there twice, before
// and after, is what the tables rely on.
func (r *run) proveInjective(ctx context.Context) (*KeyProof, error) {
	p := &KeyProof{Part: PartInjective, Of: "keys"}
	known, err := hasKeys(ctx, r.target)
	if err != nil {
		return nil, err
	}
	var all []keySet
	if known {
		if all, err = loadKeys(ctx, r.target, "path LIKE ?", []any{r.plan.ID + ".%"}); err != nil {
			return nil, err
		}
	}
	for i, s := range r.plan.Sources {
		remembered := make(map[string]int64)
		for _, k := range all {
			if k.Path != r.path(i) {
				continue
			}
			space := r.plan.Rekey.Space(k.Space)
			if space == nil || space.Sources[i].Offset != k.Offset {
				p.wrong(1, "the target's record says that %d was added to %s.%s of %s", k.Offset, k.Table, k.Column, s.Name)
				continue
			}
			remembered[k.Space] += k.Keys.Len()
			p.Checked += k.Keys.Len()
		}
		for _, space := range r.plan.Rekey.Spaces {
			if want := space.Sources[i].Rows; remembered[space.Name] != want {
				p.wrong(max(1, want-remembered[space.Name]), "the target has a record of %d keys of %q of %s, want %d", remembered[space.Name], space.Name, s.Name, want)
			}
		}
	}
	return p, nil
}

// proveRanges makes sure that no two databases have numbers in one range.
func (r *run) proveRanges(p *KeyProof) {
	for _, s := range r.plan.Rekey.Spaces {
		taken := []merge.SpaceOf{s.Target}
		for _, of := range s.Sources {
			for _, other := range taken {
				if of.New.Meets(other.New) {
					p.wrong(1, "%s: the numbers of %s and of %s", s.Name, of.Source, other.Source)
				}
			}
			taken = append(taken, of)
		}
	}
}

// proveReferences compares where the references of the merged target lead with where they
// led in all databases before.
func (p *Plan) proveReferences(now *merge.Rekeying) *KeyProof {
	proof := &KeyProof{Part: PartReferences, Of: "references"}
	at := make(map[string]*merge.RekeyedColumn)
	if now != nil {
		for i := range now.Columns {
			at[now.Columns[i].Table+"."+now.Columns[i].Column] = &now.Columns[i]
		}
	}
	for i := range p.Rekey.Columns {
		c := &p.Rekey.Columns[i]
		if of := p.table(c.Table); c.Key || of != nil && of.Combine != nil {
			continue // where several rows became one, each column was compared with its formula
		}
		name := c.Table + "." + c.Column
		if at[name] == nil || len(at[name].Cases) != len(c.Cases) {
			proof.wrong(1, "%s could not be followed", name)
			continue
		}
		for j := range c.Cases {
			var want merge.CaseCounts
			for k, n := range c.Cases[j].Counts {
				if k > 0 && p.table(c.Table) == nil {
					continue // which is not copied
				}
				want.Resolved, want.Dangling, want.None = want.Resolved+n.Resolved, want.Dangling+n.Dangling, want.None+n.None
			}
			have := at[name].Cases[j].Counts[0]
			proof.Checked += want.Resolved + want.Dangling + want.None
			if have != want {
				off := func(a, b int64) int64 { return max(a-b, b-a) }
				proof.wrong(cmp.Or(max(off(have.Resolved, want.Resolved), off(have.Dangling, want.Dangling), off(have.None, want.None)), 1),
					"%s: %d match a row, %d match none and %d name no row, want %d, %d and %d", name, have.Resolved, have.Dangling, have.None, want.Resolved, want.Dangling, want.None)
			}
		}
	}
	return proof
}

// rekeyOptions are what makes a check of the merged target follow the same references.
func (p *Plan) rekeyOptions() *merge.Rekey {
	if p.Rekey == nil {
		return nil
	}
	o := new(merge.Rekey)
	for _, s := range p.Rekey.Spaces {
		space := merge.Space{Name: s.Name, Keep: s.Keep}
		for _, c := range p.Rekey.Columns {
			if c.Key && c.Cases[0].Space == s.Name {
				space.Keys = append(space.Keys, merge.Name(c.Table)+"."+merge.Name(c.Column))
			}
		}
		o.Spaces = append(o.Spaces, space)
	}
	return o
}

// limitLine says what the proof does not cover.
func limitLine(plain int, columns []string) string {
	var b strings.Builder
	b.WriteString("Only declared references are covered: columns that are not declared as references were not followed")
	if plain > 0 {
		b.WriteString(", and " + merge.PlainWithKeys(plain, columns))
	}
	return b.String()
}
