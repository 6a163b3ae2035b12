package propose

import (
	"context"
	"maps"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// mostCases is how many values a column may have that says what another one is.
const mostCases = 16

// casesOf returns the columns of a table that may say what a number in another column
// is: a type, a kind.
func casesOf(c *classifier, e *examined) (names []string) {
	for _, other := range c.x.columns {
		if other.table != e.table || other == e || other.column.Generated != "" || other.column.Opaque != "" {
			continue
		}
		few := len(other.parts) > 0
		for _, p := range other.parts {
			few = few && p.values.others == 0 && p.values.distinct > 1 && p.values.distinct <= mostCases
		}
		if few || other.column.Kind == catalog.KindText {
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
		return j.to != nil && e.pooled(j.to).share() < 0.9 && !e.whole(j.to)
	case verdict.ClassPlain, verdict.ClassShared:
		words := nameWords(e.column.Name)
		return !aboutMeasures(words) && slices.ContainsFunc(c.roots, func(s *space) bool {
			named := (hasIDWord(words) || aboutPeople(words)) && c.score(e, s) >= 2
			return (named || c.reaches(e, s)) && e.pooled(s).own > 0
		})
	}
	return false
}

// reaches reports whether values of a column reach as far as the keys of a space, of which there are many.
func (c *classifier) reaches(e *examined, s *space) bool {
	return !s.same && s.size >= 200 && slices.ContainsFunc(e.parts, func(p examinedPart) bool {
		return !p.values.highest.Negative && float64(p.values.highest.Bits) >= 0.9*float64(s.highest())
	})
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

// apart looks whether columns of a table name different things in different rows. It reads the table once.
func apart(ctx context.Context, r *check.Reader, c *classifier, table string, columns []*examined) error {
	open := check.OpenReader{Reader: r}
	var questions []check.GroupQuestion
	var conclude []func()
	for _, e := range columns {
		j := c.judged[e]
		if by := casesOf(c, e); c.mixed(e) && len(by) > 0 {
			cases := &casesRead{c: c, e: e, by: by, fitted: make(map[caseValue]map[*space]fit)}
			questions, conclude = append(questions, cases.question()), append(conclude, cases.conclude)
		}
		if !mayNameTwo(c, e) {
			continue
		}
		ref := &rules.Ref{Table: table, Reference: catalog.Reference{Columns: []string{e.column.Name}, ToTable: j.to.Table, ToColumns: []string{j.to.Column}}}
		var err error
		if ref.None, err = keys.ParseValues(e.none(c.f, j.to)); err != nil {
			return err
		}
		rows, err := check.Of(ctx, open, ref, c.others(j.to))
		if err != nil {
			return err
		}
		if rows != nil {
			questions, conclude = append(questions, rows.Question(c.f, len(columns))), append(conclude, func() {
				if found := rows.Split(); found != nil && len(j.cases) == 0 {
					j.kinds, j.class, j.doubt = found, verdict.ClassUndecided, 0.95
				}
			})
		}
	}
	if err := check.Read(ctx, r, "", table, questions); err != nil {
		return err
	}
	for _, conclude := range conclude {
		conclude()
	}
	return nil
}

// others are the keys that each world counts, without those of some rows.
func (c *classifier) others(than *space) (all []rules.ColumnName) {
	for _, s := range c.roots {
		if s != than && !s.same {
			all = append(all, rules.ColumnName{Table: s.Table, Column: s.Column})
		}
	}
	return all
}

// casesRead are the values of a column by those of other columns, compared with keys.
type casesRead struct {
	c      *classifier
	e      *examined
	by     []string
	fitted map[caseValue]map[*space]fit
}

// caseValue is a value of a column that may say what another one is.
type caseValue struct{ column, value string }

// question asks for the values, database by database.
func (r *casesRead) question() check.GroupQuestion {
	nobody := r.c.x.nobodyIn(r.c.f, r.e.column)
	var read map[caseValue]*columnValues
	var values map[string]int // of each column; more than mostCases: too many
	var now []byte
	return check.GroupQuestion{
		Column: r.e.column.Name,
		By:     func(*catalog.Table) []string { return slices.Clone(r.by) },
		Begin: func(s *stream.Stream, db *rules.Database) func(row int) bool {
			read, values = make(map[caseValue]*columnValues), make(map[string]int)
			at := s.Carry(r.e.column.Name)
			return func(row int) bool {
				now = s.CarriedAt(at, row)
				return now != nil
			}
		},
		Group: func(by string, v []byte) func() {
			if v == nil {
				return func() {}
			}
			value := string(v)
			if values[by]++; values[by] > mostCases {
				return nil
			}
			group := &columnValues{column: r.e.column.Name, valueCounts: newValueCounts()}
			group.few = true
			read[caseValue{by, value}] = group
			reads := group.reads(r.e.column)
			return func() { reads(now) }
		},
		End: func(db *rules.Database) {
			for g, counts := range read {
				if values[g.column] > mostCases {
					continue
				}
				if r.fitted[g] == nil {
					r.fitted[g] = make(map[*space]fit)
				}
				test := newTestable(counts.valueCounts, nobody)
				for _, s := range r.c.roots {
					if !s.same && (s.Table != r.e.table || s.Column != r.e.column.Name) {
						r.fitted[g][s] = r.fitted[g][s].add(test.fit(s.sets[db], s.others(db)))
					}
				}
			}
		},
		Forget: func() { clear(r.fitted) },
	}
}

// conclude looks whether another column says in which rows the column names what.
func (r *casesRead) conclude() {
	if j := r.c.judged[r.e]; !r.find(false) && (j.class == verdict.ClassPlain || j.class == verdict.ClassShared) {
		r.find(true)
	}
}

// spans reports whether in some rows nearly all values are keys, up to the largest ones. Values may lie far beyond: a game numbers other
// things so high that they are no keys.
func spans(f fit, s *space) bool {
	return f.share() >= 0.5 && float64(f.own) >= 0.97*float64(f.within) && float64(f.highest) >= 0.9*float64(s.highest()) && s.size >= 200 && f.distinct >= 20
}

// find looks for rows that name keys, and reports whether there are some. If weak, it is enough that they have the range of the keys.
func (r *casesRead) find(weak bool) bool {
	c, e := r.c, r.e
	var best []proposedCase
	covered := int64(0)
	for _, name := range r.by {
		cases := make(map[*space]*proposedCase)
		rows, kinds := int64(0), 0
		for g, fits := range r.fitted {
			if g.column != name {
				continue
			}
			kinds++
			var to *space
			for s, f := range fits {
				if f.rows < 20 || !(f.share() >= 0.9 && f.sigmas() >= 4.5 || weak && spans(f, s)) {
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
				cases[to] = &proposedCase{to: to, when: &rules.When{Column: name}}
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
	if len(best) == 0 {
		return false
	}
	j := c.judged[e]
	j.to, j.cases, j.doubt, j.weak = best[0].to, best, 0.65, weak
	j.class = verdict.ClassUndecided // it may be a part of a key, or the key of another game's table
	if !weak && slices.ContainsFunc(best, func(found proposedCase) bool { return c.score(e, found.to) >= 1 }) {
		j.class = verdict.ClassReference
	}
	return true
}

// proposedCase is a reference of some rows of a column.
type proposedCase struct {
	to   *space
	when *rules.When
	fit  fit
}
