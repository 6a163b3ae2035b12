package check

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// kindRows are the rows of a reference, by the values of each other column that may tell kinds apart.
type kindRows struct {
	Keys    Keys
	Highest uint64                       // of the keys
	Others  []Keys                       // of other tables, by which misses are known as something else
	most    int                          // values of a group that are looked at
	by      map[string]map[string]*group // by column and value; nil: a column of too many

	// Of the row that was noted last.
	db             *rules.Database
	numbers        []keys.Integer
	own, elsewhere bool
}

// Keys are the keys that a number may be, by database.
type Keys struct {
	Name string
	Sets map[*rules.Database][]*KeySet
}

func (k Keys) has(db *rules.Database, n keys.Integer) bool {
	return slices.ContainsFunc(k.Sets[db], func(s *KeySet) bool { return s.Has(n) })
}

// Begin begins a table. Columns is how many may tell kinds apart in all readings of it at once: the more, the fewer values
// are looked at.
func (w *kindRows) Begin(columns int) { w.most = max(32, min(mostLooked, allLooked/(4*columns))) }

// Open reports whether a column had no more values than one that tells kinds apart.
func (w *kindRows) Open(by string) bool {
	groups, seen := w.by[by]
	return !seen || groups != nil
}

// Note notes the numbers of a row; all are the databases.
func (w *kindRows) Note(db *rules.Database, all []*rules.Database, numbers []keys.Integer) {
	w.db, w.numbers, w.own, w.elsewhere = db, numbers, true, false
	for _, n := range numbers {
		own := w.Keys.has(db, n)
		w.own = w.own && own
		w.elsewhere = w.elsewhere || !own && slices.ContainsFunc(all, func(o *rules.Database) bool { return o != db && w.Keys.has(o, n) })
	}
}

// Group returns what adds the row that was noted last to those with a value of a column. It returns nil if the column has
// too many.
func (w *kindRows) Group(by string, v []byte) func() {
	value := string(v)
	if v == nil {
		value = "NULL"
	}
	groups, known := w.by[by]
	if !known {
		groups = make(map[string]*group)
		if w.by == nil {
			w.by = make(map[string]map[string]*group)
		}
		w.by[by] = groups
	}
	g := groups[value]
	if groups == nil || g == nil && len(groups) == mostValues || g != nil && g.Null != (v == nil) || len(value) > mostBytes {
		w.by[by] = nil
		return nil
	}
	if g == nil {
		g = &group{Kind: verdict.Kind{Value: value, Null: v == nil}, values: make(map[looked]*seen)}
		groups[value] = g
	}
	return func() { g.add(w) }
}

// Forget forgets all rows.
func (w *kindRows) Forget() {
	maps.DeleteFunc(w.by, func(_ string, groups map[string]*group) bool { return groups != nil })
}

// Split returns the column that tells kinds apart best; nil if none does.
func (w *kindRows) Split() (best *Split) {
	for by, groups := range w.by {
		if s := w.judge(by, groups); s != nil && (best == nil || s.compare(best) < 0) {
			best = s
		}
	}
	return best
}

// mostValues is how many values a column may have that tells kinds apart.
const mostValues = 32

// mostBytes is how long such a value may be.
const mostBytes = 64

// group is the rows of a reference that have one value in the column that may tell kinds apart.
type group struct {
	verdict.Kind
	values  map[looked]*seen // those that were looked at
	tested  int64            // rows of which all values were
	highest uint64
}

// looked is a value of one database that was looked at.
type looked struct {
	db *rules.Database
	n  keys.Integer
}

// seen is what is known of such a value.
type seen struct {
	own   bool  // it is a key of its own database
	first int64 // row of the group that has it
	rows  int64
}

// How much of a group is looked at.
const (
	mostLooked = 1024    // distinct values; fewer in a reading of many columns
	mostRows   = 1 << 16 // rows in which they are counted
	allLooked  = 1 << 20 // of all groups of a reading
)

// add adds the row that was noted last.
func (g *group) add(w *kindRows) {
	g.Rows++
	switch {
	case w.own:
		g.Own++
	case w.elsewhere:
		g.Elsewhere++
	}
	if g.Rows <= mostRows && len(g.values) < w.most {
		g.tested = g.Rows
	}
	for _, n := range w.numbers {
		v := looked{w.db, n}
		if g.Rows > mostRows {
		} else if known := g.values[v]; known != nil {
			known.rows++
		} else if len(g.values) < w.most {
			g.values[v] = &seen{w.own || len(w.numbers) > 1 && w.Keys.has(w.db, n), g.Rows, 1}
		}
		if !n.Negative {
			g.highest = max(g.highest, n.Bits)
		}
	}
}

