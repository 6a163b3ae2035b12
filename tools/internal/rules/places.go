package rules

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"mergesafe/internal/strict"
	"mergesafe/merge/declare"
)

// maxPlace is how many characters the place of a column may have.
const maxPlace = 200

// place checks "table.column". Whether it is a pattern that means something is for
// the check to find out.
func place(s string) string {
	switch {
	case s == "":
		return `has an empty text in it: want "table.column"`
	case len(s) > maxPlace || strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Sprintf("has a text in it that is too long, or has control characters: "+
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
	t, c, err := declare.ParsePlace(s)
	if err != nil || c == nil {
		return "", ""
	}
	return t.Exact, c.Exact
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
		if p, rest, err := declare.ParsePlace(strings.TrimSpace(part)); err != nil || rest != nil || p.Exact == "" {
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

// columnAt reads which column a section is about: at or, in the older words, table and column.
func columnAt(s *strict.Section) (table, column string) {
	table, columns := columnsAt(s, "column")
	return table, strings.Join(columns, "")
}

// columnsAt reads which columns a section is about, of one table: at or, in the older words, table and
// older.
func columnsAt(s *strict.Section, older string) (of string, all []string) {
	s.Older("table", older)
	at, one := []string(nil), older == "column"
	if one {
		at = append(at, s.Text("at", exact))
	} else {
		at = s.OneOrMore("at", exact)
	}
	if s.Has("table") || s.Has(older) {
		if s.Has("at") {
			s.Problem("at", "is set together with table or %s, the older words for it: want at alone", older)
		}
		if one {
			return table(s, "table"), []string{column(s, older)}
		}
		return table(s, "table"), columns(s, older)
	}
	s.Know("table", older)
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

// renamed is the key that a section has, of a word and the older one for it.
func renamed(s *strict.Section, key, older string) string {
	s.Know(key)
	switch {
	case !s.Has(older):
		return key
	case s.Has(key):
		s.Problem(key, "is set together with %s, the older word for it: want %s alone", older, key)
	}
	s.Know(older)
	return older
}
