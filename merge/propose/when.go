package propose

import (
	"context"
	"maps"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check/kinds"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/undeclared"
	"mergesafe/merge/declare"
	"mergesafe/merge/rekey"
	"mergesafe/merge/verdict"
)

// mostCases is how many values a column may have that says what another one is.
const mostCases = 16

// casesOf returns the columns of a table that may say what a number in another column
// is: a type, a kind.
func casesOf(c *classifier, e *examined) (names []string) {
	for _, other := range c.x.columns {
		if other.table != e.table || other == e || other.column.Generated != "" {
			continue
		}
		few := len(other.parts) > 0
		for _, p := range other.parts {
			few = few && p.values.others == 0 && p.values.distinct > 1 && p.values.distinct <= mostCases
		}
		if few || strings.HasPrefix(strings.ToLower(other.column.Type), "enum") {
			names = append(names, other.column.Name)
		}
	}
	return names
}

// mixed reports whether a column may name rows in some of its rows only.
func (c *classifier) mixed(e *examined) bool {
	j := c.judged[e]
	if j.declared || e.place >= singleKey || len(e.parts) == 0 || e.rows() < 100 || bitsOf(e.column) <= 8 || slices.ContainsFunc(e.parts, func(p examinedPart) bool { return p.inside }) {
		return false
	}
	switch j.class {
	case verdict.ClassReference, verdict.ClassUndecided:
		return j.to != nil && e.pooled(j.to).share() < 0.9 && !c.whole(e, j.to)
	case verdict.ClassPlain, verdict.ClassNatural:
		words := nameWords(e.column.Name)
		return !aboutMeasures(words) && (hasIDWord(words) || aboutPeople(words)) && slices.ContainsFunc(c.roots, func(s *space) bool {
			return c.score(e, s) >= 2 && e.pooled(s).own > 0
		})
	}
	return false
}

// mayNameTwo reports whether a column seems to name rows of one table, and has values that are keys of another world.
func mayNameTwo(c *classifier, e *examined) bool {
	j := c.judged[e]
	if j.declared || j.to == nil || len(j.cases) > 0 || j.class != verdict.ClassReference && j.class != verdict.ClassUndecided {
		return false
	}
	if e.place >= singleKey || slices.ContainsFunc(e.parts, func(p examinedPart) bool { return p.inside }) {
		return false
	}
	f := e.pooled(j.to)
	return f.own < f.rows && f.elsewhere > 0
}

// apart looks whether a column names different things in different rows.
func apart(ctx context.Context, r *read.Reader, c *classifier, e *examined) error {
	if c.mixed(e) {
		if err := splitCases(ctx, r, c, e); err != nil {
			return err
		}
	}
	if !mayNameTwo(c, e) {
		return nil
	}
	j := c.judged[e]
	ref := &declare.Ref{Table: e.table, Reference: catalog.Reference{Columns: []string{e.column.Name}, ToTable: j.to.Table, ToColumns: []string{j.to.Column}}}
	var err error
	if ref.None, err = rekey.ParseValues(false, e.none(c.f, j.to)); err != nil {
		return err
	}
	found, err := kinds.Find(ctx, undeclared.OpenReader{Reader: r, Code: ""}, ref)
	if found != nil {
		j.kinds, j.class, j.doubt = found, verdict.ClassUndecided, 0.95
	}
	return err
}

// splitCases looks whether another column says in which rows a column names what.
func splitCases(ctx context.Context, r *read.Reader, c *classifier, e *examined) error {
	by, nobody := casesOf(c, e), c.x.nobodyIn(c.f, e.column)
	if len(by) == 0 {
		return nil
	}
	type group struct{ column, value string }
	fitted := make(map[group]map[*space]fit)
	for db := range c.f.Having(e.table) {
		read, err := valuesBy(ctx, undeclared.OpenReader{Reader: r, Code: ""}, db, e.table, e.column.Name, by, mostCases)
		if err != nil {
			return err
		}
		for name, groups := range read {
			for value, counts := range groups {
				g := group{name, value}
				if fitted[g] == nil {
					fitted[g] = make(map[*space]fit)
				}
				test := newTestable(counts.valueCounts, nobody)
				for _, s := range c.roots {
					if !s.same && (s.Table != e.table || s.Column != e.column.Name) {
						fitted[g][s] = fitted[g][s].add(test.fit(s.sets[db], s.others(db)))
					}
				}
			}
		}
	}
	var best []proposedCase
	covered := int64(0)
	for _, name := range by {
		cases := make(map[*space]*proposedCase)
		rows, kinds := int64(0), 0
		for g, fits := range fitted {
			if g.column != name {
				continue
			}
			kinds++
			var to *space
			for s, f := range fits {
				if f.rows < 20 || f.share() < 0.9 || f.sigmas() < 4.5 {
					continue
				}
				if to == nil || c.score(e, s) > c.score(e, to) || c.score(e, s) == c.score(e, to) && f.sigmas() > fits[to].sigmas() {
					to = s
				}
			}
			if to == nil {
				continue
			}
			if cases[to] == nil {
				cases[to] = &proposedCase{to: to, when: &declare.When{Column: name}}
			}
			cases[to].when.Is = append(cases[to].when.Is, g.value)
			cases[to].fit = cases[to].fit.add(fits[to])
			rows += fits[to].rows
		}
		all := 0
		for _, found := range cases {
			all += len(found.when.Is)
			slices.Sort(found.when.Is)
		}
		if rows > covered && (all < kinds || len(cases) > 1) {
			covered, best = rows, nil
			for _, s := range slices.SortedFunc(maps.Keys(cases), func(a, b *space) int { return strings.Compare(a.String(), b.String()) }) {
				best = append(best, *cases[s])
			}
		}
	}
	if len(best) > 0 {
		j := c.judged[e]
		j.to, j.cases, j.doubt = best[0].to, best, 0.65
		j.class = verdict.ClassUndecided // it may be a part of a key, or the key of another game's table
		if slices.ContainsFunc(best, func(found proposedCase) bool { return c.score(e, found.to) >= 1 }) {
			j.class = verdict.ClassReference
		}
	}
	return nil
}

// proposedCase is a reference of some rows of a column.
type proposedCase struct {
	to   *space
	when *declare.When
	fit  fit
}
