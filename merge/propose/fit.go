package propose

import (
	"cmp"
	"math"
	"slices"

	"mergesafe/internal/slice"
	"mergesafe/merge/check"
	"mergesafe/merge/keys"
)

// fit is how well the values of a column of one database lead to its own keys. What
// tells a reference from other numbers are the gaps: references avoid keys that were
// deleted, and other numbers hit them by chance.
type fit struct {
	values   float64 // distinct, without those that are rare
	hits     float64 // of these, the ones that are keys
	expected float64 // hits of numbers that know nothing of keys, in the same places
	variance float64 // of expected

	rows      int64 // with a value other than 0 and -1
	own       int64 // of these, with a key of their own database
	within    int64 // with a value that is not far above the largest key of their own database
	elsewhere int64 // with a key of another one only
	exact     bool  // rows, own and elsewhere are all rows, and no sample
	inside    bool  // rows are numbers within texts, beside which there may be others in each
	distinct  int64 // values, all
	highest   uint64

	// apart is by how many standard deviations keys have more or fewer rows than the
	// numbers between them. Rows whose key was deleted fill the gaps, and tell
	// themselves by this.
	apart float64
}

// maxTested is how many distinct values are compared with the gaps.
const maxTested = 1 << 12

// nobody reports whether a value is one of those by which games name nobody.
func nobody(n keys.Integer) bool { return n.Bits == 0 || n.Negative && n.Bits == math.MaxUint64 }

// testable are the values of a column of one database, made ready to be compared with
// keys.
type testable struct {
	inside bool        // they are numbers within texts
	values []valueRows // without those that name nobody
	tested []valueRows // of these, the ones that are compared with the gaps
	exact  bool
}

func newTestable(counts *valueCounts, nobody func(keys.Integer) bool) testable {
	t := testable{values: counts.values(), exact: counts.exact()}
	t.values = slices.DeleteFunc(t.values, func(v valueRows) bool { return nobody(v.value) })
	if len(t.values) == 0 {
		return t
	}
	rare, limit := rareRows(t.values), uint64(math.MaxUint64)
	if len(t.values) > maxTested {
		limit = math.MaxUint64 / uint64(len(t.values)) * maxTested
	}
	for _, v := range t.values {
		if v.rows >= rare && hashOfInteger(v.value) <= limit {
			t.tested = append(t.tested, v)
		}
	}
	return t
}

// fit compares the values with the keys of their own database and with those of the
// others.
func (t testable) fit(own *check.KeySet, others []*check.KeySet) (f fit) {
	f.exact, f.inside = t.exact, t.inside
	f.distinct = int64(len(t.values))
	known := own != nil && own.Gap == "" && !own.Integers.Sparse
	values := t.values
	if len(values) > maxTested && known && !t.likely(own) {
		values, f.exact = t.tested, false
	}
	for _, v := range values {
		f.rows += v.rows
		if known && !v.value.Negative && v.value.Bits/100 <= own.Integers.Highest() {
			f.within += v.rows
		}
		switch {
		case known && own.Integers.Has(v.value):
			f.own += v.rows
			if !v.value.Negative {
				f.highest = max(f.highest, v.value.Bits)
			}
		case slices.ContainsFunc(others, func(s *check.KeySet) bool { return s.Has(v.value) }):
			f.elsewhere += v.rows
		}
	}
	f.values = float64(len(t.tested))
	if f.others() {
		return f // they are no references, or not to these
	}
	for _, v := range t.tested {
		if t.inside && !own.Integers.Within(v.value) {
			f.values-- // something else that the text says
			continue
		}
		if own.Integers.Has(v.value) {
			f.hits++
		}
		p := own.Integers.Density(v.value)
		f.expected += p
		f.variance += p * (1 - p)
	}
	if f.share() < 0.9 {
		f.apart = t.apart(own)
	}
	return f
}

// likely reports whether enough of the tested values are keys that all are worth looking
// up.
func (t testable) likely(own *check.KeySet) bool {
	hits := 0
	for _, v := range t.tested {
		if own.Integers.Has(v.value) {
			hits++
		}
	}
	return 3*hits >= len(t.tested)
}

