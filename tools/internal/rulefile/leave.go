package rulefile

import (
	"strings"

	"mergesafe/internal/strict"
	"mergesafe/merge/rules"
)

// maxWhere is how many bytes a condition may have.
const maxWhere = 10_000

// leave reads one [[merge.leave]]: which rows of a table stay behind.
func leave(s *strict.Section, file string) rules.Leave {
	l := rules.Leave{Table: table(s, "table"), Where: s.Text("where", condition), File: file, Line: s.Line("")}
	s.Section("best", func(s *strict.Section) {
		l.Best = &rules.Best{Of: column(s, "of"), Keep: int(s.Integer("keep", 1, 10_000)), By: s.Texts("by", parsed("has ",
			rules.ParseBy))}
		need(s, "keep", `want how many rows of each value are copied, such as %s = 5`)
		need(s, "by", `want the columns by which the first ones are chosen, such as %s = ["level desc"]`)
	})
	s.Section("fewer", func(s *strict.Section) {
		need(s, "of", `want the column that refers to the rows, such as %s = "guild_member.guildid"`)
		need(s, "than", `want how many copied rows must refer to a copied row, such as %s = 5`)
		l.Fewer = &rules.Fewer{Of: s.Text("of", place), Than: int(s.Integer("than", 1, 1_000_000))}
	})
	if !s.Has("where") && !s.Has("best") && !s.Has("fewer") && !s.Asked() {
		s.Lacks("where", `want which rows stay behind, such as where = "level < 30"; or best; or fewer`)
	}
	return l
}

func condition(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return `is empty: want a condition, such as "level < 30"`
	case len(s) > maxWhere:
		return "is too long"
	}
	return ""
}
