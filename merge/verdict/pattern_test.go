package verdict

import (
	"strings"
	"testing"

	"mergesafe/merge/rules"
)

func TestPlacePatterns(t *testing.T) {
	for _, test := range []struct {
		pattern, table, column string
		want                   bool
	}{
		{"mail", "mail", "", true},
		{"mail", "Mail", "", false},
		{"mail", "mails", "", false},
		{"log_*", "log_", "", true},
		{"log_*", "log_chat", "", true},
		{"log_*", "xlog_a", "", false},
		{"*.level", "any", "level", true},
		{"*.level", "any", "levels", false},
		{"bags.slot{0..18}", "bags", "slot18", true},
		{"bags.slot{0..18}", "bags", "slot19", false},
		{"bags.slot{0..18}", "bags", "slot018", false},
		{"bags{9..11}.a.b", "", "", false},
		{"`a.b`.`c*`", "a.b", "c*", true},
		{"`a.b`.`c*`", "a.b", "cx", false},
		{"`a``b`", "a`b", "", true},
		{"a+b.c", "a+b", "c", true},
		{"a+*.c", "aab", "c", false},
	} {
		table, column, err := rules.ParsePlace(test.pattern)
		got := err == nil && table.Match(test.table) && (column == nil) == (test.column == "") && (column == nil || column.Match(test.column))
		if got != test.want {
			t.Errorf("%s matches %q %q: %v (%v), want %v", test.pattern, test.table, test.column, got, err, test.want)
		}
	}
	for pattern, want := range map[string]string{
		"":           "a name is empty",
		"a.":         "a name is empty",
		".a":         "a name is empty",
		"``":         "a name is empty",
		"`a":         "a backquote is not closed",
		"`a`b":       "a name continues after its closing backquote",
		"a.b.c":      "more than a table and a column",
		"a{1..}":     "{1..} is no range",
		"a{3..1}":    "{3..1} is no range",
		"a{0..1000}": "{0..1000} is no range",
		"a{0..9":     `"{" is alone`,
		"a}":         `"}" is alone`,
		"a`b`":       "is alone",
	} {
		if _, _, err := rules.ParsePlace(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", pattern, err, want)
		}
	}
}

// A code can demand to be allowed for single columns only.
func TestAllowOneColumn(t *testing.T) {
	codes := []Code{{Code: "open", OneColumn: true}, {Code: "other"}}
	for text, want := range map[string]bool{
		"open": false, "open:mail": false, "open:mail.*": false, "open:m*.sender": false, "open:mail.item{0..3}": false,
		"open:mail.sender": true, "open:`a.b`.`c*`": true, "other": true, "other:mail.*": true,
	} {
		if _, err := parseAllowance(text, codes); (err == nil) != want || !want && !strings.Contains(err.Error(), "for single columns only: want open:table.column") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