// apart compares the numbers of rows of the values that are keys with those of the values
// that lie between keys, by their ranks (Mann and Whitney's test).
func (t testable) apart(own *check.KeySet) float64 {
	type ranked struct {
		rows int64
		hit  bool
	}
	var all []ranked
	hits := 0.
	for _, v := range t.values[:min(len(t.values), 4*maxTested)] {
		if !v.value.Negative && own.Integers.Within(v.value) {
			hit := own.Integers.Has(v.value)
			all = append(all, ranked{v.rows, hit})
			if hit {
				hits++
			}
		}
	}
	misses := float64(len(all)) - hits
	if hits < 10 || misses < 10 {
		return 0
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Compare(a.rows, b.rows) })
	sum, ties, n := 0., 0., float64(len(all))
	for i := 0; i < len(all); {
		j := i
		inTie := 0.
		for ; j < len(all) && all[j].rows == all[i].rows; j++ {
			if all[j].hit {
				inTie++
			}
		}
		k := float64(j - i)
		sum += inTie * (float64(i+j+1) / 2)
		ties += k*k*k - k
		i = j
	}
	deviation := math.Sqrt(hits * misses / 12 * ((n + 1) - ties/(n*(n-1))))
	if deviation == 0 {
		return 0
	}
	return math.Abs(sum-hits*(n+1)/2) / deviation
}

// rareRows is how many rows a value must have to count: a quarter of what is usual.
// Otherwise the few values that lead nowhere would fill the gaps of a small set of keys.
func rareRows(values []valueRows) int64 {
	rows := slice.Map(values, func(v valueRows) int64 { return v.rows })
	slices.Sort(rows)
	return (rows[len(rows)/2] + 3) / 4
}

// add pools the fits of several databases.
func (f fit) add(other fit) fit {
	f.exact = other.exact && (f.exact || f.rows+f.distinct == 0)
	f.inside = f.inside || other.inside
	f.values += other.values
	f.hits += other.hits
	f.expected += other.expected
	f.variance += other.variance
	f.rows += other.rows
	f.own += other.own
	f.within += other.within
	f.elsewhere += other.elsewhere
	f.distinct += other.distinct
	f.highest = max(f.highest, other.highest)
	f.apart = math.Hypot(f.apart, other.apart)
	return f
}

// sigmas is by how many standard deviations the values hit more keys than by chance.
func (f fit) sigmas() float64 { return (f.hits - f.expected) / math.Sqrt(f.variance+0.25) }

// share is the share of rows that lead to an own key.
func (f fit) share() float64 {
	if f.rows == 0 {
		return 0
	}
	return float64(f.own) / float64(f.rows)
}

// others reports whether too few rows lead to an own key for a reference.
func (f fit) others() bool { return f.own == 0 || !f.inside && f.share() < 0.5 }

// answer is what the gaps say.
type answer int

const (
	silent answer = iota // nothing
	fits                 // the values name keys
	denied               // they do not
)

func (a answer) String() string { return [...]string{"silent", "avoided", "hit"}[a] }

func (f fit) answer() answer {
	if f.rows == 0 {
		return silent
	}
	if f.others() {
		return denied
	}
	if f.sigmas() >= 4.5 {
		return fits
	}
	excess, deviation := f.excess()
	if f.apart < 4.5 && f.share() < 0.9 && f.values > 0 && f.share() < f.expected/f.values+0.3 && excess+3*deviation < 0.2 {
		return denied
	}
	return silent
}

// excess is the share of the values that avoid the gaps, of those that could hit one,
// and its standard deviation: 1 is a reference, and 0 a number that knows no keys.
func (f fit) excess() (share, deviation float64) {
	if f.values <= f.expected {
		return 0, math.Inf(1)
	}
	return (f.hits - f.expected) / (f.values - f.expected), math.Sqrt(f.variance+0.25) / (f.values - f.expected)
}

// unlikely reports whether the gaps nearly say that the values name no keys.
func (f fit) unlikely() bool {
	excess, deviation := f.excess()
	return f.apart < 4.5 && f.share() < 0.9 && excess+2*deviation < 0.5
}
