package rules

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/declare"
)

// older changes the first older word of a section, if it has any.
func (r *rewriter) older(s *section) bool {
	switch s.Head {
	case "check":
		return r.lists(s)
	case "check.account":
		return r.account(s)
	case "check.unique", "check.id", "merge.name":
		return r.columns(s) || r.rename(s, "max_length", "max")
	case "check.reference":
		return r.reference(s)
	case "check.world":
		return r.rename(s, "value", "by")
	case "merge.copy":
		return r.copied(s)
	case "merge.counter":
		return r.rename(s, "space", "to")
	case "merge.space":
		return r.rename(s, "map", "offset") || r.rename(s, "step", "offset")
	case "merge.table":
		return r.rename(s, "columns", "set") || r.renumber(s) || r.gone(s)
	}
	return false
}

// rename gives a key another name. If the section has the new key already, the older one stays.
func (r *rewriter) rename(s *section, older, name string) bool {
	k := s.key(older)
	if k == nil {
		return false
	}
	if s.key(name) != nil {
		return r.stays(k.First, "%s is the older word for %s, which stands there as well", older, name)
	}
	return r.changed(k.First, "%s is now %s =%s", older, name, r.rekey(s, k, name))
}

// columns writes table and column, or columns, as at.
func (r *rewriter) columns(s *section) bool {
	names := slices.Concat(s.texts("column"), s.texts("columns"))
	if s.text("table") == "" || len(names) == 0 {
		return false
	}
	older := []string{"table", "column"}
	if s.key("columns") != nil {
		older[1] = "columns"
	}
	return r.join(s, older, r.padded(s, "at")+" = "+oneOrMore(declare.Qualified(s.text("table"), names)))
}

func oneOrMore(texts []string) string {
	if len(texts) == 1 {
		return printable.TOML(texts[0])
	}
	return printable.TOMLList(texts)
}

// copied writes a [[merge.copy]] as a reference by name.
func (r *rewriter) copied(s *section) bool {
	r.put(s.First, s.First+1, strings.Replace(r.lines[s.First], "merge.copy", "check.reference", 1))
	return r.join(s, []string{"table", "column", "key", "of_table", "of_column"},
		"to = "+printable.TOML(declare.Place(s.text("of_table"), s.text("of_column"))),
		"at = "+printable.TOMLList([]string{declare.Place(s.text("table"), s.text("column"))}),
		"by = "+printable.TOML(s.text("key")))
}

// reference writes a reference in the older words by at and to.
func (r *rewriter) reference(s *section) bool {
	if k := s.key("zero_is_none"); k != nil {
		r.stays(k.First, `zero_is_none is an older word: want none = [0] if the column holds numbers, `+
			`none = [""] if it holds texts`)
	}
	columns := s.texts("columns")
	if len(columns) == 0 {
		return false
	}
	at, to := inOne(s.text("table"), columns), inOne(s.text("to_table"), s.texts("to_columns"))
	also := func(other *section) bool {
		columns := other.texts("columns")
		its := slices.Contains(other.texts("at"), at) || len(columns) == 1 && inOne(other.text("table"), columns) == at
		return other != s && other.Head == s.Head && its
	}
	if len(columns) == 1 && slices.ContainsFunc(r.sections, also) {
		return r.stays(s.First, "another reference has the column %s too: in the older words both must hold; "+
			"want one with at and to, or a when in each", at)
	}
	return r.join(s, []string{"table", "columns", "to_table", "to_columns"},
		r.padded(s, "to")+" = "+printable.TOML(to), r.padded(s, "at")+" = "+printable.TOMLList([]string{at}))
}

// inOne writes columns of one table as one text.
func inOne(table string, columns []string) string {
	if len(columns) == 1 {
		return declare.Place(table, columns[0])
	}
	name := func(s string) string { return strings.TrimPrefix(declare.Place("t", s), "t.") }
	return name(table) + ".(" + strings.Join(slice.Map(columns, name), ", ") + ")"
}

// renumber writes the places that renumber gives into braces.
func (r *rewriter) renumber(s *section) bool {
	if s.text("renumber") == "" || len(s.texts("within")) == 0 {
		return false
	}
	keys := []string{"renumber", "within"}
	line := " = { column = " + printable.TOML(s.text("renumber")) + ", within = " + oneOrMore(s.texts("within"))
	for _, key := range []string{"from", "max"} {
		if n := s.values[key]; n != nil {
			keys, line = append(keys, key), line+fmt.Sprintf(", %s = %d", key, n)
		}
	}
	return r.join(s, keys, r.padded(s, "renumber")+line+" }")
}

// gone writes what rows says of a table into the references to it that this file has.
func (r *rewriter) gone(s *section) bool {
	k := s.key("rows")
	if k == nil {
		return false
	}
	line := "gone = " + printable.TOML(s.text("rows"))
	said := "rows of " + strings.Join(s.texts("tables"), ", ")
	var lacking []*section
	refer := false
	for _, ref := range r.sections {
		if ref.Head != "check.reference" || !refersTo(append(ref.texts("to"), ref.text("to_table")), s.texts("tables")) {
			continue
		}
		if refer = true; ref.key("gone") == nil {
			lacking = append(lacking, ref)
		}
	}
	switch {
	case !refer:
		return r.stays(k.First, "%s is an older word, and stays: no reference of this file names these rows, and the file "+
			"does not know the foreign keys; for each write [[check.reference]] to = %s, at = [\"TABLE.COLUMN\"], %s", said,
			printable.TOML(strings.Join(s.texts("tables")[:min(1, len(s.texts("tables")))], "")+".KEY"), line)
	case len(lacking) == 0:
		r.changed(k.First, "%s: now said by gone of each reference to it; a foreign key needs a [[check.reference]] of "+
			"its own", said)
		r.put(k.First, k.End, r.comments(k.First, k.End)...)
		return true
	}
	last := lacking[0].keys[len(lacking[0].keys)-1]
	r.changed(k.First, "%s: now %s in the [[check.reference]] with at = %s", said, line,
		printable.TOMLList(lacking[0].texts("at")))
	r.put(last.End, last.End, r.padded(lacking[0], "gone")+line[len("gone"):])
	return true
}

