package rules

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"mergesafe/internal/config"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/internal/strict"
	"mergesafe/merge/declare"
)

// Rewritten is a file of rules in the words of today: what it says is what the older file says.
type Rewritten struct {
	Text    string
	Changes []Change // in the order of the file
	Left    []Change // older words that stay as they are, and why
}

// Change is an older word in a file.
type Change struct {
	Line int    // in the older file, from 1
	Text string // for people: the older word and the new line, or why it stays
}

func (c Change) String() string { return fmt.Sprintf("line %d: %s", c.Line, c.Text) }

// ErrRewrite says that a file is right, and its older words are written in a way that Rewrite does not know.
var ErrRewrite = errors.New("the file cannot be rewritten: write the new words by hand, see docs/words.md")

// Rewrite puts the new words in the place of older ones, and leaves everything else as it is: comments,
// order, spaces. A text in new words comes back unchanged. accounts are columns of other files that
// have a limit: natural stays natural there, since shared would say more.
func Rewrite(file, text string, accounts []declare.AccountColumn) (w Rewritten, err error) {
	was, err := read(file, text)
	if err != nil {
		return w, err
	}
	r := &rewriter{accounts: slices.Concat(accounts, was.Check.Accounts), said: make(map[Change]bool)}
	const mark, windows = "\uFEFF", "\r\n" // of editors of Windows
	plain := strings.ReplaceAll(strings.TrimPrefix(text, mark), windows, "\n")
	for i, line := range strings.Split(plain, "\n") {
		r.lines = append(r.lines, line)
		r.from = append(r.from, i+1)
	}
	for r.step() {
	}
	w.Text = text
	if len(r.changes) > 0 {
		w.Text = strings.Join(r.lines, "\n")
		if strings.Contains(text, windows) {
			w.Text = strings.ReplaceAll(w.Text, "\n", windows)
		}
	}
	byLine := func(a, b Change) int { return a.Line - b.Line }
	w.Changes, w.Left = r.changes, r.left
	slices.SortStableFunc(w.Changes, byLine)
	slices.SortStableFunc(w.Left, byLine)
	now, err := read(file, w.Text)
	if err != nil || !reflect.DeepEqual(inNewWords(was), inNewWords(now)) {
		return Rewritten{}, fmt.Errorf("%s: %w", file, ErrRewrite)
	}
	return w, nil
}

// read reads a file of rules, or the rules of a config.toml.
func read(file, text string) (r Rules, err error) {
	r.silent = true
	_, err = config.Parse(file, text, r.Reader(file))
	return r, err
}

// inNewWords is what rules say, without what only the words tell apart: how a statement is called,
// and its line.
func inNewWords(r Rules) Rules {
	r.roots, r.Older = nil, nil
	for i := range r.Check.Rules {
		d := &r.Check.Rules[i]
		d.Shared, d.Natural = slices.Sorted(slices.Values(slices.Concat(d.Shared, d.Natural))), nil
		for k := range d.References {
			if ref := &d.References[k]; len(ref.Columns) == 1 && len(ref.ToColumns) == 1 {
				ref.At, ref.To = declare.Qualified(ref.Table, ref.Columns), declare.Qualified(ref.ToTable, ref.ToColumns)
				ref.Table, ref.Columns, ref.ToTable, ref.ToColumns = "", nil, "", nil
			}
		}
	}
	slices.SortFunc(r.Check.Accounts, func(a, b declare.AccountColumn) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Column, b.Column), a.Max-b.Max)
	})
	noLines(reflect.ValueOf(&r).Elem())
	return r
}

// noLines clears all fields that are called Line.
func noLines(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			noLines(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			noLines(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch f := v.Field(i); {
			case !f.CanSet():
			case v.Type().Field(i).Name == "Line":
				f.SetZero()
			default:
				noLines(f)
			}
		}
	}
}

// rewriter changes a file one older word at a time.
type rewriter struct {
	lines    []string
	from     []int // the lines of the older file that they were; 0: they are new
	accounts []declare.AccountColumn

	sections      []*section
	changes, left []Change
	said          map[Change]bool
}

// section is the statements of one section.
type section struct {
	strict.Statement // its head
	keys             []strict.Statement
}

func (s *section) key(name string) *strict.Statement {
	if i := slices.IndexFunc(s.keys, func(k strict.Statement) bool { return k.Key == name }); i >= 0 {
		return &s.keys[i]
	}
	return nil
}

// text is the text of a key, or the only one of its list; "" if it has no such.
func (s *section) text(name string) string {
	if k := s.key(name); k != nil {
		switch v := k.Value[name].(type) {
		case string:
			return v
		case []any:
			if text, ok := v[0].(string); ok && len(v) == 1 {
				return text
			}
		}
	}
	return ""
}

