package change

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/merge/keys"
	"mergesafe/merge/leave"
	"mergesafe/merge/rules"

	"mergesafe/merge/plan"
	"mergesafe/merge/record"
)

// The proof shares no code with what found the rows: it asks the databases, statement by statement, and compares what
// they say with the plan.

// proveLeave makes sure that exactly the rows of the plan stayed behind, that they are what the conditions, the groups and
// the references give, and that nothing in the new database refers to one of them.
func proveLeave(ctx context.Context, p *Proving) error {
	if p.Plan.Leaving == nil {
		return nil
	}
	findings := p.Findings
	err := p.Retry(ctx, "the rows that stay behind", func(ctx context.Context) error {
		p.Findings = findings
		var worlds []*World
		for i, on := range p.Worlds {
			worlds = append(worlds, In(p, i, on))
		}
		each := func(do func(ctx context.Context, w *World) error) func() error {
			return func() error {
				for _, w := range worlds {
					if err := do(ctx, w); err != nil {
						return err
					}
				}
				return nil
			}
		}
		for _, do := range []func() error{
			each(proveWhere), func() error { return Best(ctx, worlds) }, each(proveFollow),
			func() error { return Fewer(ctx, worlds) }, each(proveFollow), each(proveConclude),
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
	return p.Retry(ctx, "references to rows that stay behind", func(ctx context.Context) error {
		return proveLeaveInNew(ctx, p)
	})
}

func leaveWrong(w *World, table, format string, args ...any) {
	finding := plan.Refusal{Source: w.Name, Table: table, Reason: fmt.Sprintf(format, args...)}
	if !slices.Contains(w.Findings, finding) { // some rows are asked for several times
		w.Findings = append(w.Findings, finding)
	}
}

// proveWhere asks for which rows the conditions hold.
func proveWhere(ctx context.Context, w *World) error {
	for i := range w.Plan.Leaving.Says {
		said := &w.Plan.Leaving.Says[i]
		if s := w.Plan.StaysOf(w.Name, said.Table); said.Where != "" && s != nil {
			if err := w.Find(ctx, s, leave.Bound(w.Plan.Engine, said)); err != nil {
				return err
			}
		}
	}
	return nil
}

// proveFollow adds what refers to the rows found, round by round.
func proveFollow(ctx context.Context, w *World) error {
	for before := w.Changed(); len(before) > 0; before = w.Changed() {
		for _, s := range w.Tables {
			for _, by := range s.By {
				if !before[by.To] {
					continue
				}
				if err := w.Find(ctx, s, by.Naming(w.SetOf(by.To)).SQL(w.On.Dialect().Quote)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// proveConclude compares what was found with the plan.
func proveConclude(ctx context.Context, w *World) error {
	for _, s := range w.Tables {
		n := int64(0)
		for key := range w.Found[s.Table] {
			if !s.Keys.HasKey(key) {
				n++
			}
		}
		if missing := s.Keys.Len() - (int64(len(w.Found[s.Table])) - n); n > 0 || missing > 0 {
			leaveWrong(w, s.Table, "of the rows that stay behind by the conditions and references the plan lacks %d; it lists %d too many", n, missing)
		}
	}
	return proveCount(ctx, w)
}

// proveCount counts the rows that stayed.
func proveCount(ctx context.Context, w *World) error {
	d := w.On.Dialect()
	for i := range w.Plan.Leaving.Stays {
		s := &w.Plan.Leaving.Stays[i]
		if s.World != w.Name {
			continue
		}
		condition := s.SQL(d.Quote)
		if out := w.Out[s.Table]; out != "" {
			condition += " AND NOT (" + out + ")"
		}
		n, err := w.On.Number(ctx, "SELECT COUNT(*) FROM "+d.Quote(s.Table)+" WHERE "+condition, false)
		if err != nil {
			return err
		}
		if n != s.Rows() {
			leaveWrong(w, s.Table, "%s stayed behind, but the plan lists %d", record.CountRows(n), s.Rows())
		}
	}
	return nil
}

// proveLeaveInNew makes sure that no row of the new database names, by a reference that was followed or cleared, a key that a
// row that stayed behind would have had.
func proveLeaveInNew(ctx context.Context, p *Proving) error {
	d := p.New.Dialect()
	refers := make(map[string]*rules.Severed) // each world has those that follow
	add := func(s *rules.Severed) {
		refers[strings.Join([]string{s.Table, s.Column, s.To, s.Format, s.When.Text()}, "\x00")] = s
	}
	for i := range p.Plan.Leaving.Stays {
		for _, by := range p.Plan.Leaving.Stays[i].By {
			add(by)
		}
	}
	for i := range p.Plan.Severed {
		if s := &p.Plan.Severed[i]; s.Partly {
			add(s)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(refers)) {
		by := refers[name]
		if p.Keys[by.Table] == nil {
			continue // the new database has no such table
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
			n, err := p.New.Number(ctx, "SELECT COUNT(*) FROM "+d.Quote(by.Table)+" WHERE "+by.Naming(images).SQL(d.Quote),
				false)
			if err != nil {
				return err
			}
			if n > 0 {
				p.Findings = append(p.Findings, plan.Refusal{Source: p.New.Name, Table: by.Table,
					Reason: fmt.Sprintf("references by %s to rows of %s of %s that stayed behind: %d", by.Column, s.Table, s.World, n)})
			}
		}
	}
	return nil
}

// imagesOf are the keys that rows which stayed behind would have had: without those that others have since they are
// matched.
func imagesOf(p *plan.Plan, s *plan.Stays) *keys.Set {
	images := &keys.Set{Exact: true}
	by, matched := uint64(0), (*keys.Pairs)(nil)
	taken := make(map[keys.Integer]bool)
	if c := p.Rekey.Column(s.Table, s.Key); c != nil && c.Key {
		for _, of := range p.Rekey.Space(c.Cases[0].Space).Worlds {
			if of.World == s.World {
				by, matched = of.Offset, of.Matched
			}
			for _, image := range of.Matched.All() {
				taken[image] = true
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
