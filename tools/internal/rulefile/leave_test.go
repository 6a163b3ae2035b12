package rulefile

import (
	"strings"
	"testing"
)

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
