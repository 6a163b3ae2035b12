package propose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mergesafe/gameid"
	"mergesafe/merge/check"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// proposed puts together what the columns seem to be.
func (c *classifier) proposed() *verdict.Proposed {
	p := &verdict.Proposed{Gaps: gapsOf(c.roots)}
	for _, e := range c.x.columns {
		p.Columns = append(p.Columns, c.proposedColumns(e)...)
	}
	slices.SortStableFunc(p.Columns, func(a, b verdict.ProposedColumn) int { return cmp.Compare(b.Doubt, a.Doubt) })
	for _, s := range c.roots {
		form := formOf(s)
		declared := func(w rules.WorldColumn) bool { return w.Table == s.Table && w.Column == s.Column }
		if form != 0 && !slices.ContainsFunc(c.f.Worlds, declared) {
			p.Worlds = append(p.Worlds, rules.WorldKey{At: s.String(), Value: fmt.Sprintf("id >> %d", form)})
		}
		if !s.same {
			if s.gapsText() == noGaps {
				p.NoGaps = append(p.NoGaps, s.String())
			}
			p.Spaces = append(p.Spaces, fmt.Sprintf("%s: %s", s, s.gapsText()))
		}
		own := slices.IndexFunc(c.x.columns, func(e *examined) bool { return e.String() == s.String() && c.judged[e].class == verdict.ClassKey })
		switch {
		case own < 0 || form != 0 || s.same || s.Class != check.IntegerClass:
		case c.judged[c.x.columns[own]].counted:
			p.Rekey = true
		default:
			p.Keys = append(p.Keys, s.String())
		}
	}
	return p
}

// formOf returns the form of the keys of a space if in each database they carry the numbers of
// servers that its registry lists, and 0 if they do not.
func formOf(s *space) gameid.KeyForm {
	for _, form := range gameid.KeyForms {
		own := func(db *rules.Database, set *check.KeySet) bool {
			listed := func(n keys.Integer) bool {
				server, _, ok := form.Split(int64(n.Bits))
				_, there := db.Listed[server]
				return ok && there && !n.Negative
			}
			ends := set.Integers.Range()
			if !listed(ends.Low) || !listed(ends.High) || ends.Low.Bits>>form == ends.High.Bits>>form {
				return listed(ends.Low) && listed(ends.High)
			}
			if set.Integers.Sparse {
				return false
			}
			for n := range set.Integers.All() {
				if !listed(n) {
					return false
				}
			}
			return true
		}
		all := s.Class == check.IntegerClass
		for db, set := range s.sets {
			all = all && set.Gap == "" && (set.Integers.Len() == 0 || own(db, set))
		}
		if all {
			return form
		}
	}
	return 0
}

func (c *classifier) proposedColumns(e *examined) []verdict.ProposedColumn {
	j := c.judged[e]
	p := verdict.ProposedColumn{Candidates: c.shown(e, j), Table: e.table, Column: e.column.Name, Class: j.class, Doubt: j.doubt, Reason: j.reason, Evidence: c.evidence(e, j), Declared: j.declared, Own: j.own, InTexts: j.inTexts}
	if i := slices.IndexFunc(c.x.byName, func(r rules.DeclaredReference) bool { return r.At[0] == e.String() }); i >= 0 && !j.declared {
		r := c.x.byName[i]
		p.Class, p.To, p.None, p.Reason, p.Evidence, p.Doubt = verdict.ClassReference, r.To[0], r.None, c.x.reasons[i], c.x.reasons[i], 0.5
		return []verdict.ProposedColumn{p}
	}
	if to, ok := c.x.repeats[e.String()]; ok && (j.class == verdict.ClassPlain || j.class == verdict.ClassShared || j.inTexts && j.chance) {
		const reason = "it may repeat a name, and a merge may give that name to another row"
		p.Class, p.To, p.Reason, p.Evidence, p.Doubt = verdict.ClassUndecided, to.to, reason, reason+"; "+to.figures, 0.7
		p.InTexts = false
		return []verdict.ProposedColumn{p}
	}
	if counts := countedBy(c, e); len(counts) > 0 && !j.declared &&
		(j.class == verdict.ClassPlain || j.class == verdict.ClassUndecided && (j.chance || check.NamedCounter(e.table, e.column.Name))) {
		p.Reason = fmt.Sprintf("it may count keys: it holds the largest of %s, or a larger number, which the keys of the other worlds would exceed", strings.Join(counts, " and of "))
		evidence := p.Reason
		if j.class == verdict.ClassUndecided {
			evidence += "; " + p.Evidence
			if j.to != nil {
				p.To = j.to.String()
			}
		}
		p.Class, p.Counts, p.Evidence, p.Doubt = verdict.ClassUndecided, counts, evidence, max(p.Doubt, 0.7)
		return []verdict.ProposedColumn{p}
	}
	if j.kinds != nil {
		p.To, p.When, p.Kinds, p.Reason, p.Evidence, p.None = j.to.String(), j.kinds.When(), &j.kinds.Kinds, j.kinds.Evidence, j.kinds.Evidence, e.none(c.f, j.to)
		return []verdict.ProposedColumn{p}
	}
	if len(j.cases) == 0 {
		if j.to != nil {
			p.To = j.to.String()
			if !j.declared {
				p.None = e.none(c.f, j.to)
			}
		}
		return []verdict.ProposedColumn{p}
	}
	var all []verdict.ProposedColumn
	for _, found := range j.cases {
		one := p
		one.To, one.When = found.to.String(), found.when
		if j.class == verdict.ClassReference {
			one.None = e.none(c.f, found.to)
		}
		seems := "avoids the gaps in the keys"
		if j.weak {
			seems = "has the range of the keys"
		}
		one.Reason = fmt.Sprintf("found by value: when %s, it %s", found.when, seems)
		one.Evidence = one.Reason + "; " + leadsNowhere(found.fit)
		all = append(all, one)
	}
	return all
}

