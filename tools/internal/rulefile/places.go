package rulefile

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"mergesafe/internal/strict"
	"mergesafe/merge/rules"
	"mergesafe/tools/internal/cli"
)

// maxPlace is how many characters the place of a column may have.
const maxPlace = 200

// place checks "table.column". Whether it is a pattern that means something is for
// the check to find out.
func place(s string) string {
	switch {
	case s == "":
		return `has an empty text: want "table.column"`
	case len(s) > maxPlace || strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Sprintf("has a text that is too long or has control characters: "+
			"want \"table.column\" of at most %d bytes", maxPlace)
	case !strings.Contains(s, ".") && !strings.HasPrefix(s, "space:"):
		return fmt.Sprintf("has %q in it: want \"table.column\"", s)
	}
	return ""
}

// exact checks the name of one column.
func exact(s string) string {
	if problem := place(s); problem != "" {
		return problem
	}
	if table, column := split(s); table == "" || column == "" {
		return fmt.Sprintf(`has %q in it: want the name of one column, such as "characters.name"`, s)
	}
	return ""
}

// split takes apart what exact accepts; of anything else one of the names is empty.
func split(s string) (table, column string) {
	t, c, err := rules.ParsePlace(s)
	if err != nil || c == nil {
		return "", ""
	}
	return t.Exact, c.Exact
}

// ColumnOfNames is the table and the column that -names gives. A name with a dot is in backquotes, as in rules.
func ColumnOfNames(names string) (table, column string, err error) {
	if table, column = split(names); table == "" || column == "" {
		return "", "", cli.Usage("-names %q: want a table and its column of names, such as characters.name, or '`a.b`.name'", names)
	}
	return table, column, nil
}

// jointColumns is several columns of one table together: "ranks.(guild, rank)".
var jointColumns = regexp.MustCompile(`^(.+)\.\(([^()]+,[^()]+)\)$`)

// joint takes apart several columns together; is says that s are such.
func joint(s string) (table string, columns []string, is bool) {
	m := jointColumns.FindStringSubmatch(s)
	if m == nil {
		return "", nil, false
	}
	for _, part := range append([]string{m[1]}, strings.Split(m[2], ",")...) {
		if p, rest, err := rules.ParsePlace(strings.TrimSpace(part)); err != nil || rest != nil || p.Exact == "" {
			return "", nil, false
		} else if table == "" {
			table = p.Exact
		} else {
			columns = append(columns, p.Exact)
		}
	}
	return table, columns, true
}

// placeOrJoint checks a place, or several columns together.
func placeOrJoint(s string) string {
	if jointColumns.MatchString(s) {
		if _, _, is := joint(s); !is {
			return fmt.Sprintf(`has %q in it: want the names of columns of one table, such as "ranks.(guild, rank)"`, s)
		}
	}
	return place(s)
}

// one reads a key that names one thing: a text or, as everywhere, a list, of one text.
func one(s *strict.Section, key string, check func(string) string) []string {
	all := s.OneOrMore(key, check)
	if len(all) > 1 {
		s.Problem(key, "has %d: want one, and a separate table for each other", len(all))
	}
	return all[:min(1, len(all))]
}

// columnAt reads which column a section is about.
func columnAt(s *strict.Section) (table, column string) {
	table, columns := among(s, one(s, "at", exact))
	return table, strings.Join(columns, "")
}

// among takes the columns of at apart.
func among(s *strict.Section, at []string) (of string, all []string) {
	need(s, "at", `want the column, such as %s = "characters.name"`)
	for _, text := range at {
		table, column := split(text)
		if of != "" && table != of {
			s.Problem("at", "has columns of %q and of %q: want those of one table", of, table)
		}
		of, all = table, append(all, column)
	}
	return of, all
}
