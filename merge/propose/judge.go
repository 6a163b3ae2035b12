package propose

import (
	"fmt"
	"math"
	"slices"

	"mergesafe/merge/verdict"
)

// clue is one way to tell what a column is.
type clue struct {
	why   string // with %s for what detail adds
	class verdict.ColumnClass
	doubt float64 // from 0 to 1
	traits

	// seen reports whether the column has this clue, and the space that it then names, if it names one.
	seen   func(l *look) (named rankedTarget, is bool)
	detail func(l *look, to *space) string
}

// clues are in order: the first that a column has decides. What is known comes first, then what the gaps in the keys
// show, and then what the names suggest where the gaps are silent.
var clues = []clue{
	// known without a value
	{why: "a foreign key, or declared", class: verdict.ClassReference, traits: traits{declared: true}, seen: (*look).declared},
	{why: "%s: its contents are not read", class: verdict.ClassOpaque, seen: is((*look).opaque),
		detail: func(l *look, _ *space) string { return l.column.Opaque }},
	{why: "no numbers", class: verdict.ClassPlain, seen: is((*look).notNumeric)},
	{why: "could not be read: %s", class: verdict.ClassUndecided, doubt: 1, seen: is((*look).unreadable),
		detail: func(l *look, _ *space) string { return l.unread }},
	{why: "a key of a table that is the same in all databases", class: verdict.ClassShared, seen: is((*look).sameKey)},
	{why: "the database numbers it", class: verdict.ClassKey, traits: traits{counted: true}, seen: is((*look).countedKey)},
	{why: "no numbers", class: verdict.ClassPlain, seen: is((*look).onlyOtherValues)},
	{why: "no values", class: verdict.ClassEmpty, seen: is((*look).empty)},

	// the values avoid the gaps in the keys
	{why: "numbers in its texts avoid the gaps in the keys", class: verdict.ClassUndecided, doubt: 0.9, traits: traits{inTexts: true},
		seen: (*look).fitsInTexts},
	{why: "many rows avoid the gaps in the keys, but others match no row: is it a reference only in some rows?", class: verdict.ClassUndecided, doubt: 0.8,
		seen: (*look).fitsInPart},
	{why: "it avoids the gaps in the keys, but the gaps are long runs, which chance may avoid too", class: verdict.ClassUndecided, doubt: 0.8,
		seen: (*look).fitsByChance},
	{why: "avoids the gaps in the keys", class: verdict.ClassReference, traits: traits{named: true}, seen: (*look).fitsAndNamed}, // doubt: see judge
	{why: "avoids the gaps in the keys", class: verdict.ClassReference, seen: (*look).fits},
	{why: "refers to rows of a table that is the same in all databases", class: verdict.ClassShared, seen: is((*look).namesTheGame)},

	// texts
	{why: "numbers in its texts have the range of the keys: are they lists of keys?", class: verdict.ClassUndecided, doubt: 0.6, traits: traits{inTexts: true, chance: true},
		seen: (*look).spansInTexts},
	{why: "texts", class: verdict.ClassPlain, seen: is((*look).texts)},

	// keys
	{why: namedButUnmatched, class: verdict.ClassUndecided, doubt: 0.5, traits: traits{named: true}, seen: (*look).countsAndDenied},
	{why: "the database numbers it, and a key of another table has its name", class: verdict.ClassUndecided, doubt: 0.6, traits: traits{named: true},
		seen: (*look).countsAndNamed},
	{why: "the database numbers it", class: verdict.ClassKey, traits: traits{counted: true}, seen: is((*look).counts)},
	{why: accountsAsked, class: verdict.ClassUndecided, doubt: 0.5, seen: is((*look).account)},
	{why: namedButUnmatched, class: verdict.ClassUndecided, doubt: 0.5, traits: traits{named: true}, seen: (*look).ownKeyAndDenied},
	{why: "a key of its own, or one row for each %s", class: verdict.ClassUndecided, doubt: 0.8, traits: traits{own: true}, seen: (*look).ownKeyOrOther,
		detail: func(_ *look, to *space) string { return to.String() }},
	{why: "a key of its own", class: verdict.ClassKey, doubt: 0.4, seen: is((*look).ownKey)},

	// the gaps are silent
	{why: "it may refer to too many keys, too far apart, so its values were not looked up", class: verdict.ClassUndecided, doubt: 0.9, seen: (*look).notLookedUp},
	{why: partOfKey, class: verdict.ClassShared, seen: is((*look).narrowInKey)},
	{why: byChance, class: verdict.ClassPlain, seen: is((*look).narrow)},
	{why: "the databases share many of its numbers: it may refer to things without a table", class: verdict.ClassUndecided, doubt: 0.45, seen: is((*look).thing)},
	{why: namedButUnmatched, class: verdict.ClassUndecided, doubt: 0.5, traits: traits{named: true}, seen: (*look).namedAndDenied},
	{why: "its name suggests it, and its values neither confirm nor exclude it", class: verdict.ClassUndecided, doubt: 0.6, traits: traits{named: true},
		seen: (*look).nameSuggests},
	{why: "its name may suggest it, and the gaps do not contradict that", class: verdict.ClassUndecided, doubt: 0.7, traits: traits{named: true},
		seen: (*look).nameMaySuggest},
	{why: nameOfKey, class: verdict.ClassUndecided, doubt: 0.6, seen: (*look).hasNameOfKey},
	{why: "it has the range of the keys", class: verdict.ClassUndecided, doubt: 0.5, seen: (*look).spans},
	{why: "its rows have a match, but there are too few to exclude chance", class: verdict.ClassUndecided, doubt: 0.5, traits: traits{chance: true},
		seen: (*look).tooFew},
	{why: "many rows match nothing, and yet it does not look like chance: does it name rows that were deleted?", class: verdict.ClassUndecided, doubt: 0.4,
		traits: traits{named: true}, seen: (*look).endsLikeKeys},
	{why: partOfKey, class: verdict.ClassShared, seen: is((*look).inKey)},
	{why: byChance, class: verdict.ClassPlain, seen: is(func(*look) bool { return true })},
}

