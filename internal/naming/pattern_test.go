package naming

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompile(t *testing.T) {
	for _, test := range []struct {
		pattern  string
		yes, no  string // names, with spaces between them
		wantsErr string
	}{
		{"w*", "w w1 west", "W1 aw", ""},
		{"w{1..3}", "w1 w3", "w0 w4 w03 w", ""},
		{"w{01..12}", "w01 w09 w12", "w1 w9 w13 w012", ""},
		{"{0..2}", "0 2", "00 3", ""},
		{"a.c", "a.c", "abc", ""},
		{"w{1..3}*", "w1 w30", "w4", ""},
		{"w{3..1}", "", "", "{3..1} is no range"},
		{"w{..}", "", "", "{..} is no range"},
		{"w{0..1000}", "", "", "at most 1000 numbers"},
		{"w{1..3", "", "", `"{" is alone`},
		{"w}", "", "", `"}" is alone`},
	} {
		re, err := CompilePattern(test.pattern)
		if test.wantsErr != "" {
			if err == nil || !strings.Contains(err.Error(), test.wantsErr) {
				t.Errorf("%s: %v, want %q", test.pattern, err, test.wantsErr)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		for _, name := range strings.Fields(test.yes) {
			if !re.MatchString(name) {
				t.Errorf("%s does not match %s", test.pattern, name)
			}
		}
		for _, name := range strings.Fields(test.no) {
			if re.MatchString(name) {
				t.Errorf("%s matches %s", test.pattern, name)
			}
		}
	}
}

func TestExpand(t *testing.T) {
	for text, want := range map[string][]string{
		"s1":                    {"s1"},
		"w{1..3}":               {"w1", "w2", "w3"},
		"w{08..10}.db":          {"w08.db", "w09.db", "w10.db"},
		"{1..2}/w{11..12}":      {"1/w11", "2/w12"},
		"u:p{s}w@tcp(h)/{1..2}": {"u:p{s}w@tcp(h)/1", "u:p{s}w@tcp(h)/2"},
		"w{3..1}":               nil,
		"w{1..3}/{1..2}":        nil,
		"w{0..1000}":            nil,
	} {
		got, ok := ExpandPattern(text)
		if diff := cmp.Diff(want, got); diff != "" || ok != (want != nil) {
			t.Errorf("%s: %v (-want +got):\n%s", text, ok, diff)
		}
	}
}
