package check_test

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/gameworlds"
	"mergesafe/merge/propose"
	"mergesafe/merge/verdict"
)

// measured is how good the classes of columns are, held against a list of what is true.
type measured struct {
	columns    int
	references int // true ones that no foreign key declares
	outside    []string
	undecided  int
	lines      int // to read: pairs of column name and target, of what is proposed and what is undecided; one for all accounts
	proposed   int // references
	right      int
	found      int // of these, the ones to what a world counts
	wrong      []string
	missed     []string // true references that are left undecided
	kinds      int      // references of some rows of a column, by their conditions
	parted     []string // of these, the ones of which the column that says so was found
	unparted   []string
}

func (m measured) precision() float64 { return share(m.right, m.proposed) }
func (m measured) recall() float64    { return share(m.found, m.references) }

func share(part, all int) float64 {
	if all == 0 {
		return 1
	}
	return float64(part) / float64(all)
}

func (m measured) String() string {
	return fmt.Sprintf("%5d %5d %5d %8d  %5.1f %%  %5.1f %%  %.3f  %.3f  %d of %d", m.columns, m.references, m.proposed, len(m.outside),
		100*share(m.undecided, m.columns), 100*share(m.lines, m.columns), m.precision(), m.recall(), len(m.parted), m.kinds)
}

const measuredHead = "columns refs found  outside  undecided  lines   precision recall when"

// measure holds a report against a list.
func measure(refs *gameworlds.Refs, r *verdict.Report) (m measured) {
	is := func(c gameworlds.Column, kind gameworlds.Kind) bool {
		return slices.ContainsFunc(refs.Columns[c], func(m gameworlds.Meaning) bool { return m.Kind == kind })
	}
	for c, meanings := range refs.Columns {
		for _, meaning := range meanings {
			if meaning.When == nil || meaning.Kind != gameworlds.Reference {
				continue
			}
			found := func(p verdict.ProposedColumn) bool {
				return p.Table == c.Table && p.Column == c.Name && p.When != nil && p.When.Column == meaning.When.Column
			}
			m.kinds++
			if slices.ContainsFunc(r.Proposed.Columns, found) {
				m.parted = append(m.parted, c.String())
			} else {
				m.unparted = append(m.unparted, fmt.Sprintf("%s when %s is %v", c, meaning.When.Column, meaning.When.Is))
			}
		}
	}
	lines := make(map[string]bool)
	seen := make(map[gameworlds.Column]bool)
	for _, p := range r.Proposed.Columns {
		at := gameworlds.Column{Table: p.Table, Name: p.Column}
		again := seen[at]
		if seen[at] = true; !again {
			m.columns++
		}
		var to []string // what it truly names
		isReference := false
		var name func(c gameworlds.Column, deep int)
		name = func(c gameworlds.Column, deep int) {
			for _, meaning := range refs.Columns[c] {
				if meaning.Kind != gameworlds.Reference {
					continue
				}
				for _, t := range meaning.To {
					to = append(to, t.String())
					if deep == 0 && !is(t, gameworlds.Natural) {
						isReference = true
					}
					if deep < 3 {
						name(t, deep+1)
					}
				}
			}
		}
		name(at, 0)
		if p.Declared {
			continue
		}
		if isReference && !again {
			m.references++
		}
		right := slices.Contains(to, strings.ReplaceAll(p.To, "`", ""))
		where := fmt.Sprintf("%s: %s %s %v (%s), truly %v", at, p.Class, p.To, p.When, p.Evidence, to)
		if len(to) == 0 {
			where += fmt.Sprint(refs.Columns[at])
		}
		switch p.Class {
		case verdict.ClassReference:
			m.proposed++
			lines[propose.Asked(p)+" "+p.To] = true
			switch {
			case right:
				m.right++
				if isReference && !again {
					m.found++
				}
			default:
				m.wrong = append(m.wrong, where)
			}
		case verdict.ClassUndecided:
			if !again {
				m.undecided++
			}
			lines[propose.Asked(p)+" "+p.To] = true
			if isReference {
				m.missed = append(m.missed, where)
			}
		default:
			// Keys that are in some bits of as many values as are keys are for a person to see:
			// casterGuid of AzerothCore, a character or a pet.
			inBits := func(m gameworlds.Meaning) bool { return m.Kind == gameworlds.Cell && m.When == nil }
			if isReference && !slices.ContainsFunc(refs.Columns[at], inBits) {
				m.outside = append(m.outside, where)
			}
		}
	}
	m.lines = len(lines)
	return m
}
