package sqltext

import (
	"slices"
	"strings"
	"testing"
)

// What stands in quotes, or in a comment of people, is no word of the statement.
func TestTokens(t *testing.T) {
	for _, tt := range []struct {
		take      func(string) []Token
		sql, want string
	}{
		{MySQL, "`a``b` INT COMMENT 'it''s \\'KEY (' -- )\n, c", "`a``b`|INT|COMMENT|'it''s \\'KEY ('|,|c"},
		{MySQL, `SELECT "a\"b" # end` + "\n1--1 /* x */", `SELECT|"a\"b"|1|-|-|1`},
		{MySQL, "a /*!80023 INVISIBLE */ /*M!100301 COMPRESSED*/ /*T![feature] CLUSTERED */ /*MT! x*/", "a|INVISIBLE|COMPRESSED|CLUSTERED"},
		{PostgreSQL, `/* a /* b */ c */ E'it\'s ;' 'x\' $1 $$;$$ $a$ $$;' $a$ a$b "c"";" -- end`, `E'it\'s ;'|'x\'|$1|$$;$$|$a$ $$;' $a$|a$b|"c"";"`},
		{SQLite, "\ufeff\v-- x\nCOMMIT", "COMMIT"},
		{SQLite, `"a""b" [c d] 'x\' -- end`, `"a""b"|[c d]|'x\'`},
	} {
		var got []string
		for _, token := range tt.take(tt.sql) {
			got = append(got, token.Text)
			if tt.sql[token.Start:token.End()] != token.Text {
				t.Errorf("%q is not at %d of %q", token.Text, token.Start, tt.sql)
			}
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%s: got %q, want %s", tt.sql, got, tt.want)
		}
	}
}

// A comment for some servers is text or a comment, those of one version alike; and never more readings than can be looked at.
func TestMySQLReadings(t *testing.T) {
	for text, want := range map[string]string{
		"a /* b */":                                  "a",
		"/*!1 a */ b /*!1 c */":                      "abc b",
		"/*!1 a */ /*!2 b */ c":                      "abc bc ac c",
		"/*!1 a /* b */ c */ d":                      "acd d",
		"/*!1 ' */ /*M!2 a */ ' b":                   "' */ /*M!2 a */ 'b a' b ' */ /*M!2 a */ 'b ' b",
		"/*!1*//*!2*//*!3*//*!4*//*!5*//*!6*//*!7*/": "",
	} {
		var got []string
		for _, reading := range MySQLReadings(text) {
			var words strings.Builder
			for _, token := range reading {
				words.WriteString(token.Text)
			}
			got = append(got, words.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %s", text, got, want)
		}
	}
}

// Commas in parentheses, quotes and comments of people divide nothing.
func TestParts(t *testing.T) {
	const list = "`a,b` int, KEY `k` (`c`, `d`(3)) ,'x,y', /* e, f */ `g` int /*!80023 INVISIBLE */"
	want := []string{"`a,b` int", "KEY `k` (`c`, `d`(3))", "'x,y'", "/* e, f */ `g` int /*!80023 INVISIBLE */"}
	if got := Parts(list); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