func (g *group) misses() int64 { return g.Rows - g.Own }

// sample is the distinct values of the first rows of groups.
type sample struct{ rows, values, missing float64 }

// first takes the same share of the rows of each group, so many that all of their values were looked at.
func first(groups []*group) (s sample) {
	share, own := 1.0, make(map[looked]bool)
	for _, g := range groups {
		share = min(share, float64(g.tested)/float64(g.Rows))
	}
	for _, g := range groups {
		s.rows += share * float64(g.Rows)
		for v, of := range g.values {
			if float64(of.first) <= share*float64(g.Rows) {
				own[v] = of.own
			}
		}
	}
	for _, own := range own {
		if s.values++; !own {
			s.missing++
		}
	}
	return s
}

// join adds the rows of another group.
func (g *group) join(other *group) {
	g.Rows += other.Rows
	g.Own += other.Own
	g.Elsewhere += other.Elsewhere
	g.highest = max(g.highest, other.highest)
}

// Split is a column that tells kinds apart.
type Split struct {
	verdict.Kinds
	Evidence string // for people
	Covered  int64  // rows without a match that Other has

	null bool // NULL is one of Is
}

// compare orders splits: those first that have most of the rows without a match in fewest groups.
func (s *Split) compare(than *Split) int {
	return cmp.Or(cmp.Compare(than.Covered, s.Covered), cmp.Compare(len(s.Other), len(than.Other)), strings.Compare(s.By, than.By))
}

// When is the words of a rule that is about the rows which name the key.
func (s *Split) When() *keys.When {
	if s.null {
		return &keys.When{Column: s.By, Not: s.Other}
	}
	return &keys.When{Column: s.By, Is: s.Is}
}

// Of these a group must differ from the others so clearly that of a thousand references of one kind none does by chance.
const (
	LeastMissing = 5  // distinct values that match nothing
	leastRows    = 50 // of a group whose values are all low
	mostLow      = 0.05
	leastNats    = 18.0 // natural logarithm of how unlikely it is that so many match nothing, or that all are so low
)

// judge decides whether a column tells kinds apart: most groups of its values name keys, up to the largest one, and some differ.
// It returns nil if it does not.
func (w *kindRows) judge(by string, groups map[string]*group) *Split {
	all := make([]*group, 0, len(groups))
	for _, g := range groups {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *group) int { return cmp.Or(-cmp.Compare(a.Rows, b.Rows), strings.Compare(a.Value, b.Value)) })
	rest := new(group) // those that name keys, as far as they tell
	rate := func(g *group) float64 { return float64(g.misses()) / float64(g.Rows) }
	whole := new(group)
	for _, g := range all {
		whole.join(g)
	}
	var naming []*group
	for _, g := range all {
		if rate(g) <= rate(whole) && !w.low(g, whole) {
			naming = append(naming, g)
			rest.join(g)
		}
	}
	if rest.Rows == 0 || float64(rest.Own) < 0.9*float64(rest.Rows) {
		return nil
	}
	s, usual := &Split{Kinds: verdict.Kinds{By: by}}, first(naming)
	named, others, names := new(group), new(group), ""
	for _, g := range all {
		other := w.names(g)
		g.Kind.Keys = w.hits(g)
		s.Groups = append(s.Groups, g.Kind)
		if other != "" || 20*g.Elsewhere >= g.misses() && g.misses() > 0 && (missesMore(g, usual) && !w.gone(g) || w.low(g, rest)) {
			s.Other = append(s.Other, g.Value)
			s.Groups[len(s.Groups)-1].Names = other
			names = cmp.Or(names, other)
			others.join(g)
		} else {
			s.Is = append(s.Is, g.Value)
			named.join(g)
			s.null = s.null || g.Null
		}
	}
	if len(s.Other) == 0 || len(s.Is) == 0 {
		return nil
	}
	slices.Sort(s.Is)
	slices.Sort(s.Other)
	s.Covered = others.misses()
	if names != "" {
		names = " (perhaps " + names + ")"
	}
	s.Evidence = fmt.Sprintf("if %s is %s, it seems to name something else%s: %s; otherwise %s", by, catalog.Enumerated(slice.Map(s.Other, printable.Text)), names, others, named)
	return s
}

