package propose

import (
	"slices"
	"strings"

	"mergesafe/merge/check"

	"mergesafe/merge/verdict"
)

// classifier says of every column what it seems to be.
type classifier struct {
	f       *check.Facts
	x       *examination
	roots   []*space
	persons *space // those who play; nil if nothing names them
	judged  map[*examined]*judgement
}

// judgement is what a column seems to be.
type judgement struct {
	class  verdict.ColumnClass
	to     *space
	cases  []proposedCase // what it names in some rows; none: to, in all
	weak   bool           // these only have the range of the keys
	ranked []rankedTarget // what it may name, the likeliest first
	kinds  *check.Split   // in other rows than these it seems to name something else
	score  float64        // of the names
	doubt  float64        // from 0 to 1
	reason string
	traits
}

// traits are what the rest of the package asks of a judgement.
type traits struct {
	declared bool
	counted  bool // the database numbers it
	named    bool // the names speak for it, besides the gaps
	own      bool // undecided: it may be a key of its own
	chance   bool // only chance or a reference explains that its rows match
	inTexts  bool // the keys are inside its texts
}

// classify judges all columns.
func classify(f *check.Facts, x *examination) *classifier {
	c := &classifier{f: f, x: x, judged: make(map[*examined]*judgement)}
	c.findRoots()
	c.findPersons()
	for _, e := range x.columns {
		c.judged[e] = c.judge(e)
	}
	c.followNames()
	c.askTogether()
	doubtAlike(c)
	return c
}

// column returns what was read of the key column of a space; nil if it was not.
func (c *classifier) column(s *space) *examined {
	i := slices.IndexFunc(c.x.columns, func(e *examined) bool { return e.table == s.Table && e.column.Name == s.Column })
	if i < 0 {
		return nil
	}
	return c.x.columns[i]
}

// findRoots finds the keys that are not the keys of other rows again: a table that has
// one row for each character has their keys, and what names these names characters. Of two tables with
// as many rows it is the one whose keys the database counts up.
func (c *classifier) findRoots() {
	for _, s := range c.x.spaces {
		e := c.column(s)
		if e == nil || s.counts || s.same {
			continue
		}
		if to := c.declaredTarget(e); to != nil {
			s.root = to
			continue
		}
		for _, other := range c.x.spaces {
			if other == s || other.same || other.size < s.size || other.size == s.size && !other.counts || s.root != nil && s.root.size >= other.size {
				continue
			}
			pooled := e.pooled(other)
			a, _ := e.answer(other)
			people := aboutPeople(nouns(other.Table))
			name := nameScore(s.Column, s.Table, other.Table, other.Column)
			if nameScore(s.Column, "", s.Table, "id") >= 2.5 { // guild.guildid, crews.crew
				name = 0
			}
			if a == fits && (pooled.share() >= 0.9 || e.whole(other)) ||
				pooled.share() >= 0.6 && (name >= 3 || people && (name >= 1 || aboutPeople(nameWords(s.Column)))) && a != denied ||
				a == silent && pooled.share() >= 0.95 && sameNames(s.Column) == sameNames(other.Column) && people {
				s.root = other
			}
		}
	}
	for _, s := range c.x.spaces {
		for s.root != nil && s.root.root != nil && s.root.root != s {
			s.root = s.root.root
		}
		if s.root == nil {
			c.roots = append(c.roots, s)
		}
	}
}

// declaredTarget returns the space that a foreign key or a declaration leads to.
func (c *classifier) declaredTarget(e *examined) *space {
	for _, ref := range c.f.References(e.table) {
		if !slices.Equal(ref.Columns, []string{e.column.Name}) {
			continue
		}
		for _, s := range c.x.spaces {
			if s.Table == ref.ToTable && s.Column == ref.ToColumns[0] {
				return s
			}
		}
	}
	return nil
}