// texts are the texts of a list.
func (s *section) texts(name string) (all []string) {
	if k := s.key(name); k != nil {
		list, _ := k.Value[name].([]any)
		for _, v := range list {
			text, _ := v.(string)
			all = append(all, text)
		}
	}
	return all
}

// step changes the first older word that it finds; false if there is none to change.
func (r *rewriter) step() bool {
	r.sections = nil
	current := new(section)
	for _, s := range strict.Statements(r.lines) {
		if s.Head != "" {
			current = &section{Statement: s}
			r.sections = append(r.sections, current)
		} else {
			current.keys = append(current.keys, s)
		}
	}
	return slices.ContainsFunc(r.sections, func(s *section) bool {
		switch s.Head {
		case "check":
			return r.lists(s)
		case "check.unique":
			return r.columns(s, "columns")
		case "check.id":
			return r.columns(s, "column")
		case "check.account":
			return r.account(s)
		case "check.reference":
			return r.reference(s)
		case "merge.copy":
			return r.copied(s)
		case "merge.name":
			return r.columns(s, "column") || r.rename(s, "max_length", "max")
		case "merge.counter":
			return r.rename(s, "space", "to")
		case "check.world":
			return r.rename(s, "value", "by")
		case "merge.table":
			return r.rename(s, "columns", "set") || r.renumber(s)
		case "merge.space":
			return r.rename(s, "map", "offset") || r.rename(s, "step", "offset")
		}
		return false
	})
}

func (r *rewriter) changed(line int, format string, args ...any) bool {
	r.changes = append(r.changes, Change{r.from[line], fmt.Sprintf(format, args...)})
	return true
}

func (r *rewriter) stays(line int, format string, args ...any) bool {
	if c := (Change{r.from[line], fmt.Sprintf(format, args...)}); !r.said[c] {
		r.said[c] = true
		r.left = append(r.left, c)
	}
	return false
}

// put puts lines in the place of others.
func (r *rewriter) put(first, end int, lines ...string) {
	from := make([]int, len(lines))
	for i := range from {
		if first+i < end {
			from[i] = r.from[first+i]
		}
	}
	r.lines, r.from = slices.Replace(r.lines, first, end, lines...), slices.Replace(r.from, first, end, from...)
}

// comment returns the comment behind a statement, as a line of its own; "" if there is none.
func (r *rewriter) comment(s strict.Statement) string {
	line := r.lines[s.End-1]
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '#':
			return line[i:]
		case c == '"' || c == '\'':
			i += max(strict.Quoted(line[i:])-1, 0)
		}
	}
	return ""
}

// above is the first of the comment lines that stand directly above a line.
func (r *rewriter) above(line int) int {
	for line > 0 && strings.HasPrefix(strings.TrimSpace(r.lines[line-1]), "#") {
		line--
	}
	return line
}

// rename gives a key of one line another name. One that has the new key already stays as it is.
func (r *rewriter) rename(s *section, older, name string) bool {
	k := s.key(older)
	if k == nil {
		return false
	}
	if s.key(name) != nil {
		return r.stays(k.First, "%s is the older word for %s, which stands there as well", older, name)
	}
	before, after, _ := strings.Cut(r.lines[k.First], older)
	_, rest, _ := strings.Cut(after, "=")
	r.put(k.First, k.First+1, before+r.padded(s, name)+" ="+rest)
	rest = strings.TrimSpace(rest)
	return r.changed(k.First, "%s is now %s", older, name+" = "+rest)
}

// renumber writes which places renumber gives into braces.
func (r *rewriter) renumber(s *section) bool {
	keys := []string{"renumber", "within", "from", "max"}
	column, within := s.text("renumber"), s.key("within")
	if column == "" || within == nil {
		return false
	}
	columns := s.texts("within")
	if len(columns) == 0 {
		columns = []string{s.text("within")}
	}
	line := " = { column = " + printable.TOML(column) + ", within = " + oneOrMore(columns)
	for _, key := range keys[2:] {
		if k := s.key(key); k != nil {
			line += fmt.Sprintf(", %s = %d", key, k.Value[key])
		}
	}
	line += " }"
	r.changed(s.key("renumber").First, "renumber and within are now renumber%s", line)
	r.join(s, r.padded(s, "renumber")+line, keys...)
	return true
}

// join puts new lines in the place of several keys of one line each, at the first of them. Their
// comments stay, on lines of their own if there are several.
func (r *rewriter) join(s *section, line string, keys ...string) {
	var places []strict.Statement
	for _, k := range s.keys {
		if slices.Contains(keys, k.Key) {
			places = append(places, k)
		}
	}
	var comments []string
	for _, k := range places {
		if c := r.comment(k); c != "" {
			comments = append(comments, c)
		}
	}
	first := places[0]
	for _, k := range slices.Backward(places[1:]) {
		r.put(k.First, k.End)
	}
	lines := strings.Split(line, "\n")
	if len(comments) == 1 {
		lines[len(lines)-1] += " " + comments[0]
	} else {
		lines = append(comments, lines...)
	}
	r.put(first.First, first.End, lines...)
}

