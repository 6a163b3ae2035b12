package world

import (
	"slices"
	"strings"

	"mergesafe/internal/sqltext"
)

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
