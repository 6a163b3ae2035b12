package leave

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mergesafe/internal/slice"
	"mergesafe/merge/declare"
	"mergesafe/merge/leave"
	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
	"mergesafe/merge/verdict"
)

// The proof shares no code with what found the rows: it asks the databases, statement by statement, and compares what
// they say with the plan.

// prove makes sure that exactly the rows of the plan stayed behind, that they are what the conditions, the groups and
// the references give, and that nothing in the target refers to one of them.
func prove(ctx context.Context, p *step.Proving) error {
	if p.Plan.Leaving == nil {
		return nil
	}
	findings := p.Findings
	err := p.Retry(ctx, "the rows that stay behind", func(ctx context.Context) error {
		p.Findings = findings
		var worlds []*proving
		for i, on := range p.Worlds() {
			w := &proving{Proving: p, on: on, name: p.Plan.Worlds()[i].Name, out: make(map[string]string),
				found: make(map[string]map[rekey.Key]bool), changed: make(map[string]bool)}
			if i > 0 {
				w.out = p.Plan.Withheld(on.Dialect())
			}
			for i := range p.Plan.Leaving.Stays {
				if s := &p.Plan.Leaving.Stays[i]; s.Source == w.name && s.Keyed() {
					w.tables, w.found[s.Table] = append(w.tables, s), make(map[rekey.Key]bool)
				}
			}
			worlds = append(worlds, w)
		}
		each := func(do func(w *proving, ctx context.Context) error) func() error {
			return func() error {
				for _, w := range worlds {
					if err := do(w, ctx); err != nil {
						return err
					}
				}
				return nil
			}
		}
		for _, do := range []func() error{
			each((*proving).where), func() error { return proveBest(ctx, worlds) }, each((*proving).follow),
			func() error { return proveFewer(ctx, worlds) }, each((*proving).follow), each((*proving).conclude),
		} {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.Retry(ctx, "what refers to rows that stay behind", func(ctx context.Context) error {
		return proveTarget(ctx, p)
	})
}

// proving is the proof of one world.
type proving struct {
	*step.Proving
	on      *rowio.Connection
	name    string
	out     map[string]string // conditions of rows that do not come for other reasons
	tables  []*plan.Stays     // of this world, with a key
	found   map[string]map[rekey.Key]bool
	changed map[string]bool // tables of found that became more since what refers to them was asked
}

func (w *proving) wrong(table, format string, args ...any) {
	w.Findings = append(w.Findings, plan.Refusal{Source: w.name, Table: table, Reason: fmt.Sprintf(format, args...)})
}

// add notes a row that stays, unless it is the same in every world.
func (w *proving) add(s *plan.Stays, n rekey.Key) {
	if !w.found[s.Table][n] && !n.Among(w.kept(s)) {
		w.found[s.Table][n], w.changed[s.Table] = true, true
	}
}

// kept are, of each column, the keys of rows that are the same in every world.
func (w *proving) kept(s *plan.Stays) []rekey.Values {
	return slice.Map(s.RowKey().Columns, func(name string) (kept rekey.Values) {
		if column := w.Plan.Rekey.Column(s.Table, name); column != nil && column.Key {
			kept, _ = declare.ParseKeep(w.Plan.Rekey.Space(column.Cases[0].Space).Keep) // the plan was validated
		}
		return kept
	})
}

// rows calls take with columns of the rows of a table for which a condition holds and that come, as far as the other
// policies say.
func (w *proving) rows(ctx context.Context, table, columns, condition, end string, take func(row []any) error) error {
	if out := w.out[table]; out != "" {
		condition = "(" + condition + ") AND NOT (" + out + ")"
	}
	return w.on.Rows(ctx, "SELECT "+columns+" FROM "+w.on.Dialect().Quote(table)+" WHERE "+condition+end, false, nil,
		func(row []any) (bool, error) { return true, take(row) })
}

// keys adds the keys of the rows of a table for which a condition holds.
func (w *proving) keys(ctx context.Context, s *plan.Stays, condition string) error {
	return w.each(ctx, s, condition, func(n rekey.Key) { w.add(s, n) })
}

// each calls take with the keys of such rows.
func (w *proving) each(ctx context.Context, s *plan.Stays, condition string, take func(n rekey.Key)) error {
	key := s.RowKey()
	return w.rows(ctx, s.Table, w.on.Dialect().QuoteAll(key.Columns), condition, "", func(row []any) error {
		n, err := keyIn(s, key, row)
		if err == nil {
			take(n)
		}
		return err
	})
}

// keyIn is the key in the first values of a row.
func keyIn(s *plan.Stays, key declare.RowKey, row []any) (rekey.Key, error) {
	n, ok := key.Read(func(i int) any { return row[i] })
	if !ok {
		return n, fmt.Errorf("table %q has the key %.40q, which cannot be read", s.Table, row)
	}
	return n, nil
}

// where asks for which rows the conditions hold.
func (w *proving) where(ctx context.Context) error {
	for i := range w.Plan.Leaving.Says {
		said := &w.Plan.Leaving.Says[i]
		if s := w.Plan.StaysOf(w.name, said.Table); said.Where != "" && s != nil {
			if err := w.keys(ctx, s, leave.Bound(w.Plan.Engine, said)); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow adds what refers to the rows found, round by round.
func (w *proving) follow(ctx context.Context) error {
	for len(w.changed) > 0 {
		before := w.changed
		w.changed = make(map[string]bool)
		for _, s := range w.tables {
			for _, by := range s.By {
				if !before[by.To] {
					continue
				}
				if err := w.keys(ctx, s, by.Naming(w.setOf(by.To)).SQL(w.on.Dialect().Quote)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// conclude compares what was found with the plan.
func (w *proving) conclude(ctx context.Context) error {
	for _, s := range w.tables {
		n := int64(0)
		for key := range w.found[s.Table] {
			if !s.Keys.HasKey(key) {
				n++
			}
		}
		if missing := s.Keys.Len() - (int64(len(w.found[s.Table])) - n); n > 0 || missing > 0 {
			w.wrong(s.Table, "of the rows that stay behind by the conditions and references, the plan lacks %d, and it has %d others", n, missing)
		}
	}
	return w.count(ctx)
}

// setOf are the keys of the rows of a table found so far.
func (w *proving) setOf(table string) *rekey.Set {
	s := &rekey.Set{Exact: true}
	if of := w.Plan.StaysOf(w.name, table); of != nil {
		s.Kinds = of.Kinds
	}
	for n := range w.found[table] {
		s.AddKey(n)
	}
	s.Finish()
	return s
}

// count counts the rows that stayed.
func (w *proving) count(ctx context.Context) error {
	d := w.on.Dialect()
	for i := range w.Plan.Leaving.Stays {
		s := &w.Plan.Leaving.Stays[i]
		if s.Source != w.name {
			continue
		}
		condition := s.SQL(d.Quote)
		if out := w.out[s.Table]; out != "" {
			condition += " AND NOT (" + out + ")"
		}
		n, err := w.on.Number(ctx, "SELECT COUNT(*) FROM "+d.Quote(s.Table)+" WHERE "+condition, false)
		if err != nil {
			return err
		}
		if n != s.Rows() {
			w.wrong(s.Table, "%d rows stay behind, and the plan has %d", n, s.Rows())
		}
	}
	return nil
}

// proveTarget makes sure that no row of the target names, by a reference that was followed or cleared, a key that a
// row that stayed behind would have had.
func proveTarget(ctx context.Context, p *step.Proving) error {
	d := p.Target.Dialect()
	refers := make(map[string]*declare.Severed)
	for i := range p.Plan.Leaving.Stays {
		for _, by := range p.Plan.Leaving.Stays[i].By {
			refers[by.Table+"\x00"+by.Column+"\x00"+by.To] = by
		}
	}
	for i := range p.Plan.Severed {
		if s := &p.Plan.Severed[i]; s.Gone {
			refers[s.Table+"\x00"+s.Column+"\x00"+s.To] = s
		}
	}
	for _, name := range slices.Sorted(maps.Keys(refers)) {
		by := refers[name]
		if p.Keys[by.Table] == nil {
			continue // the target has no such table
		}
		for i := range p.Plan.Leaving.Stays {
			s := &p.Plan.Leaving.Stays[i]
			if s.Table != by.To || s.Key == "" { // other keys need not be of one world only
				continue
			}
			images := imagesOf(p.Plan, s)
			if images.Len() == 0 {
				continue
			}
			n, err := p.Target.Number(ctx, "SELECT COUNT(*) FROM "+d.Quote(by.Table)+" WHERE "+by.Naming(images).SQL(d.Quote),
				false)
			if err != nil {
				return err
			}
			if n > 0 {
				p.Findings = append(p.Findings, plan.Refusal{Source: p.Target.Name, Table: by.Table,
					Reason: fmt.Sprintf("%d rows refer by %s to rows of %s of %s that stayed behind", n, by.Column, s.Table,
						s.Source)})
			}
		}
	}
	return nil
}

// imagesOf are the keys that rows which stayed behind would have had: without those that others have since they are
// matched.
func imagesOf(p *plan.Plan, s *plan.Stays) *rekey.Set {
	images := &rekey.Set{Exact: true}
	by, matched := uint64(0), (*rekey.Pairs)(nil)
	taken := make(map[rekey.Integer]bool)
	if p.Rekey != nil {
		at := slices.IndexFunc(p.Rekey.Columns, func(c verdict.RekeyedColumn) bool {
			return c.Key && c.Table == s.Table &&
				c.Column == s.Key
		})
		if at >= 0 {
			space := p.Rekey.Space(p.Rekey.Columns[at].Cases[0].Space)
			for _, of := range space.Sources {
				if of.Source == s.Source {
					by, matched = of.Offset, of.Matched
				}
				for _, image := range of.Matched.All() {
					taken[image] = true
				}
			}
		}
	}
	for n := range s.Keys.All() {
		image, ok := n.Add(by)
		if _, became := matched.Image(n); ok && !became && !taken[image] {
			images.Add(image)
		}
	}
	images.Finish()
	return images
}