// findPersons finds the keys of those who play: most columns with words for people fit
// them, up to the newest, and no other keys match more rows, unless the table is called like one of players.
func (c *classifier) findPersons() {
	votes := make(map[*space]float64)
	for _, e := range c.x.columns {
		words := nameWords(e.column.Name)
		if aboutAccounts(words) || !aboutPeople(words) {
			continue
		}
		most := int64(0) // rows that some keys match
		for _, s := range c.roots {
			most = max(most, e.pooled(s).own)
		}
		for _, s := range c.roots {
			t := rankedTarget{to: s, pooled: e.pooled(s)}
			switch a, _ := e.answer(s); {
			case s.Table == e.table && s.Column == e.column.Name:
			case c.declaredTarget(e) == s, a == fits:
				votes[s]++
			case a == silent && (t.pooled.own == most || ofPlayers(nouns(s.Table))):
				votes[s] += 0.01 * t.near() * t.pooled.share()
			}
		}
	}
	for s := range votes {
		if ofPlayers(nouns(s.Table)) && !aboutAccounts(nouns(s.Table)) {
			votes[s] *= 1.5
		}
	}
	for _, s := range c.roots {
		if votes[s] > 0 && (c.persons == nil || votes[s] > votes[c.persons]) {
			c.persons = s
		}
	}
}

// fewPlayers is how many players a world must have. One with fewer is young: its keys have too few gaps to tell a reference from
// chance.
const fewPlayers = 250

func (c *classifier) young() bool {
	return c.persons != nil && c.persons.size < fewPlayers*int64(len(c.persons.sets))
}

// score is how much the names say that a column names rows of a space.
func (c *classifier) score(e *examined, s *space) float64 {
	best := nameScore(e.column.Name, e.table, s.Table, s.Column)
	if s == c.persons && aboutPeople(nameWords(e.column.Name)) && !aboutAccounts(nameWords(e.column.Name)) {
		best += 2.5
	}
	if s == c.persons && best == 0 && sameNames(e.column.Name) == sameNames(s.Column) && aboutPeople(nameWords(e.table)) {
		best = 1 // guild_member.guid
	}
	return best
}

// targets returns the spaces that at least half of the rows match, by what the gaps say, the likeliest first.
func (c *classifier) targets(e *examined) map[answer][]rankedTarget {
	all := make(map[answer][]rankedTarget)
	for _, s := range c.roots {
		if s.Table == e.table && s.Column == e.column.Name {
			continue
		}
		if s.same || e.place >= singleKey && s.size*100 < e.distinct()*95 {
			continue
		}
		pooled := e.pooled(s)
		if a, split := e.answer(s); pooled.rows > 0 && s.size > 0 && (a != denied || pooled.share() >= 0.5) {
			all[a] = append(all[a], rankedTarget{s, c.score(e, s), a, pooled, split})
		}
	}
	for _, of := range all {
		slices.SortStableFunc(of, rankedTarget.compare)
	}
	return all
}

func (e *examined) distinct() (n int64) {
	for _, p := range e.parts {
		n += p.values.distinct
	}
	return n
}

// whole reports whether in some database nearly all rows lead to an own key: the others
// may have been shifted without the column.
func (e *examined) whole(to *space) bool {
	return slices.ContainsFunc(e.parts, func(p examinedPart) bool {
		f := p.fits[to]
		return f.answer() == fits && f.share() >= 0.9
	})
}

// thing reports whether a column seems to hold numbers that the worlds count and that have
// no table: a party that only its members mention. Several rows have each, they begin
// low, and the worlds have them in common.
func (c *classifier) thing(e *examined, words []string) bool {
	if bitsOf(e.column) <= 8 || e.place == inKey || len(e.parts) < 2 || aboutMeasures(words) ||
		!hasIDWord(words) && !slices.ContainsFunc(words, isThing) {
		return false
	}
	var common, all int
	for i, p := range e.parts {
		v := p.values
		if v.distinct < 20 || v.highest.Negative || v.highest.Bits > 4*uint64(v.distinct) || v.rows-v.nobody < 3*v.distinct/2 {
			return false
		}
		if i > 0 {
			all += len(p.lowest)
			for _, n := range p.lowest {
				if slices.Contains(e.parts[0].lowest, n) {
					common++
				}
			}
		}
	}
	return 3*common >= all
}

// unknown returns a space among whose keys the values of a column lie, and of which only
// the ends are known; nil if there is none.
func (c *classifier) unknown(e *examined) *space {
	for _, s := range c.roots {
		for _, p := range e.parts {
			set := s.sets[p.db]
			if set != nil && set.Gap == "" && set.Integers.Sparse && (s.Table != e.table || s.Column != e.column.Name) &&
				p.values.rows > p.values.nobody && set.Integers.Within(p.values.highest) {
				return s
			}
		}
	}
	return nil
}

