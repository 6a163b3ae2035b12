package propose

import (
	"math"
	"math/rand/v2"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// What is kept of many values is bounded, has the exact number of rows of each value,
// and is a fair sample of the distinct ones, however often each comes.
func TestValueCountsAreBounded(t *testing.T) {
	const distinct = 300_000
	c := newValueCounts()
	rows := func(v uint64) int64 { return 1 + int64(v%3) }
	for v := range uint64(distinct) {
		for range rows(v) {
			c.add(keys.Integer{Bits: check.SmallIntegers + v})
		}
	}
	c.add(keys.Integer{Bits: 7})
	kept := c.values()
	if len(kept) > maxLarge+1 || c.exact() {
		t.Fatalf("%d values are kept, want at most %d and a word that it is a sample", len(kept), maxLarge)
	}
	if kept[0] != (valueRows{keys.Integer{Bits: 7}, 1}) {
		t.Errorf("a small value is %v", kept[0])
	}
	low := 0
	for _, v := range kept[1:] {
		if want := rows(v.value.Bits - check.SmallIntegers); v.rows != want {
			t.Fatalf("%v has %d rows, want %d", v.value, v.rows, want)
		}
		if v.value.Bits-check.SmallIntegers < distinct/2 {
			low++
		}
	}
	if got := float64(low) / float64(len(kept)-1); math.Abs(got-0.5) > 0.02 {
		t.Errorf("%.3f of the sample is from the lower half", got)
	}
	if estimate := float64(len(kept)-1) * math.Pow(2, float64(c.halved)); math.Abs(estimate-distinct) > distinct/50 {
		t.Errorf("the sample says %.0f distinct values, there are %d", estimate, distinct)
	}
	if c.rows != distinct*2+1 || c.highest.Bits != check.SmallIntegers+distinct-1 || c.lowest.Bits != 7 {
		t.Errorf("%d rows from %v to %v", c.rows, c.lowest, c.highest)
	}
}

func keySetOf(of ...uint64) *check.KeySet {
	s := new(keys.Set)
	for _, v := range of {
		s.Add(keys.Integer{Bits: v})
	}
	s.Finish()
	return &check.KeySet{Integers: s}
}

// The density at a number is that of the numbers around it, without itself, within the
// ends of the set; also of keys whose low bits are all the same.
func TestDensity(t *testing.T) {
	all := keySetOf(1, 2, 3, 4, 6, 7, 9, 10)
	for v, want := range map[uint64]float64{1: 7. / 9, 5: 8. / 9, 9: 7. / 9, 0: 0, 11: 0} {
		if got := all.Integers.Density(keys.Integer{Bits: v}); math.Abs(got-want) > 1e-9 {
			t.Errorf("at %d it is %.3f, want %.3f", v, got, want)
		}
	}
	var strided []uint64
	for v := range uint64(20 << 10) {
		strided = append(strided, v<<4|5)
	}
	if got := keySetOf(strided...).Integers.Density(keys.Integer{Bits: 100<<4 | 5}); math.Abs(got-4./64) > 1e-9 {
		t.Errorf("one in 16 has the density %.4f, want %.4f", got, 4./64)
	}
}

// References avoid the gaps, and other numbers do not.
func TestGapsTellReferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var alive []uint64
	for v := range uint64(3000) {
		if rng.Float64() < 0.87 {
			alive = append(alive, v+1)
		}
	}
	set := keySetOf(alive...)
	answerOf := func(draw func() uint64) answer {
		c := newValueCounts()
		for range 4000 {
			c.add(keys.Integer{Bits: draw()})
		}
		return newTestable(c, nobody).fit(set, nil).answer()
	}
	if got := answerOf(func() uint64 { return alive[rng.IntN(len(alive))] }); got != fits {
		t.Errorf("a reference is %v", got)
	}
	if got := answerOf(func() uint64 {
		if rng.Float64() < 0.05 {
			return 1 + rng.Uint64N(3000)
		}
		return alive[rng.IntN(len(alive))]
	}); got != fits {
		t.Errorf("a reference of which some rows dangle is %v", got)
	}
	if got := answerOf(func() uint64 { return 1 + rng.Uint64N(3000) }); got != denied {
		t.Errorf("other numbers are %v", got)
	}
	if got := answerOf(func() uint64 { return 1 + rng.Uint64N(10) }); got == fits {
		t.Errorf("levels are %v", got)
	}
	if got := answerOf(func() uint64 { return 1_000_000 + rng.Uint64N(3000) }); got != denied {
		t.Errorf("numbers beyond the keys are %v", got)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		column, of, table, key string
		least, below           float64
	}{
		{"guild_id", "char", "guild", "guild_id", 3, 4},
		{"guildid", "members", "guilds", "id", 3, 4},
		{"itemGuid", "mail", "item_instance", "guid", 2, 3},
		{"item_guid", "mail", "items", "guid", 3, 4},
		{"leader_role_id", "guild", "role", "role_id", 3, 4},
		{"event", "invites", "calendar_events", "id", 2, 3},
		{"guid", "character_aura", "characters", "guid", 1, 2},
		{"skillid", "skills", "skills", "id", 0, 1},
		{"item_id", "auction", "item", "item_no", 1, 2},
		{"item_id", "auction", "item_consume_log", "id", 1, 2},
		{"count", "quest", "accounts", "id", 0, 1},
		{"level", "characters", "guilds", "id", 0, 1},
	} {
		if got := nameScore(c.column, c.of, c.table, c.key); got < c.least || got >= c.below {
			t.Errorf("%s.%s to %s.%s scores %v, want %v", c.of, c.column, c.table, c.key, got, c.least)
		}
	}
	for name, want := range map[string]bool{"ownerGuid": true, "itemowner": true, "assigned_to": true, "playerGUID1": true, "char_options": false, "partnerRingId": false, "level": false} {
		if got := aboutPeople(nameWords(name)); got != want {
			t.Errorf("%s is about people: %v", name, got)
		}
	}
}

// Where the keys are too far apart to be looked up, a column is not called plain.
func TestSparseKeysLeaveDoubt(t *testing.T) {
	set := keySetOf(1, 1<<40)
	set.Integers.Sparse = true
	s := &space{Candidate: check.Candidate{Table: "items", Column: "id", Class: check.IntegerClass}, sets: map[*rules.Database]*check.KeySet{{Name: "a"}: set}, size: 2}
	var db *rules.Database
	for db = range s.sets {
	}
	e := &examined{table: "mail", column: &catalog.Column{Name: "what", Type: "bigint", Kind: catalog.KindInteger}, parts: []examinedPart{{db: db, fits: make(map[*space]fit),
		values: columnSummary{rows: 9, distinct: 9, lowest: keys.Integer{Bits: 70_000}, highest: keys.Integer{Bits: 90_000}}}}}
	c := classifierOf(e, s)
	if j := c.judge(e); j.class != verdict.ClassUndecided || j.to != s {
		t.Errorf("it is %v: %s", j.class, j.reason)
	}
}

func classifierOf(e *examined, spaces ...*space) *classifier {
	return &classifier{f: &check.Facts{Resolved: &rules.Resolved{Declared: &rules.Declared{}}}, x: &examination{spaces: spaces, columns: []*examined{e}}, roots: spaces}
}
