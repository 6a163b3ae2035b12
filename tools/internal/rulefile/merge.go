package rulefile

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/internal/strict"
	"mergesafe/merge"
	"mergesafe/merge/rules"
)

const maxNameLength = 10_000 // characters

// mergeSection reads the section [merge] with all that is below it. earlier is how many declarations are of earlier files;
// more reads what only some files have there.
func mergeSection(root *strict.Section, file string, reviewed *rules.Reviewed, earlier int, r *Rules, more func(*strict.Section)) {
	moved := func() *rules.Rekey {
		if r.Check.Rekey == nil {
			r.Check.Rekey = new(rules.Rekey)
		}
		return r.Check.Rekey
	}
	root.Section("merge", func(s *strict.Section) {
		more(s)
		if auto := s.Boolean("rekey"); auto || s.Has("rekey") && r.Check.Rekey != nil {
			moved().Auto = auto
		}
		if said := s.Text("engine", oneOf(`"InnoDB"`, rules.InnoDB)); said != "" {
			r.Check.Engine = said
		}
		s.Only("engine", rules.InnoDB)
		var spaces []rules.Space
		s.Sections("space", func(s *strict.Section) {
			space := space(s, file)
			space.File, space.Line, space.After = file, s.Line(""), earlier
			spaces = append(spaces, space)
		})
		if len(spaces) > 0 {
			moved().Say(spaces)
		}
		s.Sections("counter", func(s *strict.Section) {
			counter := counter(s)
			counter.File, counter.Line = file, s.Line("")
			moved().Counters = append(moved().Counters, counter)
		})
		s.Sections("table", func(s *strict.Section) {
			need(s, "tables", `want the names of tables, or patterns, such as %s = ["world_state*"]`)
			if !s.Has("renumber") && !s.Asked() {
				need(s, "policy", "want what happens to their rows: %s = "+policyNames())
			}
			policy := rules.TablePolicy{
				Tables:  s.Texts("tables", strict.Label),
				Policy:  rules.Policy(s.Text("policy", tablePolicy)),
				Columns: s.TextsByName("set", `{ gold = "sum", name = "first" }`, formula),
				When:    when(s), File: file, Line: s.Line(""), Schema: reviewed,
			}
			s.Only("policy", slice.Map(rules.Policies(), func(p rules.Policy) string { return string(p) })...)
			renumber(s, &policy)
			r.Check.Tables = append(r.Check.Tables, policy)
		})
		s.Sections("leave", func(s *strict.Section) { r.Check.Leave = append(r.Check.Leave, leave(s, file)) })
		s.Sections("name", func(s *strict.Section) {
			said := policy(s, file)
			r.Names = slices.DeleteFunc(r.Names, func(p merge.NamePolicy) bool { // the later file counts
				return p.File != file && p.Table == said.Table && p.Column == said.Column
			})
			r.Names = append(r.Names, said)
		})
	})
}

// renumber reads which column of a table gets other values.
func renumber(s *strict.Section, p *rules.TablePolicy) {
	const want = `a table, such as renumber = { column = "slot", within = "account" }`
	for range s.Kinds("renumber", want, "table") {
		s.Section("renumber", func(s *strict.Section) {
			p.Renumber = column(s, "column")
			need(s, "within", `want the columns in which it is unique, such as %s = "account"`)
			p.Within = s.OneOrMore("within", strict.Label)
			number := func(key string) *int64 {
				n := s.Integer(key, math.MinInt64, math.MaxInt64)
				if !s.Has(key) {
					return nil
				}
				return &n
			}
			p.From, p.Max = number("from"), number("max")
		})
	}
	if p.Renumber != "" && len(p.Within) > 0 {
		p.Policy = cmp.Or(p.Policy, rules.PolicyCopy)
	}
}

var (
	tablePolicy = oneOf(policyNames(), rules.Policies()...)
	formula     = parsed("is ", rules.ParseFormula) // of a column of rows that are combined
	setting     = parsed("is ", func(s string) (rules.Setting, error) { return rules.ParseSetting("", s) })
	keep        = oneOf(`"older" or "active", or remove it`, merge.KeepOlder, merge.KeepActive)
)

func policy(s *strict.Section, file string) merge.NamePolicy {
	table, column := columnAt(s)
	p := merge.NamePolicy{
		Table: table, Column: column,
		Template: s.Text("template", template),
		Keep:     merge.Keep(s.Text("keep", keep)), By: s.Text("by", strict.Label),
		MaxLength: int(s.Integer("max", 1, maxNameLength)),
		File:      file, Line: s.Line(""),
	}
	s.Only("keep", string(merge.KeepOlder), string(merge.KeepActive))
	p.None = s.Values("none")
	set := s.TextsByName("set", `{ at_login = "| 1" }`, setting)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		to, _ := rules.ParseSetting(name, set[name]) // it was tried
		p.Set = append(p.Set, to)
	}
	switch {
	case s.Has("keep") && !s.Has("by"):
		s.Lacks("by", `want the column for keep, such as by = "created_at"`)
	case s.Has("by") && !s.Has("keep"):
		s.Lacks("keep", `want %q or %q, by the column in by`, merge.KeepOlder, merge.KeepActive)
	}
	return p
}

func template(s string) string {
	if problem := strict.Label(s); problem != "" {
		return problem
	}
	return merge.TemplateProblem(s)
}

// policyNames are those of all policies, the usual one last.
func policyNames() string {
	all := rules.Policies()
	others := strings.Trim(fmt.Sprintf("%q", all[1:]), "[]")
	return fmt.Sprintf("%s or %q", strings.ReplaceAll(others, " ", ", "), all[0])
}
