package leave

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

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

// prove makes sure that exactly the rows of the plan stayed behind, that they are what the conditions and the
// references give, and that nothing in the target refers to one of them.
func prove(ctx context.Context, p *step.Proving) error {
	if p.Plan.Leaving == nil {
		return nil
	}
	for i, world := range p.Worlds() {
		if !slices.ContainsFunc(p.Plan.Leaving.Stays, func(s plan.Stays) bool { return s.Source == world.Name }) {
			continue
		}
		err := p.Retry(ctx, "the rows of "+world.Name+" that stay behind", func(ctx context.Context) error {
			w := &proving{p, world, p.Plan.Worlds()[i].Name, make(map[string]string)}
			if i > 0 {
				w.out = p.Plan.Withheld(world.Dialect())
			}
			return w.prove(ctx)
		})
		if err != nil {
			return err
		}
	}
	return p.Retry(ctx, "what refers to rows that stay behind", func(ctx context.Context) error {
		return proveTarget(ctx,
			p)
	})
}

// proving is the proof of one world.
type proving struct {
	*step.Proving
	on   *rowio.Connection
	name string
	out  map[string]string // conditions of rows that do not come for other reasons
}

func (w *proving) wrong(table, format string, args ...any) {
	w.Findings = append(w.Findings, plan.Refusal{Source: w.name, Table: table, Reason: fmt.Sprintf(format, args...)})
}

// keys adds the keys of the rows of a table for which a condition holds.
func (w *proving) keys(ctx context.Context, s *plan.Stays, condition string, into map[rekey.Integer]bool) (more bool,
	err error) {
	d := w.on.Dialect()
	if out := w.out[s.Table]; out != "" {
		condition = "(" + condition + ") AND NOT (" + out + ")"
	}
	err = w.on.Rows(ctx, "SELECT "+d.Quote(s.Key)+" FROM "+d.Quote(s.Table)+" WHERE "+condition, false, nil,
		func(row []any) (bool, error) {
			n, ok := rekey.ParseInteger(rowio.Printed(row[0]))
			if !ok {
				return false, fmt.Errorf("%s.%s has a key that is not an integer", s.Table, s.Key)
			}
			more = more || !into[n]
			into[n] = true
			return true, nil
		})
	return more, err
}

// prove works out again which rows stay: from those of the statements on, round by round.
func (w *proving) prove(ctx context.Context) error {
	found, changed := make(map[string]map[rekey.Integer]bool), make(map[string]bool)
	var tables []*plan.Stays
	for i := range w.Plan.Leaving.Stays {
		if s := &w.Plan.Leaving.Stays[i]; s.Source == w.name && s.Key != "" {
			tables, found[s.Table] = append(tables, s), make(map[rekey.Integer]bool)
		}
	}
	for i := range w.Plan.Leaving.Says {
		said := &w.Plan.Leaving.Says[i]
		if s := w.Plan.StaysOf(w.name, said.Table); said.Where != "" && s != nil {
			more, err := w.keys(ctx, s, leave.Bound(w.Plan.Engine, said), found[s.Table])
			if err != nil {
				return err
			}
			changed[s.Table] = changed[s.Table] || more
		}
	}
	for _, s := range tables { // who is not among the best, and groups that are too small
		for _, r := range s.Why {
			if strings.HasPrefix(r.Why, "best ") || strings.HasPrefix(r.Why, "fewer ") {
				for n := range r.Keys.All() {
					found[s.Table][n], changed[s.Table] = true, true
				}
			}
		}
	}
	for len(changed) > 0 {
		before := changed
		changed = make(map[string]bool)
		for _, s := range tables {
			for _, by := range s.By {
				if !before[by.To] {
					continue
				}
				more, err := w.keys(ctx, s, by.Naming(setOf(found[by.To])).SQL(w.on.Dialect().Quote), found[s.Table])
				if err != nil {
					return err
				}
				if more {
					changed[s.Table] = true
				}
			}
		}
		maps.DeleteFunc(changed, func(_ string, more bool) bool { return !more })
	}
	for _, s := range tables {
		n := int64(0)
		for key := range found[s.Table] {
			if !s.Keys.Has(key) {
				n++
			}
		}
		if missing := s.Keys.Len() - (int64(len(found[s.Table])) - n); n > 0 || missing > 0 {
			w.wrong(s.Table, "of the rows that stay behind by the conditions and references, the plan lacks %d, and it has %d others", n, missing)
		}
	}
	return w.count(ctx)
}

func setOf(keys map[rekey.Integer]bool) *rekey.Set {
	s := &rekey.Set{Exact: true}
	for n := range keys {
		s.Add(n)
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
			if s.Table != by.To || s.Keys == nil {
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
