package propose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mergesafe/internal/slice"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// rankedTarget is a space that a column may name, and what speaks for it.
type rankedTarget struct {
	to     *space
	score  float64 // of the names
	answer answer  // of the gaps, in all databases
	pooled fit
	split  bool
}

// clearName is the score from which on a name says by itself what a column names.
const clearName = 2

func (t rankedTarget) named() bool { return t.score >= clearName }

// whole reports whether every row has a match.
func (t rankedTarget) whole() bool { return t.pooled.rows > 0 && t.pooled.own == t.pooled.rows }

// near is how close the largest value comes to the largest key: a reference reaches the newest keys.
func (t rankedTarget) near() float64 {
	return float64(t.pooled.highest) / float64(max(1, t.to.highest()))
}

// spans reports whether nearly all values are keys, or some of the numbers within texts, up to the largest ones, of at
// least so many keys and values.
func (t rankedTarget) spans(keys, values int64) bool {
	return !t.split && (t.pooled.inside || t.pooled.share() >= 0.97) && t.near() >= 0.9 && t.to.size >= keys && t.pooled.distinct >= values
}

// compare orders the keys that a column may name, the likeliest first. One with rows that have no match never comes before
// one without.
func (t rankedTarget) compare(than rankedTarget) int {
	first := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return -1
		default:
			return 1
		}
	}
	order := cmp.Or(
		first(t.whole(), than.whole()),
		first(t.answer == fits, than.answer == fits),
		first(t.named(), than.named()),
	)
	if order == 0 && t.answer != fits {
		order = cmp.Compare(than.score, t.score)
	}
	return cmp.Or(order,
		cmp.Compare(math.Round(than.pooled.share()*25), math.Round(t.pooled.share()*25)),
		cmp.Compare(math.Round(10*than.near()), math.Round(10*t.near())),
		cmp.Compare(than.score, t.score),
		cmp.Compare(than.to.size, t.to.size),
	)
}

// beats reports whether a column names this space rather than another one that it may name. If it does not, a person decides.
//
// A space with rows that have no match never beats one without, unless the gaps show it and neither they nor the names speak for
// the other one, whose keys then are so many that any number is one. If every row has a match in both, the names decide where
// they are clear.
func (t rankedTarget) beats(other rankedTarget) bool {
	switch {
	case (other.to.same || other.to.alike) && other.score == 0: // the game's own data, which has nearly every number
		return true
	case t.whole() && !other.whole():
		return t.answer == fits && other.answer != fits || !other.named() || t.score >= other.score
	case !t.whole() && other.whole():
		return t.answer == fits && other.answer != fits && t.score >= other.score
	case t.whole() && t.answer == other.answer:
		return t.named() && t.score > other.score
	default:
		return t.compare(other) <= 0
	}
}

// candidates returns what a column may name, the likeliest first.
func (l *look) candidates() []rankedTarget {
	all := slices.Concat(l.targets(fits), l.targets(silent), l.targets(denied))
	slices.SortStableFunc(all, rankedTarget.compare)
	return all
}

// contest puts a judgement in doubt if its space does not beat all others that the column may name, and names the likeliest first.
func (l *look) contest(j *judgement) {
	if j.declared || j.class != verdict.ClassReference && j.class != verdict.ClassUndecided {
		return
	}
	all := l.candidates()
	j.ranked = all
	at := slices.IndexFunc(all, func(t rankedTarget) bool { return t.to == j.to })
	if at < 0 || j.own || j.inTexts {
		return
	}
	chosen := all[at]
	rival := slices.IndexFunc(all, func(t rankedTarget) bool { return t.to != j.to && !chosen.beats(t) })
	if rival < 0 {
		return
	}
	if j.class == verdict.ClassReference {
		j.class, j.doubt, j.named = verdict.ClassUndecided, 0.6, true
	}
	switch other := all[rival]; {
	case !chosen.whole() && other.whole():
		j.reason = fmt.Sprintf("%s may be meant, but only %s matches every row", chosen.to, other.to)
		if rival+1 < len(all) && all[rival+1].whole() {
			j.reason = fmt.Sprintf("%s may be meant, but %s and others match every row", chosen.to, other.to)
		}
		j.to, j.score = other.to, other.score
	case chosen.whole() && !other.whole():
		j.reason = fmt.Sprintf("its name suggests %s, but only %s matches every row", other.to, chosen.to)
	default:
		j.reason += ", as well as " + other.to.String()
	}
}

// mostCandidates is how many keys are shown that a column may name.
const mostCandidates = 5

// shown is what a person sees of the keys that a column may name. What it is taken for comes first.
func (c *classifier) shown(e *examined, j *judgement) (shown []verdict.Candidate) {
	all := slices.Clone(j.ranked)
	slice.Foremost(all, func(t rankedTarget) bool { return t.to == j.to })
	for _, t := range all[:min(mostCandidates, len(all))] {
		_, model := rules.KeyModel(c.f.Resolved, t.to.Table)
		name := "no"
		switch {
		case t.named():
			name = "clear"
		case t.score > 0:
			name = "perhaps"
		}
		shown = append(shown, verdict.Candidate{
			Key: t.to.String(), Rows: t.pooled.rows, Matched: t.pooled.own, Elsewhere: t.pooled.elsewhere, About: !t.pooled.exact,
			Gaps: t.answer.String(), Name: name, Types: cmp.Or(e.column.Type, "?") + ", " + cmp.Or(model.Column(t.to.Column).Type, "?"),
		})
	}
	return shown
}