// names returns the keys of another table that the values of a group are, and more of them than are keys of the right one; "" if there
// are none. Numbers that know nothing of these keys would hit the gaps between them. Values with few rows do not count: they are
// those whose row is gone.
func (w *kindRows) names(g *group) (best string) {
	most, rare := 0.0, g.rare()
	for _, other := range w.Others {
		n, own, hits, expected, variance := 0.0, 0.0, 0.0, 0.0, 0.0
		for v, of := range g.values {
			if of.rows < rare || len(other.Sets[v.db]) == 0 {
				continue
			}
			set := other.Sets[v.db][0].Integers
			p := set.Density(v.n)
			n, expected, variance = n+1, expected+p, variance+p*(1-p)
			if of.own {
				own++
			}
			if set.Has(v.n) {
				hits++
			}
		}
		if hits > most && n-own >= LeastMissing && hits >= 0.97*n && own <= hits-0.03*n && hits-expected >= leastSigmas*math.Sqrt(variance+0.25) {
			most, best = hits, other.Name
		}
	}
	return best
}

// mostHits is how many keys are shown that the values of a group are.
const mostHits = 3

// hits counts the values of a group that are keys of other tables.
func (w *kindRows) hits(g *group) (all []verdict.KeyHits) {
	for _, other := range w.Others {
		found := verdict.KeyHits{Key: other.Name, Values: int64(len(g.values))}
		for v := range g.values {
			if other.has(v.db, v.n) {
				found.Hits++
			}
		}
		if found.Hits > 0 {
			all = append(all, found)
		}
	}
	slices.SortFunc(all, func(a, b verdict.KeyHits) int {
		return cmp.Or(cmp.Compare(b.Hits, a.Hits), strings.Compare(a.Key, b.Key))
	})
	return all[:min(mostHits, len(all))]
}

// rare is how many rows a value must have to count: a quarter of what is usual.
func (g *group) rare() int64 {
	var rows []int64
	for _, v := range g.values {
		rows = append(rows, v.rows)
	}
	slices.Sort(rows)
	return (rows[len(rows)/2] + 3) / 4
}

// leastSigmas is by how many standard deviations more values are keys of another table than by chance.
const leastSigmas = 4.5

func (g *group) String() string { return Nowhere(g.Rows, g.Own, g.Elsewhere) }

// Nowhere says how many of some rows lead nowhere.
func Nowhere(rows, own, elsewhere int64) string {
	return fmt.Sprintf("%s of %s without a match, %s of them with a match in another world",
		printable.Number(rows-own), printable.Count(rows, "row", "rows"), printable.Number(elsewhere))
}

// missesMore reports whether clearly more of the values of a group match no key than of usual ones. It counts values, not rows: one
// deleted hero may have many. The more rows, the more of the values are those of the few rows that lead nowhere, since most rows
// have the same values: so of a group no more rows count than of the usual ones.
func missesMore(g *group, usual sample) bool {
	n, missing := 0.0, 0.0
	for _, v := range g.values {
		if float64(v.first) <= min(usual.rows, float64(g.tested)) {
			if n++; !v.own {
				missing++
			}
		}
	}
	if missing < LeastMissing || missing/n < 3*usual.missing/usual.values {
		return false
	}
	both := (missing + usual.missing) / (n + usual.values)
	return n*nats(missing/n, both)+usual.values*nats(usual.missing/usual.values, both) >= leastNats
}

// nats is how unlikely a share p is, for each value, where q is usual.
func nats(p, q float64) (n float64) {
	if p > 0 {
		n += p * math.Log(p/q)
	}
	if p < 1 && q < 1 {
		n += (1 - p) * math.Log((1-p)/(1-q))
	}
	return n
}

// gone reports whether the values of a group avoid keys: more of them match nothing than of numbers that know nothing of the keys.
// Then they are keys of rows that are gone, such as in old events.
func (w *kindRows) gone(g *group) bool {
	hits, expected, variance := 0.0, 0.0, 0.0
	for v, of := range g.values {
		if of.own {
			hits++
		}
		none := 1.0
		for _, set := range w.Keys.Sets[v.db] {
			if set.Gap == "" && !set.Integers.Sparse {
				none *= 1 - set.Integers.Density(v.n)
			}
		}
		expected, variance = expected+1-none, variance+none*(1-none)
	}
	return expected-hits >= leastSigmas*math.Sqrt(variance+0.25)
}

// low reports whether a group has only low numbers, such as a rank, though the keys go far beyond them.
func (w *kindRows) low(g, rest *group) bool {
	part := float64(g.highest) / float64(max(1, w.Highest))
	return g.Rows >= leastRows && g.highest > 0 && part <= mostLow && 2*rest.highest >= w.Highest && g.Rows >= 4*int64(len(g.values)) &&
		float64(len(g.values))*-math.Log(part) >= leastNats
}