// The reasons that several clues have.
const (
	namedButUnmatched = "its name suggests it, but many rows match nothing"
	partOfKey         = "part of a key, but of no other table"
	nameOfKey         = "it has the name of a key"
	accountsAsked     = "an account: is there one account database for all worlds (shared)?"
	byChance          = "its values match keys no more often than by chance"
)

// judge says what a column seems to be, by itself.
func (c *classifier) judge(e *examined) *judgement {
	l := newLook(c, e)
	for _, clue := range clues {
		t, is := clue.seen(l)
		if !is {
			continue
		}
		j := &judgement{class: clue.class, to: t.to, score: t.score, doubt: clue.doubt, reason: clue.why, traits: clue.traits}
		if clue.detail != nil {
			j.reason = fmt.Sprintf(clue.why, clue.detail(l, t.to))
		}
		if j.class == verdict.ClassReference && !j.declared {
			j.doubt = 1 / (1 + t.pooled.sigmas()) // the clearer the gaps show it, the smaller
		}
		l.contest(j)
		return j
	}
	panic("the last clue is always seen")
}

// is makes a clue of one that names no space.
func is(seen func(l *look) bool) func(*look) (rankedTarget, bool) {
	return func(l *look) (rankedTarget, bool) { return rankedTarget{}, seen(l) }
}

// look is a column, and what clues ask of it.
type look struct {
	*examined
	c      *classifier
	words  []string
	inside bool   // its numbers lie in texts
	own    *space // that it is the key of; nil if it is none

	// by what the gaps say, the likeliest first
	ranked map[answer][]rankedTarget
}

func newLook(c *classifier, e *examined) *look {
	return &look{examined: e, c: c, words: nameWords(e.column.Name), own: c.ownSpace(e),
		inside: slices.ContainsFunc(e.parts, func(p examinedPart) bool { return p.inside })}
}

