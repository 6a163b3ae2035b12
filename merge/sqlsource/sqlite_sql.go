package sqlsource

import (
	"slices"
	"strings"
)

// triggerEvent is when a trigger fires, "BEFORE INSERT", by the statement that
// made it.
func triggerEvent(sql string) string {
	when := "BEFORE"
	for i, t := range tokens(sql) {
		switch {
		case i < 3: // CREATE TRIGGER name, which may be any word
		case t.keyword("AFTER"):
			when = "AFTER"
		case t.keyword("INSTEAD"):
			when = "INSTEAD OF"
		case t.keyword("INSERT"), t.keyword("UPDATE"), t.keyword("DELETE"):
			return when + " " + strings.ToUpper(t.text)
		}
	}
	return ""
}

// generated is the expression of a generated column, by the statement that made
// its table: name ... AS (expression).
func generated(sql, column string) string {
	all := tokens(sql)
	first := slices.IndexFunc(all, func(t token) bool { return t.text == "(" })
	if first < 0 {
		return ""
	}
	depth, begins, within := 0, false, false
	for i, t := range all[first:] {
		if depth == 1 && begins {
			within, begins = strings.EqualFold(t.name(), column), false
		}
		switch t.text {
		case "(":
			if depth == 1 && within && i > 0 && all[first+i-1].keyword("AS") {
				return inParentheses(sql, all[first+i:])
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
