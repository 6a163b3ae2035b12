package kinds

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
	"mergesafe/merge/declare"
	"mergesafe/merge/rekey"
	"mergesafe/merge/verdict"
)

// MostValues is how many values a column may have that tells kinds apart.
const MostValues = 32

// group is the rows of a reference that have one value in the column that may tell kinds apart.
type group struct {
	verdict.Kind
	values  map[value]bool // those that were looked at, and whether they are own keys
	highest uint64
}

// value is a value of one database.
type value struct {
	db *declare.Database
	n  rekey.Integer
}

// LeastRows is how many rows of a reference must match nothing, so that it is worth looking for kinds.
const LeastRows = leastMissing

// mostLooked is how many distinct values of a group are looked at.
const mostLooked = 1024

func (g *group) add(db *declare.Database, n rekey.Integer, own, elsewhere bool) {
	g.Rows++
	switch {
	case own:
		g.Own++
	case elsewhere:
		g.Elsewhere++
	}
	if len(g.values) < mostLooked {
		if g.values == nil {
			g.values = make(map[value]bool)
		}
		g.values[value{db, n}] = own
	}
	if !n.Negative {
		g.highest = max(g.highest, n.Bits)
	}
}

func (g *group) misses() int64 { return g.Rows - g.Own }

// missing is how many of the distinct values are no own keys.
func (g *group) missing() (n float64) {
	for _, own := range g.values {
		if !own {
			n++
		}
	}
	return n
}

// join adds the rows of another group.
func (g *group) join(other *group) {
	g.Rows += other.Rows
	g.Own += other.Own
	g.Elsewhere += other.Elsewhere
	g.highest = max(g.highest, other.highest)
	if g.values == nil {
		g.values = make(map[value]bool)
	}
	maps.Copy(g.values, other.values)
}

// Split is a column that tells kinds apart.
type Split struct {
	verdict.Kinds
	Evidence string // for people

	covered int64 // rows without a match that Other has
}

// compare orders splits: those first that have most of the rows without a match in fewest groups.
func (s *Split) compare(than *Split) int {
	return cmp.Or(cmp.Compare(than.covered, s.covered), cmp.Compare(len(s.Other), len(than.Other)), strings.Compare(s.By, than.By))
}

// When is the words of a rule that is about the rows which name the key.
func (s *Split) When() *rekey.When { return &rekey.When{Column: s.By, Is: s.Is} }

// Of these a group must differ from the others so clearly that of a thousand references of one kind none does by chance.
const (
	leastMissing = 5   // distinct values that match nothing
	leastSigmas  = 4.5 // by which more of them match nothing than of the others
	leastRows    = 50  // of a group whose values are all low
	mostLow      = 0.05
	leastLow     = 12.0 // natural logarithm of how unlikely it is that all are so low
)

// judge decides whether a column tells kinds apart: most groups of its values name keys, up to the largest one, and some differ.
// highest is the largest key. It returns nil if it does not.
func judge(by string, groups map[string]*group, highest uint64) *Split {
	all := make([]*group, 0, len(groups))
	for _, g := range groups {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *group) int { return cmp.Or(-cmp.Compare(a.Rows, b.Rows), strings.Compare(a.Value, b.Value)) })
	rest := new(group) // those that name keys, as far as they tell
	rate := func(g *group) float64 { return g.missing() / max(1, float64(len(g.values))) }
	whole := new(group)
	for _, g := range all {
		whole.join(g)
	}
	for _, g := range all {
		if rate(g) <= rate(whole) && !low(g, whole, highest) {
			rest.join(g)
		}
	}
	if rest.Rows == 0 || float64(rest.Own) < 0.9*float64(rest.Rows) {
		return nil
	}
	s := &Split{Kinds: verdict.Kinds{By: by}}
	named, others := new(group), new(group)
	for _, g := range all {
		s.Groups = append(s.Groups, g.Kind)
		if 20*g.Elsewhere >= g.misses() && g.misses() > 0 && (missesMore(g, rest) || low(g, rest, highest)) {
			s.Other = append(s.Other, g.Value)
			others.join(g)
		} else {
			s.Is = append(s.Is, g.Value)
			named.join(g)
		}
	}
	if len(s.Other) == 0 || len(s.Is) == 0 {
		return nil
	}
	slices.Sort(s.Is)
	slices.Sort(s.Other)
	s.covered = others.misses()
	s.Evidence = fmt.Sprintf("where %s is %s, it seems to name something else: %s; elsewhere %s", by, catalog.Few(slice.Map(s.Other, printable.Text)), others, named)
	return s
}

func (g *group) String() string { return Nowhere(g.Rows, g.Own, g.Elsewhere) }

// Nowhere says how many of some rows lead nowhere.
func Nowhere(rows, own, elsewhere int64) string {
	return fmt.Sprintf("%s of %s without a match, %s of them with a match in another world",
		printable.Number(rows-own), printable.Count(rows, "row", "rows"), printable.Number(elsewhere))
}

// missesMore reports whether clearly more of the values of a group match no key than of the others. It counts
// values, not rows: one deleted hero may have many.
func missesMore(g, rest *group) bool {
	n, m := float64(len(g.values)), float64(len(rest.values))
	missing, among := g.missing(), rest.missing()
	if missing < leastMissing || missing/n < 3*among/m {
		return false
	}
	p := (missing + among) / (n + m)
	deviation := math.Sqrt(max(p*(1-p), 1/(n+m)) * (1/n + 1/m))
	return missing/n-among/m > leastSigmas*deviation
}

// low reports whether a group has only low numbers, such as a rank, though the keys go far beyond them.
func low(g, rest *group, highest uint64) bool {
	part := float64(g.highest) / float64(max(1, highest))
	return g.Rows >= leastRows && g.highest > 0 && part <= mostLow && 2*rest.highest >= highest && g.Rows >= 4*int64(len(g.values)) &&
		float64(len(g.values))*-math.Log(part) >= leastLow
}
