package rulefile

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/strict"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"

	"mergesafe/merge"
)

const maxPerAccount = 1_000_000

// check reads the section [check] with all that is below it. file is for messages; reviewed is
// the schema that it was written for, or nil.
func check(root *strict.Section, file string, reviewed *rules.Reviewed, r *Rules) {
	o, said := &r.Check, rules.Declarations{File: file, Schema: reviewed}
	root.Section("check", func(s *strict.Section) {
		said.LineOf = s.LineOf
		said.Plain = s.List("plain", place)
		var accounts []string
		said.Shared = s.Entries("shared", place, func(s *strict.Section) {
			table, column := columnAt(s)
			if table != "" {
				accounts = append(accounts, rules.Place(table, column))
			}
			o.Accounts = append(o.Accounts, account(s, file, table, column))
		})
		said.Shared = append(said.Shared, accounts...)
		said.Undecided = s.List("undecided", place)
		s.Sections("unique", func(s *strict.Section) {
			table, columns := among(s, s.OneOrMore("at", exact))
			o.Uniques = slices.DeleteFunc(o.Uniques, func(u rules.DeclaredUnique) bool { // the later file counts
				return u.File != file && u.Table == table && slices.Equal(u.Columns, columns)
			})
			o.Uniques = append(o.Uniques, rules.DeclaredUnique{
				Table: table, Columns: columns, Name: s.Text("name", strict.Label), None: s.Values("none"), File: file, Line: s.Line(""),
			})
		})
		s.Sections("reference", func(s *strict.Section) {
			if s.Know("to", "at", "by"); !s.Has("by") {
				said.References = append(said.References, reference(s, file))
			}
			if s.Has("by") || s.Asked() {
				r.Copies = append(r.Copies, follower(s, file)...)
			}
		})
		s.Sections("id", func(s *strict.Section) {
			table, column := columnAt(s)
			o.IDs = append(o.IDs, rules.IDColumn{Table: table, Column: column, File: file, Line: s.Line("")})
		})
		s.Sections("world", func(s *strict.Section) {
			need(s, "at", `want the key, such as %s = "characters.guid"`)
			need(s, "by", `want an expression that computes the server of its world, such as `+
				`%s = "id / 10_000_000 %% 10_000"`)
			key := rules.WorldKey{At: strings.Join(one(s, "at", place), ""), Value: s.Text("by", expression), File: file, Line: s.Line("")}
			o.Worlds = append(o.Worlds, key)
		})
	})
	if !said.Empty() || reviewed != nil {
		o.Rules = append(o.Rules, said)
	}
}

// account reads how many rows an account may have.
func account(s *strict.Section, file, table, column string) rules.AccountColumn {
	return rules.AccountColumn{Table: table, Column: column, Max: int(s.Integer("max", 1, maxPerAccount)), File: file, Line: s.Line("")}
}

// reference reads one [[check.reference]].
func reference(s *strict.Section, file string) (r rules.DeclaredReference) {
	r.File, r.Line = file, s.Line("")
	r.To, r.At = s.OneOrMore("to", placeOrJoint), s.OneOrMore("at", placeOrJoint)
	r.None, r.Dangling = s.Values("none"), s.Values("dangling")
	r.When = when(s)
	r.Others = s.Text("others", others)
	s.Only("others", rules.OthersPlain)
	r.Format = s.Text("format", format)
	r.Gone = rules.Gone(s.Text("gone", gone))
	s.Only("gone", string(rules.GoneDrop), string(rules.GoneNone))
	if s.Has("others") && !s.Has("when") && !s.Has("format") {
		s.Lacks("when", `want the rows that the reference covers, such as when = { column = "type", is = [0] }`)
	}
	need(s, "at", `want the columns that refer, such as %s = ["mail.receiver"]`)
	need(s, "to", `want the key to which they refer, such as %s = "characters.guid"`)
	return together(s, r)
}

// together is a reference of several columns together, if at and to are written so.
func together(s *strict.Section, r rules.DeclaredReference) rules.DeclaredReference {
	isJoint := func(text string) bool { _, _, is := joint(text); return is }
	if len(r.At) == 0 || len(r.To) == 0 || !slices.ContainsFunc(slices.Concat(r.At, r.To), isJoint) {
		return r // what lacks is reported already
	}
	alone := len(r.At) == 1 && len(r.To) == 1 && !s.Has("format") && !s.Has("none") && !s.Has("dangling")
	if !alone || !isJoint(r.At[0]) || !isJoint(r.To[0]) {
		s.Problem("at", `of several columns together goes with one to of the same number, and with nothing but a when: `+
			`want at = ["ranks.(guild, rank)"] and to = "guild_ranks.(guild_id, rank_id)"`)
		return r
	}
	r.Table, r.Columns, _ = joint(r.At[0])
	r.ToTable, r.ToColumns, _ = joint(r.To[0])
	if len(r.Columns) != len(r.ToColumns) {
		s.Problem("to", "has %d columns, but at has %d: want the same number in the same order",
			len(r.ToColumns), len(r.Columns))
	}
	r.At, r.To = nil, nil
	return r
}

// follower reads a [[check.reference]] with by: columns that repeat a name beside the key of its row.
func follower(s *strict.Section, file string) (all []merge.NameCopy) {
	need(s, "at", `want the columns that repeat the name, such as %s = ["mail.sender_name"]`)
	need(s, "to", `want the column that has the name, such as %s = "characters.name"`)
	by := s.Text("by", strict.Label)
	to := s.OneOrMore("to", exact)
	if len(to) > 1 {
		s.Problem("to", "has several columns together with by: want one")
	}
	for _, text := range s.OneOrMore("at", exact) {
		c := merge.NameCopy{Key: by, File: file, Line: s.Line("")}
		c.Table, c.Column = split(text)
		c.OfTable, c.OfColumn = split(strings.Join(to[:min(1, len(to))], ""))
		all = append(all, c)
	}
	return all
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
	format     = parsed("is not a format: ", func(s string) (any, error) { return nil, keys.Validate(s) })
	expression = parsed("is not an expression: ", keys.ParseExpression)
)

// when reads the condition of a section, if it has one.
func when(s *strict.Section) (c *rules.When) {
	s.Section("when", func(s *strict.Section) {
		c = &rules.When{Column: column(s, "column"), Is: s.Values("is"), Not: s.Values("not")}
		if s.One("is", "not"); s.Has("is") == s.Has("not") && !s.Asked() {
			s.Lacks("is", `want the values of the rows that it covers, such as is = [0], or of all others: not = [1, 2]`)
		}
	})
	return c
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

var gone = oneOf(`"drop" to leave the referring rows behind too, or "none" to clear their reference`, rules.GoneDrop, rules.GoneNone)

var others = oneOf(`"plain", or remove it`, rules.OthersPlain)
