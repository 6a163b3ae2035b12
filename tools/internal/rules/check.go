package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"mergesafe/internal/strict"
	"mergesafe/merge/cell"
	"mergesafe/merge/declare"
	"mergesafe/merge/rekey"
)

const maxPerAccount = 1_000_000

// check reads the section [check] with all that is below it. file is for messages; reviewed is
// the schema that it was written for, or nil.
func check(root *strict.Section, file string, reviewed *declare.Reviewed, o *declare.Options) {
	said := declare.Declarations{File: file, Schema: reviewed}
	root.Section("check", func(s *strict.Section) {
		o.Include = append(o.Include, s.Texts("include", pattern)...)
		o.Exclude = append(o.Exclude, s.Texts("exclude", pattern)...)
		said.Plain, said.Natural = s.List("plain", place), s.List("natural", place)
		said.Shared, said.Undecided = s.List("shared", place), s.List("undecided", place)
		s.Sections("unique", func(s *strict.Section) {
			o.Uniques = append(o.Uniques, declare.DeclaredUnique{Table: table(s, "table"), Columns: columns(s, "columns"), Name: s.Text("name", strict.Label), None: values(s, "none")})
		})
		s.Sections("reference", func(s *strict.Section) { said.References = append(said.References, reference(s)) })
		s.Sections("id", func(s *strict.Section) {
			o.IDs = append(o.IDs, declare.IDColumn{Table: table(s, "table"), Column: column(s, "column")})
		})
		s.Sections("world", func(s *strict.Section) {
			need(s, "at", `want the key, such as %s = "characters.guid"`)
			need(s, "value", `want an expression that computes the number of its world, such as %s = "id / 10_000_000 %% 10_000"`)
			o.Worlds = append(o.Worlds, declare.WorldKey{At: s.Text("at", place), Value: s.Text("value", expression), File: file})
		})
		s.Sections("account", func(s *strict.Section) {
			o.Accounts = append(o.Accounts, declare.AccountColumn{Table: table(s, "table"), Column: column(s, "column"), Max: int(s.Integer("max", 1, maxPerAccount))})
		})
	})
	if !said.Empty() || reviewed != nil {
		o.Rules = append(o.Rules, said)
	}
}

// reference reads one [[check.reference]], of columns that it names by at and to or,
// in the older words, by table, columns, to_table and to_columns.
func reference(s *strict.Section) (r declare.DeclaredReference) {
	r.Line = s.Line("")
	r.At, r.To = s.Texts("at", place), s.OneOrMore("to", place)
	r.None, r.Dangling = values(s, "none"), values(s, "dangling")
	r.When = when(s)
	r.Format = s.Text("format", format)
	r.Others = s.Text("others", others)
	if s.Has("others") && !s.Has("when") && !s.Has("format") {
		s.Lacks("when", `want the rows that the reference covers, such as when = { column = "type", is = [0] }`)
	}
	older := s.Has("table") || s.Has("columns") || s.Has("to_table") || s.Has("to_columns")
	switch {
	case older && s.Has("format"):
		s.Problem("format", "is for a reference with at and to: want these")
		return r
	case older && (s.Has("at") || s.Has("to")):
		s.Problem("at", "is set together with table, columns, to_table or to_columns: want one or the other")
		s.Know("table", "columns", "to_table", "to_columns", "zero_is_none")
		return r
	case !older:
		s.Know("table", "columns", "to_table", "to_columns")
		need(s, "at", `want the columns that refer, such as %s = ["mail.receiver"]`)
		need(s, "to", `want the key that they name, such as %s = "characters.guid"`)
		r.ZeroIsNone = s.Boolean("zero_is_none")
		return r
	}
	r.Table, r.Columns, r.ToTable, r.ToColumns = table(s, "table"), columns(s, "columns"), table(s, "to_table"), columns(s, "to_columns")
	r.ZeroIsNone = s.Boolean("zero_is_none")
	if from, to := len(r.Columns), len(r.ToColumns); from > 0 && to > 0 && from != to {
		s.Problem("to_columns", "names %d, but columns names %d: want as many, in the same order", to, from)
	}
	if r.ZeroIsNone && len(r.Columns) > 1 {
		s.Problem("zero_is_none", "is for a reference of one column only")
	}
	return r
}

// parsed checks a text by what parses it. before stands before the error.
func parsed[T any](before string, parse func(string) (T, error)) func(string) string {
	return func(s string) string {
		if _, err := parse(s); err != nil {
			return before + err.Error()
		}
		return ""
	}
}

var (
	// That the words of a format are in columns of the table is for the check to find out.
	format     = parsed("is not a format: ", func(s string) (any, error) { return nil, cell.Validate(s) })
	expression = parsed("is not an expression: ", rekey.ParseExpression)
)

// when reads the condition of a section, if it has one.
func when(s *strict.Section) (c *declare.When) {
	s.Section("when", func(s *strict.Section) {
		c = &declare.When{Column: column(s, "column"), Is: values(s, "is"), Not: values(s, "not")}
		if s.Has("is") == s.Has("not") {
			s.Lacks("is", `want the values of the rows that it covers, such as is = [0], or of the others: not = [1, 2]`)
		}
	})
	return c
}

func values(s *strict.Section, key string) []string {
	s.Know(key)
	if !s.Has(key) {
		return nil
	}
	return s.Values(key)
}

// oneOf checks that a text is one of some words, which want has too.
func oneOf[T ~string](want string, words ...T) func(string) string {
	return func(s string) string {
		if !slices.Contains(words, T(s)) {
			return fmt.Sprintf("is %.40q: want %s", s, want)
		}
		return ""
	}
}

var others = oneOf(`"plain", or remove it`, declare.OthersPlain)

// maxPlace is how many characters the place of a column may have.
const maxPlace = 200

// place checks "table.column". Whether it is a pattern that means something is for
// the check to find out.
func place(s string) string {
	switch {
	case s == "":
		return `has an empty text in it: want "table.column"`
	case len(s) > maxPlace || strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Sprintf("has a text in it that is too long, or has control characters: want \"table.column\" of at most %d bytes", maxPlace)
	case !strings.Contains(s, ".") && !strings.HasPrefix(s, "space:"):
		return fmt.Sprintf("has %q in it: want \"table.column\"", s)
	}
	return ""
}

func pattern(s string) string {
	if problem := strict.Label(s); problem != "" {
		return problem
	}
	if _, err := path.Match(s, ""); err != nil {
		return `is not a pattern of names: want *, ? and [a-z] as in "log_*", and a \ before a character that stands for itself`
	}
	return ""
}