// ofTheGame reports whether a column names rows of the game's own data.
func (c *classifier) ofTheGame(e *examined) bool {
	for _, s := range c.x.spaces {
		if !s.same || s.Table == e.table && s.Column == e.column.Name {
			continue
		}
		pooled := e.pooled(s)
		a, _ := e.answer(s)
		if a == fits && pooled.share() >= 0.9 || a == silent && pooled.share() >= 0.97 && nameScore(e.column.Name, e.table, s.Table, s.Column) >= 2 {
			return true
		}
	}
	return false
}

// ownSpace returns the space that the column is itself; nil if it is none.
func (c *classifier) ownSpace(e *examined) *space {
	for _, s := range c.x.spaces {
		if s.Table == e.table && s.Column == e.column.Name {
			return s
		}
	}
	return nil
}

func (s *space) isSame() bool { return s != nil && s.same }

// followNames puts in doubt what is called like a reference, and takes for a key of its
// own what others name.
func (c *classifier) followNames() {
	named := make(map[*space]bool)
	for _, j := range c.judged {
		if j.class == verdict.ClassReference {
			named[j.to] = true
		}
	}
	for _, e := range c.x.columns {
		if j := c.judged[e]; j.class == verdict.ClassUndecided && e.place == singleKey && named[c.ownSpace(e)] && j.score < 2 {
			c.judged[e] = &judgement{class: verdict.ClassKey, doubt: 0.4, reason: "a key of its own, to which others refer"}
		}
	}
	like := make(map[string]*space)
	for _, e := range c.x.columns {
		j := c.judged[e]
		if j.to != nil && (j.class == verdict.ClassReference || j.class == verdict.ClassUndecided && (j.named || len(j.cases) > 0)) {
			like[sameNames(e.column.Name)] = j.to
		}
	}
	for _, e := range c.x.columns {
		j := c.judged[e]
		to := like[sameNames(e.column.Name)]
		if to == nil || j.class != verdict.ClassPlain && j.class != verdict.ClassShared || !numeric(e.column) || e.rows() == 0 {
			continue
		}
		c.judged[e] = &judgement{class: verdict.ClassUndecided, to: to, doubt: 0.4, reason: "a column with the same name is a reference"}
	}
}

// askTogether offers one key for columns of one name of which neither names nor gaps say what they refer to: the one that
// matches the most rows of all of them. So they are one question.
func (c *classifier) askTogether() {
	alike := make(map[string][]*examined)
	for _, e := range c.x.columns {
		if j := c.judged[e]; strings.HasPrefix(j.reason, nameOfKey) && j.score == 0 {
			alike[sameNames(e.column.Name)] = append(alike[sameNames(e.column.Name)], e)
		}
	}
	for _, all := range alike {
		matched := func(s *space) (rows int64) {
			for _, e := range all {
				rows += e.pooled(s).own
			}
			return rows
		}
		best := c.judged[all[0]].to
		for _, e := range all[1:] {
			if to := c.judged[e].to; matched(to) > matched(best) {
				best = to
			}
		}
		for _, e := range all {
			if j := c.judged[e]; j.to != best {
				j.to, j.reason = best, nameOfKey
			}
		}
	}
}

// doubtAlike asks a person about keys that only look the same in all databases, and about
// what names them. Worlds that have played little look so too, and then each counts these
// by itself.
func doubtAlike(c *classifier) {
	for _, e := range c.x.columns {
		j := c.judged[e]
		switch s := c.ownSpace(e); {
		case j.declared:
		case j.class == verdict.ClassKey && s != nil && s.alike:
			reason := "a key of a table that looks the same in all databases: is it the game's own data?"
			if s.differs {
				reason = "all databases have the same keys, but not the same rows: is it the game's own data, with other settings in one world?"
			}
			c.judged[e] = &judgement{class: verdict.ClassUndecided, doubt: 0.8, traits: traits{own: true}, reason: reason}
		case j.class == verdict.ClassReference && j.to.alike:
			doubted := *j
			doubted.class, doubted.doubt = verdict.ClassUndecided, 0.6
			doubted.reason = "refers to rows of a table that looks the same in all databases: is that the game's own data (shared)?"
			c.judged[e] = &doubted
		}
	}
}