// columns writes table and column, or columns, as at.
func (r *rewriter) columns(s *section, older string) bool {
	table, names := s.text("table"), s.texts(older)
	if older == "column" {
		names = []string{s.text("column")}
	}
	if table == "" || s.key(older) == nil {
		return false
	}
	at := oneOrMore(declare.Qualified(table, names))
	r.changed(s.First, "table and %s are now at = %s", older, at)
	r.join(s, r.padded(s, "at")+" = "+at, "table", older)
	return true
}

// padded is a key with spaces behind it, so that its "=" stands below those of its section if they
// stand below each other.
func (r *rewriter) padded(s *section, key string) string {
	column, lengths := -1, make(map[int]bool)
	for _, k := range s.keys {
		at := strings.IndexByte(r.lines[k.First], '=')
		if column >= 0 && at != column {
			return key
		}
		column, lengths[len(k.Key)] = at, true
	}
	if len(lengths) < 2 {
		return key
	}
	return fmt.Sprintf("%-*s", column-1, key)
}

func oneOrMore(places []string) string {
	if len(places) == 1 {
		return printable.TOML(places[0])
	}
	return printable.TOMLList(places)
}

// copied writes a [[merge.copy]] as a reference by name.
func (r *rewriter) copied(s *section) bool {
	at := declare.Place(s.text("table"), s.text("column"))
	to := declare.Place(s.text("of_table"), s.text("of_column"))
	by := s.text("key")
	if len(s.keys) != 5 {
		return false
	}
	r.changed(s.First, "[[merge.copy]] is now [[check.reference]] with to = %s, at = [%s], by = %s", printable.TOML(to), printable.TOML(at), printable.TOML(by))
	var comments []string
	for _, k := range s.keys {
		if c := r.comment(k); c != "" {
			comments = append(comments, c)
		}
	}
	first, last := s.keys[0].First, s.keys[4].End
	for _, line := range r.lines[first:last] {
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "#") || trimmed == "" {
			comments = append(comments, line)
		}
	}
	lines := append(comments, "to = "+printable.TOML(to), "at = "+printable.TOMLList([]string{at}), "by = "+printable.TOML(by))
	r.put(first, last, lines...)
	r.put(s.First, s.First+1, strings.Replace(r.lines[s.First], "merge.copy", "check.reference", 1))
	return true
}

// reference writes a reference in the older words by at and to.
func (r *rewriter) reference(s *section) bool {
	if k := s.key("zero_is_none"); k != nil {
		r.stays(k.First, `zero_is_none is an older word: want none = [0] if the column holds numbers, none = [""] if it holds texts`)
	}
	table, toTable := s.text("table"), s.text("to_table")
	columns, toColumns := s.texts("columns"), s.texts("to_columns")
	if table == "" || len(columns) == 0 {
		return false
	}
	at, to := declare.Qualified(table, columns)[0], declare.Qualified(toTable, toColumns)[0]
	if len(columns) > 1 {
		at, to = together2(table, columns), together2(toTable, toColumns)
	} else if r.twice(s, at) {
		return r.stays(s.First, "another reference has the column %s too: in the older words both must hold; want one with at and to, or a when in each", at)
	}
	to, at = " = "+printable.TOML(to), " = "+printable.TOMLList([]string{at})
	r.changed(s.First, "table, columns, to_table and to_columns are now to%s, at%s", to, at)
	r.join(s, r.padded(s, "to")+to+"\n"+r.padded(s, "at")+at, "table", "columns", "to_table", "to_columns")
	return true
}

// twice reports whether another reference of the file has the column too.
func (r *rewriter) twice(s *section, at string) bool {
	return slices.ContainsFunc(r.sections, func(other *section) bool {
		columns := other.texts("columns")
		return other != s && other.Head == s.Head && (slices.Contains(other.texts("at"), at) || len(columns) == 1 && declare.Place(other.text("table"), columns[0]) == at)
	})
}

// together2 writes several columns together.
func together2(table string, columns []string) string {
	name := func(s string) string { return strings.TrimPrefix(declare.Place("t", s), "t.") }
	return strings.TrimSuffix(declare.Place(table, "c"), "c") + "(" + strings.Join(slice.Map(columns, name), ", ") + ")"
}

