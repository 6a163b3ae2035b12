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

// Parentheses go where one operator stands within the same, and nowhere else.
func TestFlat(t *testing.T) {
	for sql, want := range map[string]string{
		"(((`a` <> 2) or (`b` <> 3)) or (`s` = 'q'))":                            "((`a` <> 2) or (`b` <> 3) or (`s` = 'q'))",
		"((`s` = 'q') or ((`a` <> 2) or (`b` <> 3)))":                            "((`s` = 'q') or (`a` <> 2) or (`b` <> 3))",
		"(((`a` AND `b`) and (`c` and `d`)) and `e`)":                            "(`a` AND `b` and `c` and `d` and `e`)",
		"CONSTRAINT `or` CHECK (((`a` or `b`) or `c`)) /*!80016 NOT ENFORCED */": "CONSTRAINT `or` CHECK ((`a` or `b` or `c`)) /*!80016 NOT ENFORCED */",
		"(`a` = ((`b` or `c`) or `d`))":                                          "(`a` = (`b` or `c` or `d`))",
		"f((((`a` or `b`) or `c`) or `d`),(`e` and `f`))":                        "f((`a` or `b` or `c` or `d`),(`e` and `f`))",
		"(((`a` and `b`) or (`c` and (`d` and `e`))) and `f`)":                   "(((`a` and `b`) or (`c` and `d` and `e`)) and `f`)",
		"((`a` or 'b) or (c') or `d`)":                                           "(`a` or 'b) or (c' or `d`)",
		"(`a` or (`b` and `c`))":                                                 "",
		"((`a` or `b`) and `c`)":                                                 "",
		"((`a` xor `b`) xor `c`)":                                                "",
		"((`a` or `b`) xor (`c` or `d`))":                                        "",
		"((`a` between 1 and 2) and `b`)":                                        "",
		"(`b` and (`a` between 1 and 2))":                                        "",
		"(`a` between (`b` and `c`) and 2)":                                      "",
		"(`a` between 1 and (`b` and `c`))":                                      "",
		"(`a` or `b` and (`c` or `d`))":                                          "",
		"(`a` or not (`b` or `c`))":                                              "",
		"(`a` or (not((`b` or `c`))))":                                           "",
		"(`a` or (`b` or `c`) = `d`)":                                            "",
		"(`a` or ((`b` or `c`) is true))":                                        "",
		"(`a` or f(`b` or `c`))":                                                 "",
		"(`a` or (`b` or `c`),(`d` or `e`))":                                     "",
		"(case when (`a` or `b`) then (`c` or `d`) end)":                         "",
		"(`a` or case (`b` or `c`) when 1 then (`d` or `e`) or `f` end)":         "",
		"((`a` or `b`) or `c`":                                                   "(`a` or `b` or `c`",
		"`a`) or (`b` or (`c`":                                                   "",
	} {
		if want == "" {
			want = sql
		}
		if got := Flat(sql); got != want {
			t.Errorf("%s: got %s, want %s", sql, got, want)
		}
	}
}
