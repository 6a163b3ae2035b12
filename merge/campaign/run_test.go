package campaign

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCampaign(t *testing.T) {
	p := newPlace(t, 30, 20, 10, 5, 5)
	b := p.book("parallel = 2", "w1 w2 w3", "w4 w5")
	s, err := b.Plan(t.Context(), p.options())
	must(t, err)
	if got := phases(t, b); got != "w1 planned, w4 planned" {
		t.Fatalf("got %s: %+v", got, s.Merges)
	}
	s, err = b.Apply(t.Context(), p.options())
	must(t, err)
	if got := phases(t, b); got != "w1 verified, w4 verified" {
		t.Fatalf("got %s: %+v", got, s.Merges)
	}
	if n := p.players("w1"); n != 60 {
		t.Errorf("w1 has %d players", n)
	}
	t.Log(kindsOf(t, b))
	for _, m := range s.Merges {
		t.Logf("%+v", m)
	}
	_ = cmp.Diff
}