// lists writes natural as shared, and says what becomes of include and exclude.
func (r *rewriter) lists(s *section) bool {
	for _, older := range []string{"include", "exclude"} {
		if k := s.key(older); k != nil {
			r.stays(k.First, `%s is an older word: tables that it leaves out are NOT VERIFIED. To leave the rows of the sources behind, `+
				`write [[merge.table]] tables = ["log_*"], policy = "skip"; to look at some tables only, give -%[1]s on the command line`, older)
		}
	}
	natural := s.key("natural")
	if natural == nil {
		return false
	}
	for _, a := range r.accounts {
		for _, text := range s.texts("natural") {
			table, column, err := declare.ParsePlace(text)
			if err == nil && column != nil && table.Match(a.Table) && column.Match(a.Column) {
				return r.stays(natural.First, "natural is an older word, and has the account %s: move it to shared if the same value is one account in every world",
					declare.Place(a.Table, a.Column))
			}
		}
	}
	shared := s.key("shared")
	if shared == nil {
		before, _, _ := strings.Cut(r.lines[natural.First], "natural")
		_, after, _ := strings.Cut(r.lines[natural.First], "=")
		r.put(natural.First, natural.First+1, before+r.padded(s, "shared")+" ="+after)
		return r.changed(natural.First, "natural = [...] is now shared = [...]")
	}
	a, b := *natural, *shared
	if a.First > b.First {
		a, b = b, a
	}
	r.changed(natural.First, "natural = [...] is now in the list shared, which stands in line %d", r.from[shared.First])
	lines := []string{"shared = ["}
	for _, list := range []strict.Statement{a, b} {
		first := list.First
		if first == b.First {
			first = r.above(first)
		}
		for _, line := range r.lines[first:list.First] {
			lines = append(lines, strings.TrimRight("  "+strings.TrimSpace(line), " "))
		}
		lines = append(lines, r.inner(list)...)
	}
	lines = append(lines, "]")
	first, end := r.above(b.First), b.End
	if end < len(r.lines) && strings.TrimSpace(r.lines[end]) == "" {
		end++
	}
	r.put(first, end)
	r.put(a.First, a.End, lines...)
	return true
}

// inner is what stands between the brackets of a list, as lines, with a comma at the end.
func (r *rewriter) inner(list strict.Statement) (lines []string) {
	text := strings.Join(r.lines[list.First:list.End], "\n")
	elements, open, end := strict.Elements(text)
	inside := text[open+1 : end]
	if n := len(elements); n > 0 {
		last := elements[n-1].To - open - 1
		if !strings.HasPrefix(strings.TrimSpace(inside[last:]), ",") {
			inside = inside[:last] + "," + inside[last:]
		}
	}
	if behind := strings.TrimSpace(text[end+1:]); behind != "" {
		lines = append(lines, "  "+behind)
	}
	parts := strings.Split(inside, "\n")
	for i, line := range parts {
		if i == 0 || i == len(parts)-1 {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			line = "  " + line
		}
		lines = append(lines, line)
	}
	return lines
}

// account writes the limit of an account into the list shared, if the account is there.
func (r *rewriter) account(s *section) bool {
	place := declare.Place(s.text("table"), s.text("column"))
	entry := "{ at = " + printable.TOML(place)
	if k := s.key("max"); k != nil {
		entry += fmt.Sprintf(", max = %d", k.Value["max"])
	}
	entry += " }"
	for _, c := range r.sections {
		list := c.key("shared")
		if c.Head != "check" || list == nil {
			continue
		}
		values, _ := list.Value["shared"].([]any)
		if i := slices.Index(values, any(place)); i >= 0 {
			r.changed(s.First, "[[check.account]] is now an entry of shared: %s", entry)
			r.enter(*list, i, entry, s)
			return true
		}
	}
	return r.stays(s.First, "[[check.account]] is an older word: if the same value is one account in every world, write shared = [%s]", entry)
}

// enter puts an entry in the place of one of a list, with the comments of the section that it was, which goes.
func (r *rewriter) enter(list strict.Statement, element int, entry string, s *section) {
	first, end := r.above(s.First), s.keys[len(s.keys)-1].End
	var comments []string
	for _, line := range r.lines[first:end] {
		if i := strings.IndexByte(line, '#'); i >= 0 {
			comments = append(comments, "  "+line[i:])
		}
	}
	lines := r.lines[list.First:list.End]
	if len(comments) > 0 {
		lines = append(append([]string{"shared = ["}, r.inner(list)...), "]")
	}
	text := strings.Join(lines, "\n")
	elements, _, _ := strict.Elements(text)
	at := elements[element]
	before := text[:at.From]
	if start := strings.LastIndexByte(before, '\n') + 1; len(comments) > 0 {
		before = before[:start] + strings.Join(comments, "\n") + "\n" + before[start:]
	}
	lines = strings.Split(before+entry+text[at.To:], "\n")
	if end < len(r.lines) && strings.TrimSpace(r.lines[end]) == "" {
		end++
	}
	if first > list.First {
		r.put(first, end)
		r.put(list.First, list.End, lines...)
	} else {
		r.put(list.First, list.End, lines...)
		r.put(first, end)
	}
}
