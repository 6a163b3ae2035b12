package sqlsource

import (
	"slices"
	"strings"

	"mergesafe/internal/sqltext"
)

// triggerEvent is when a trigger fires, "BEFORE INSERT", by the statement that
// made it.
func triggerEvent(sql string) string {
	when := "BEFORE"
	for i, t := range sqltext.SQLite(sql) {
		switch {
		case i < 3: // CREATE TRIGGER name, which may be any word
		case t.Keyword("AFTER"):
			when = "AFTER"
		case t.Keyword("INSTEAD"):
			when = "INSTEAD OF"
		case t.Keyword("INSERT"), t.Keyword("UPDATE"), t.Keyword("DELETE"):
			return when + " " + strings.ToUpper(t.Text)
		}
	}
	return ""
}

// generated is the expression of a generated column, by the statement that made
// its table: name ... AS (expression).
func generated(sql, column string) string {
	all := sqltext.SQLite(sql)
	first := slices.IndexFunc(all, func(t sqltext.Token) bool { return t.Text == "(" })
	if first < 0 {
		return ""
	}
	depth, begins, within := 0, false, false
	for i, t := range all[first:] {
		if depth == 1 && begins {
			within, begins = strings.EqualFold(t.Name(), column), false
		}
		switch t.Text {
		case "(":
			if depth == 1 && within && i > 0 && all[first+i-1].Keyword("AS") {
				return sqltext.InParentheses(sql, all[first+i:])
			}
			depth++
			begins = depth == 1
		case ")":
			depth--
		case ",":
			begins = depth == 1
		}
	}
	return ""
}
