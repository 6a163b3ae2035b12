package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge"
)

// A counter is a column, or a sequence by its name alone.
func TestParseCounter(t *testing.T) {
	got, err := parse("[[merge.counter]]\nat = 'seq.next'\nwhen = { column = 'name', is = ['item'] }\nspace = 'items.id'\n[[merge.counter]]\nat = 'char_seq'\nspace = 'chars.guid'\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []merge.CounterRow{{At: "seq.next", When: &merge.When{Column: "name", Is: []string{"item"}}, Space: "items.id"}, {At: "char_seq", Space: "chars.guid"}}
	for i := range got.Check.Rekey.Counters {
		got.Check.Rekey.Counters[i].File = ""
	}
	if diff := cmp.Diff(want, got.Check.Rekey.Counters); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