// leadsNowhere counts the rows that lead nowhere.
func leadsNowhere(f fit) string {
	about := ""
	if !f.exact {
		about = "about "
	}
	return about + check.Nowhere(f.rows, f.own, f.elsewhere)
}

// evidence says what speaks for a class.
func (c *classifier) evidence(e *examined, j *judgement) string {
	if j.to == nil || j.declared || len(e.parts) == 0 {
		return j.reason
	}
	text := j.reason + "; " + leadsNowhere(e.pooled(j.to))
	for _, p := range e.parts {
		if f := p.fits[j.to]; f.rows > 0 && f.share() < 0.5 && e.whole(j.to) {
			text += "; in " + p.db.Name + " most match no row: was the column left out when its keys were shifted?"
		}
	}
	return text
}

// noGaps says that every number between the ends is a key.
const noGaps = "no gaps: only the names tell"

// gapsText says how many numbers between the keys of a space are none.
func (s *space) gapsText() string {
	var gaps, all uint64
	for _, set := range s.sets {
		if set.Gap == "" && !set.Integers.Sparse {
			gaps += set.Integers.Gaps()
			all += set.Integers.Gaps() + uint64(set.Integers.Len())
		}
	}
	if gaps == 0 {
		return noGaps
	}
	return fmt.Sprintf("%.1f %% of the numbers between its ends are not keys", 100*float64(gaps)/float64(all))
}

// gapsOf says how much the gaps in the keys could prove.
func gapsOf(roots []*space) string {
	some, none := 0, 0
	for _, s := range roots {
		switch {
		case s.same:
		case s.gapsText() == noGaps:
			none++
		default:
			some++
		}
	}
	switch {
	case some == 0:
		return noGaps
	case none == 0:
		return fmt.Sprintf("all %d kinds of keys have gaps: references avoid them, other numbers do not", some)
	default:
		return fmt.Sprintf("%d of %d kinds of keys have gaps: references avoid them, other numbers do not; for the other kinds only names tell", some, some+none)
	}
}

// countedBy returns the keys that a column seems to count, as the check judges it too.
func countedBy(c *classifier, e *examined) (all []string) {
	named := check.NamedCounter(e.table, e.column.Name)
	if bitsOf(e.column) <= 8 && !named {
		return nil
	}
	for _, s := range c.roots {
		if s.same || s.Class != check.IntegerClass || s.Table == e.table {
			continue
		}
		next, like := nextOf(c.f, s), check.CounterLike{Named: named}
		for _, p := range e.parts {
			set := s.sets[p.db]
			if p.values.rows+p.values.others > check.MaxCounterRows {
				return nil
			}
			if set != nil && set.Gap == "" {
				like.Add(p.all, set.Integers.Range(), set.Integers.Len(), next)
			}
		}
		if like.Looks() {
			all = append(all, s.String())
		}
	}
	return all
}

// nextOf is where the keys of a space end after a merge: with the new keys that were chosen or,
// if none were, with those that would be usual, a step for each world.
func nextOf(f *check.Facts, s *space) uint64 {
	if k := f.Rekeyed; k != nil {
		if m := k.Moving.Columns[rules.ColumnName{Table: s.Table, Column: s.Column}]; m != nil {
			return k.Report.Next(k.Report.Space(m.Cases[0].Space.Name), 0)
		}
	}
	var ranges []keys.Range
	for _, set := range s.sets {
		ranges = append(ranges, set.Integers.Range())
	}
	step, worlds := keys.DefaultStep(ranges...), uint64(len(ranges))
	if step > math.MaxUint64/worlds {
		return math.MaxUint64
	}
	return step * worlds
}

// references groups the columns that seem to be references as they are declared.
func references(p *verdict.Proposed) (all []rules.DeclaredReference) {
	for _, c := range p.Columns {
		if c.Class != verdict.ClassReference || c.Declared {
			continue
		}
		same := func(r rules.DeclaredReference) bool {
			return r.To[0] == c.To && slices.Equal(r.None, c.None) && c.When == nil && r.When == nil ||
				r.To[0] == c.To && slices.Equal(r.None, c.None) && c.When != nil && r.When != nil && c.When.String() == r.When.String()
		}
		i := slices.IndexFunc(all, same)
		if i < 0 {
			i = len(all)
			all = append(all, rules.DeclaredReference{To: []string{c.To}, None: c.None, When: c.When})
		}
		all[i].At = append(all[i].At, rules.Place(c.Table, c.Column))
	}
	for i := range all {
		slices.Sort(all[i].At)
	}
	slices.SortStableFunc(all, func(a, b rules.DeclaredReference) int {
		return cmp.Or(strings.Compare(a.To[0], b.To[0]), slices.Compare(a.None, b.None))
	})
	return all
}
