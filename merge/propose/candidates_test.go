package propose

import (
	"testing"

	"mergesafe/merge/catalog"
)

// Rows without a match decide first, then the gaps, then clear names.
func TestBeats(t *testing.T) {
	target := func(misses int64, a answer, score float64) rankedTarget {
		return rankedTarget{to: &space{size: 10}, score: score, answer: a, pooled: fit{rows: 100, own: 100 - misses}}
	}
	shared := target(0, silent, 0)
	shared.to.alike = true
	for _, c := range []struct {
		why    string
		a, b   rankedTarget
		ab, ba bool
	}{
		{"only the first matches every row", target(0, silent, 0), target(1, silent, 1), true, false},
		{"and the names suggest the other", target(0, silent, 0), target(1, silent, 3), false, false},
		{"the gaps show the first, whose dangling rows the other has by chance", target(1, fits, 0), target(0, silent, 0), true, true},
		{"and the names suggest the other", target(1, fits, 0), target(0, silent, 3), false, true},
		{"the gaps show both, and only the other matches every row", target(1, fits, 3), target(0, fits, 0), false, false},
		{"both match every row, and the names are clear", target(0, fits, 3), target(0, fits, 1), true, false},
		{"both match every row, and the names are not", target(0, fits, 1), target(0, fits, 0), false, false},
		{"the other is the game's own data", target(1, silent, 1), shared, true, true},
	} {
		if ab, ba := c.a.beats(c.b), c.b.beats(c.a); ab != c.ab || ba != c.ba {
			t.Errorf("%s: %v and %v", c.why, ab, ba)
		}
	}
}

// Columns of one name that neither names nor gaps explain are one question, of the key that matches the most of their rows;
// those that a name explains keep their own.
func TestAskTogether(t *testing.T) {
	mails, items := &space{size: 10}, &space{size: 10}
	c := &classifier{x: new(examination), judged: make(map[*examined]*judgement)}
	add := func(name string, to *space, score float64, inMails, inItems int64) *judgement {
		e := &examined{table: "t", column: &catalog.Column{Name: name}, parts: []examinedPart{{
			fits: map[*space]fit{mails: {rows: 9, own: inMails}, items: {rows: 9, own: inItems}}}}}
		c.x.columns, c.judged[e] = append(c.x.columns, e), &judgement{to: to, score: score, reason: nameOfKey + ", as well as some"}
		return c.judged[e]
	}
	first, second := add("shop_id", mails, 0, 5, 4), add("shop_id", items, 0, 1, 7)
	named, other := add("shop_id", mails, 1, 5, 0), add("next_id", mails, 0, 5, 0)
	c.askTogether()
	if first.to != items || first.reason != nameOfKey || second.to != items || named.to != mails || other.to != mails {
		t.Errorf("%+v, %+v, %+v, %+v", first, second, named, other)
	}
}
