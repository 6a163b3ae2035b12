package strict

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read reads a file that has only one key, server.number.
func read(file, text string) error {
	return Read(file, text, func(root *Section) {
		root.Section("server", func(s *Section) { s.Integer("number", 1, 9) })
	})
}

func TestSyntax(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"\n[server]\nname = s1", `3: is not TOML: want quotes around text, as in name = "s1"`},
		{"[server]\nnumber =", `2: is not TOML: no value after the =`},
		{"[server]\nname = \"s1\n", `2: is not TOML: want the closing quote on the same line`},
		{"[server]\nnumber = 7\nnumber = 8", `3: is not TOML: this key or section is there already, further up`},
		{"[server\nnumber = 7", `2: is not TOML: want a ] at the end of the section's name`},
		{"number: 7", `1: is not TOML: want key = value`},
		{"[server]\nnumber = 007", `2: is not TOML: want a plain integer, such as 7`},
		{"[server]\nnumber = 99999999999999999999", `2: is not TOML: the number is too large`},
		{"dsn = \"mysql:root:hunter\"2@tcp(db)/s1\"", `1: is not TOML: want nothing after the value; inside text in quotes, write \" for a quote`},
		{"dsn = \"C:\\data\"", `1: is not TOML: in "text" a \ starts an escape: write \\, or use 'text'`},
		{"dsn = '''hunter2", `1: is not TOML: the text ends before a quote or bracket is closed`},
		{"\x00", `1: is not TOML: want UTF-8 text`},
		{"[server]\nnumber = 7 # \x00", `2: is not TOML: a control character, such as NUL, is in the line: want UTF-8 text without`},
		{"[server]\nname = \"a\x00\"", `2: is not TOML: a control character, such as NUL, is in the line: want UTF-8 text without`},
		{"[server]\nnames = [\n  \"a\",\n\nnumber = 7\n", `5: is not TOML: the list that begins in line 2 is not closed: want a comma behind each value, and a ] behind the last one`},
		{"[server]\nnames = [\n  \"a\"\n[other]\n", `4: is not TOML: the list that begins in line 2 is not closed: want a comma behind each value, and a ] behind the last one`},
		{"names = [\"a\",\n  \"b\",\n", `3: is not TOML: the list that begins in line 1 is not closed: want a comma behind each value, and a ] behind the last one`},
		{"names = [\n  a,\n]\n", `2: is not TOML: want quotes around text, as in name = "s1"`},
		{"names = [\n  \"a\" \"b\",\n]\n", `2: is not TOML: want a comma between two values, or the ] that closes the list`},
		{"name = { a = 1", `1: is not TOML: want a comma between two values, or the } that closes the table, on the same line`},
		{"= 7", `1: is not TOML: want key = value`},
		{"a = @", `1: is not TOML: want quotes around text, as in name = "s1"`},
	} {
		got := ""
		if err := read("config.toml", tt.text); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff("config.toml:"+tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
		if strings.Contains(got, "hunter") {
			t.Errorf("%q: the message has the secret: %s", tt.text, got)
		}
	}
}

func TestErrorType(t *testing.T) {
	err := read("c.toml", "[server]\nnumber = 0")
	e, ok := errors.AsType[*Error](err)
	if want := (Error{"c.toml", 2, "server.number", "0 is out of range: want 1 to 9"}); !ok || *e != want {
		t.Errorf("got %#v; want %#v", e, want)
	}
}

func TestLinesSurviveEditors(t *testing.T) {
	err := read("c.toml", "\uFEFF# by an editor of Windows\r\n[server]\r\nnumber = 0\r\n")
	if e, ok := errors.AsType[*Error](err); !ok || e.Line != 3 {
		t.Errorf("got %v; want a problem in line 3", err)
	}
}

// A key that somebody else reads is known, and is listed once.
func TestKnow(t *testing.T) {
	err := Read("c.toml", "first = 1\nsecond = 2\nother = 3\n", func(root *Section) {
		root.Know("first", "second")
		root.Integer("second", 1, 9)
	})
	if err == nil || err.Error() != "c.toml:3: unknown key other: the file has first, second" {
		t.Errorf("got %v", err)
	}
}