func (l *look) targets(want answer) []rankedTarget {
	if l.ranked == nil {
		l.ranked = l.c.targets(l.examined)
	}
	return l.ranked[want]
}

// likeliest returns the first target of which the gaps say this.
func (l *look) likeliest(want answer) (rankedTarget, bool) {
	all := l.targets(want)
	if len(all) == 0 {
		return rankedTarget{}, false
	}
	return all[0], true
}

// bestNamed is the target that the names suggest most, of those of which the gaps say nothing.
func (l *look) bestNamed() (best rankedTarget) {
	for _, t := range l.targets(silent) {
		if best.to == nil || t.score > best.score {
			best = t
		}
	}
	return best
}

// denied returns the target that the names suggest, though the gaps deny it: half of its rows lead there nevertheless.
func (l *look) denied(atLeast float64) (rankedTarget, bool) {
	for _, t := range l.targets(denied) {
		if t.score >= atLeast {
			return t, true
		}
	}
	return rankedTarget{}, false
}

func (l *look) declared() (rankedTarget, bool) {
	to := l.c.declaredTarget(l.examined)
	return rankedTarget{to: to}, to != nil
}

func (l *look) opaque() bool     { return l.column.Opaque != "" }
func (l *look) notNumeric() bool { return !numeric(l.column) || l.column.Generated != "" }
func (l *look) unreadable() bool { return l.unread != "" }
func (l *look) sameKey() bool    { return l.own.isSame() }
func (l *look) countedKey() bool { return l.place == countedKey }
func (l *look) empty() bool      { return l.rows() == 0 }

func (l *look) onlyOtherValues() bool {
	return l.empty() && slices.ContainsFunc(l.parts, func(p examinedPart) bool { return p.values.others > 0 })
}

func (l *look) fits() (rankedTarget, bool) { return l.likeliest(fits) }

func (l *look) fitsInTexts() (rankedTarget, bool) {
	t, is := l.fits()
	return t, is && l.inside
}

func (l *look) fitsInPart() (rankedTarget, bool) {
	t, is := l.fits()
	return t, is && t.pooled.share() < 0.9 && t.score < 1 && !l.whole(t.to)
}

func (l *look) fitsByChance() (rankedTarget, bool) {
	t, is := l.fits()
	return t, is && t.to.runs && t.score < 1
}

func (l *look) fitsAndNamed() (rankedTarget, bool) {
	t, is := l.fits()
	return t, is && t.score >= 1
}

func (l *look) namesTheGame() bool {
	return (l.inside || !aboutAccounts(l.words)) && l.c.ofTheGame(l.examined)
}

func (l *look) spansInTexts() (t rankedTarget, is bool) {
	if l.inside {
		t, is = l.spanning(20, 10)
	}
	return t, is
}

func (l *look) texts() bool  { return l.inside }
func (l *look) counts() bool { return l.own != nil && l.own.counts }
func (l *look) inKey() bool  { return l.place == inKey }

func (l *look) countsAndDenied() (t rankedTarget, is bool) {
	if l.counts() && l.inKey() {
		t, is = l.denied(2)
	}
	return t, is
}

func (l *look) countsAndNamed() (t rankedTarget, is bool) {
	if l.counts() && l.inKey() {
		t = l.bestNamed()
	}
	return t, t.score >= 3 && t.pooled.share() >= 0.9
}

func (l *look) account() bool { return aboutAccounts(l.words) }
func (l *look) ownKey() bool  { return l.place == singleKey }

func (l *look) ownKeyAndDenied() (t rankedTarget, is bool) {
	if l.ownKey() && len(l.targets(silent)) == 0 {
		t, is = l.denied(1)
	}
	return t, is
}

func (l *look) ownKeyOrOther() (t rankedTarget, is bool) {
	if l.ownKey() {
		t, is = l.likeliest(silent)
	}
	return t, is
}

func (l *look) notLookedUp() (rankedTarget, bool) {
	s := l.c.unknown(l.examined)
	return rankedTarget{to: s}, s != nil && !aboutMeasures(l.words)
}