// refersTo reports whether one of some columns is of one of some tables, which may be patterns.
func refersTo(to, tables []string) bool {
	return slices.ContainsFunc(tables, func(text string) bool {
		pattern, _, err := declare.ParsePlace(text)
		return err == nil && slices.ContainsFunc(to, func(place string) bool {
			table, _, _ := strings.Cut(place, ".")
			return pattern.Match(table)
		})
	})
}

// lists writes natural as shared, and says that include and exclude stay.
func (r *rewriter) lists(s *section) bool {
	for _, older := range []string{"include", "exclude"} {
		if k := s.key(older); k != nil {
			r.stays(k.First, `%s is an older word: tables that it leaves out are NOT VERIFIED. To leave the rows of `+
				`the sources behind, write [[merge.table]] tables = ["log_*"], policy = "skip"; `+
				`to look at some tables only, give -%[1]s on the command line`, older)
		}
	}
	natural, shared := s.key("natural"), s.key("shared")
	if natural == nil {
		return false
	}
	for _, a := range r.accounts {
		for _, text := range s.texts("natural") {
			table, column, err := declare.ParsePlace(text)
			if err == nil && column != nil && table.Match(a.Table) && column.Match(a.Column) {
				return r.stays(natural.First, "natural is an older word, and has the account %s: "+
					"move it to shared if the same value is one account in every world", declare.Place(a.Table, a.Column))
			}
		}
	}
	if shared == nil {
		r.rekey(s, natural, "shared")
		return r.changed(natural.First, "natural = [...] is now shared = [...]")
	}
	r.changed(natural.First, "natural = [...] is now in the list shared, which stands in line %d", r.from[shared.First])
	a, b := *natural, *shared
	if a.First > b.First {
		a, b = b, a
	}
	lines := append([]string{"shared = ["}, r.inner(a.First, a.End)...)
	above := r.above(b.First)
	for _, line := range r.lines[above:b.First] {
		lines = append(lines, "  "+strings.TrimSpace(line))
	}
	lines = append(append(lines, r.inner(b.First, b.End)...), "]")
	r.drop(above, b.End)
	r.put(a.First, a.End, lines...)
	return true
}

// drop takes lines out, with an empty one behind them.
func (r *rewriter) drop(first, end int) {
	if end < len(r.lines) && strings.TrimSpace(r.lines[end]) == "" {
		end++
	}
	r.put(first, end)
}

// inner is what stands between the brackets of a list, as lines, with a comma at the end. The comment
// behind the list comes first.
func (r *rewriter) inner(first, end int) (lines []string) {
	behind, last := []string(nil), -1 // the last line with a value
	for i := first; i < end; i++ {
		line := r.lines[i]
		code, comment := cutComment(line)
		if i == first {
			_, code, _ = strings.Cut(code, "[")
		}
		if i == end-1 {
			code = code[:max(0, strings.LastIndexByte(code, ']'))]
			if comment != "" {
				behind, comment = []string{"  " + comment}, ""
			}
		}
		if i == first || i == end-1 {
			if line = "  " + strings.TrimSpace(code+comment); line == "  " {
				continue
			}
		}
		if strings.TrimSpace(code) != "" {
			last = len(lines)
		}
		lines = append(lines, line)
	}
	if last >= 0 {
		code, comment := cutComment(lines[last])
		if value := strings.TrimRight(code, " \t"); !strings.HasSuffix(value, ",") {
			lines[last] = value + "," + code[len(value):] + comment
		}
	}
	return append(behind, lines...)
}

// account writes the limit of an account into the list shared, if the account is there by its name.
func (r *rewriter) account(s *section) bool {
	place := declare.Place(s.text("table"), s.text("column"))
	entry := "{ at = " + printable.TOML(place)
	if n := s.values["max"]; n != nil {
		entry += fmt.Sprintf(", max = %d", n)
	}
	entry += " }"
	for _, c := range r.sections {
		if list := c.key("shared"); list != nil && c.Head == "check" && slices.Contains(c.texts("shared"), place) {
			lines, ok := entered(slices.Clone(r.lines[list.First:list.End]), place, entry)
			if !ok {
				continue
			}
			r.changed(s.First, "[[check.account]] is now an entry of shared: %s", entry)
			first, end := r.above(s.First), s.keys[len(s.keys)-1].End
			lines = append(r.comments(first, end), lines...)
			if first > list.First {
				r.drop(first, end)
				r.put(list.First, list.End, lines...)
			} else {
				r.put(list.First, list.End, lines...)
				r.drop(first, end)
			}
			return true
		}
	}
	return r.stays(s.First, "[[check.account]] is an older word: if the same value is one account in every world, "+
		"write shared = [%s]", entry)
}

// entered puts an entry in the place of a text in the lines of a list.
func entered(lines []string, text, entry string) ([]string, bool) {
	for i, line := range lines {
		code, comment := cutComment(line)
		for _, quoted := range []string{printable.TOML(text), "'" + text + "'"} {
			if before, after, has := strings.Cut(code, quoted); has {
				lines[i] = before + entry + after + comment
				return lines, true
			}
		}
	}
	return nil, false
}
