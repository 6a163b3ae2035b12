package rulefile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/rules"
)

func TestParseLeave(t *testing.T) {
	got, err := parse("[[merge.leave]]\ntable = 'a'\nwhere = 'x < 3'\nbest = { of = 'b', keep = 5, by = ['c desc', 'd'] }\n[[merge.leave]]\ntable = 'g'\nfewer = { of = 'm.g', than = 5 }\n" +
		"[[check.reference]]\nto = 'a.id'\nat = ['m.a']\ngone = 'none'\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []rules.Leave{{Table: "a", Where: "x < 3", Best: &rules.Best{Of: "b", Keep: 5, By: []string{"c desc", "d"}}, File: "config.toml", Line: 1},
		{Table: "g", Fewer: &rules.Fewer{Of: "m.g", Than: 5}, File: "config.toml", Line: 5}}
	if diff := cmp.Diff(want, got.Check.Leave); diff != "" {
		t.Error(diff)
	}
	if gone := got.Check.Rules[0].References[0].Gone; gone != rules.GoneNone {
		t.Errorf("gone is %q", gone)
	}
}

// A statement that says nothing, or something else than it may, is an error with its line.
func TestParseLeaveProblems(t *testing.T) {
	for text, want := range map[string]string{
		"table = 'a'":                                                 `want which rows stay behind`,
		"where = 'x < 3'":                                             `merge.leave.table is missing`,
		"table = 'a'\nwhere = ' '":                                    `3: merge.leave.where is empty`,
		"table = 'a'\nwhere = 3":                                      `3: merge.leave.where is an integer`,
		"table = 'a'\nwhen = 'x'":                                     `3: unknown key when`,
		"table = 'a'\nbest = { of = 'b', keep = 5 }":                  `want the columns by which the first ones are chosen`,
		"table = 'a'\nbest = { of = 'b', by = ['c'] }":                `want how many rows of each value are copied`,
		"table = 'a'\nbest = { of = 'b', keep = 0, by = ['c'] }":      `merge.leave.best.keep 0 is out of range`,
		"table = 'a'\nbest = { of = 'b', keep = 1, by = ['c down'] }": `want a column, with asc or desc`,
		"table = 'a'\nfewer = { of = 'b', than = 2 }":                 `has "b" in it: want "table.column"`,
		"table = 'a'\nfewer = { of = 'b.c' }":                         `want how many copied rows must refer`,
	} {
		_, err := parse("[[merge.leave]]\n" + text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := parse("[[check.reference]]\nto = 'a.id'\nat = ['m.a']\ngone = 'away'\n"); err == nil || !strings.Contains(err.Error(), `4: check.reference.gone is "away": want "drop"`) {
		t.Error(err)
	}
}