// narrow reports whether the column is too narrow for keys, and its name does not insist.
func (l *look) narrow() bool {
	return bitsOf(l.column) <= 8 && !(l.bestNamed().score >= 3 && hasIDWord(l.words))
}

func (l *look) narrowInKey() bool { return l.narrow() && l.inKey() }
func (l *look) thing() bool       { return l.bestNamed().score < 2 && l.c.thing(l.examined, l.words) }

func (l *look) namedAndDenied() (t rankedTarget, is bool) {
	if l.bestNamed().score < 2 {
		t, is = l.denied(2)
	}
	return t, is
}

func (l *look) nameSuggests() (rankedTarget, bool) {
	t := l.bestNamed()
	ofPerson := func() bool { return t.to == l.c.persons && slices.Contains(partWords, l.words[len(l.words)-1]) }
	return t, t.pooled.share() >= 0.9 && (t.score >= 3 || t.score >= 2 && (hasIDWord(l.words) || ofPerson()))
}

func (l *look) nameMaySuggest() (rankedTarget, bool) {
	t := l.bestNamed()
	measure := aboutMeasures(l.words) && !hasIDWord(l.words) && !(l.c.young() && t.named() && t.whole()) // ally_rank, beside a table of ranks
	return t, t.score >= 1 && !measure && !(t.score < 2 && t.pooled.unlikely())
}

func (l *look) hasNameOfKey() (rankedTarget, bool) {
	t, is := l.likeliest(silent)
	likely := func(t rankedTarget) bool { return !t.pooled.unlikely() }
	return t, is && slices.ContainsFunc(l.targets(silent), likely) && (hasIDWord(l.words) || aboutPeople(l.words))
}

func (l *look) spans() (rankedTarget, bool) { return l.spanning(200, 50) }

// tooFew returns the first target that nearly every row of a young world matches, where the gaps tell nothing: its persons, or one up
// to whose largest keys the values reach.
func (l *look) tooFew() (rankedTarget, bool) {
	for _, t := range l.targets(silent) {
		reaches := t.near() >= 0.9 || t.to == l.c.persons && t.near() >= 0.5 || slices.ContainsFunc(l.words, isThing)
		if t.pooled.share() >= 0.9 && l.c.young() && reaches && !aboutMeasures(l.words) {
			return t, true
		}
	}
	return rankedTarget{}, false
}

// endsLikeKeys returns the first target up to whose newest keys the values reach, if what the gaps do not show is not chance nevertheless:
// keys have other numbers of rows than what lies between them, or fewer of the values are keys than of any numbers, or in each database
// the values end with the keys. So look references of which many name rows that were deleted.
func (l *look) endsLikeKeys() (rankedTarget, bool) {
	all := slices.DeleteFunc(slices.Concat(l.targets(silent), l.targets(denied)), func(t rankedTarget) bool { return t.near() < 0.9 })
	for _, like := range []func(t rankedTarget) bool{
		func(t rankedTarget) bool { return t.pooled.apart >= 4.5 || t.pooled.sigmas() <= -4.5 },
		func(t rankedTarget) bool { return l.endsWith(t.to) }, // as keys of other tables may, too
	} {
		if i := slices.IndexFunc(all, like); i >= 0 {
			return all[i], true
		}
	}
	return rankedTarget{}, false
}

// endsWith reports whether in each database the largest of many values is about the largest key. Of a few that may be chance: counts of
// things are as low as the keys of a small table.
func (l *look) endsWith(s *space) bool {
	return !slices.ContainsFunc(l.parts, func(p examinedPart) bool {
		set, high := s.sets[p.db], p.values.highest
		return set == nil || p.values.distinct < 250 || high.Negative || math.Abs(float64(high.Bits)/float64(set.Integers.Highest())-1) > 0.02
	})
}

// spanning returns the first target of which nearly all values are keys, up to the largest ones.
func (l *look) spanning(keys, values int64) (rankedTarget, bool) {
	for _, t := range l.targets(silent) {
		if t.spans(keys, values) {
			return t, true
		}
	}
	return rankedTarget{}, false
}
