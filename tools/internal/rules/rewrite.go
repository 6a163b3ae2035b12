package rules

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/config"
	"mergesafe/internal/strict"
	"mergesafe/merge/declare"
)

// Rewritten is a file of rules in the words of today: what it says is what the older file says.
type Rewritten struct {
	Text    string
	Changes []Change // in the order in which they were made
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
	const mark, windows = "\uFEFF", "\r\n" // of editors of Windows
	plain := strings.ReplaceAll(strings.TrimPrefix(text, mark), windows, "\n")
	r := &rewriter{lines: strings.Split(plain, "\n"), accounts: slices.Concat(accounts, was.Check.Accounts)}
	for i := range r.lines {
		r.from = append(r.from, i+1)
	}
	for r.step() {
	}
	w = Rewritten{text, r.changes, r.left}
	if len(w.Changes) > 0 {
		w.Text = strings.Join(r.lines, "\n")
		if strings.Contains(text, windows) {
			w.Text = strings.ReplaceAll(w.Text, "\n", windows)
		}
	}
	now, err := read(file, w.Text)
	if err != nil || said(was) != said(now) {
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

// said is what rules say, without what only the words tell apart: where a statement is, whether a column is
// called natural, and a reference of one column in the older words.
func said(r Rules) string {
	for i := range r.Check.Rules {
		d := &r.Check.Rules[i]
		d.Shared, d.Natural = slices.Sorted(slices.Values(slices.Concat(d.Shared, d.Natural))), nil
		for k := range d.References {
			if ref := &d.References[k]; len(ref.Columns) == 1 && len(ref.ToColumns) == 1 {
				ref.At = declare.Qualified(ref.Table, ref.Columns)
				ref.To = declare.Qualified(ref.ToTable, ref.ToColumns)
				ref.Table, ref.Columns, ref.ToTable, ref.ToColumns = "", nil, "", nil
			}
		}
	}
	for i := range r.Names {
		r.Names[i].Line = 0
	}
	for i := range r.Check.Tables {
		goneFor(&r.Check.Tables[i], r.Check.Rules)
	}
	o := r.Check
	slices.SortFunc(o.Accounts, func(a, b declare.AccountColumn) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
	text, err := json.Marshal([]any{
		o.Include, o.Exclude, o.Tables, o.Rules, o.Uniques, o.IDs, o.Accounts, o.Worlds, o.Rekey, r.Names, r.Copies, r.Fleet,
	})
	if err != nil {
		panic(err) // of data alone
	}
	return string(text)
}

// goneFor says what rows says of a table by gone of the references to it; without one, rows stays.
func goneFor(p *declare.TablePolicy, all []declare.Declarations) {
	refer := false
	for i := range all {
		for k := range all[i].References {
			if r := &all[i].References[k]; p.Rows != "" && refersTo(r.To, p.Tables) {
				refer, r.Gone = true, cmp.Or(r.Gone, p.Rows)
			}
		}
	}
	if refer {
		p.Rows = ""
	}
}

// rewriter changes a file one older word at a time.
type rewriter struct {
	lines    []string
	from     []int // the lines of the older file that they were; 0: they are new
	accounts []declare.AccountColumn

	sections      []*section
	ends          map[int]bool // lines behind a statement
	changes, left []Change
}

// section is one section of the file.
type section struct {
	strict.Statement // its head
	keys             []strict.Statement
	values           map[string]any
}

func (s *section) key(name string) *strict.Statement {
	if i := slices.IndexFunc(s.keys, func(k strict.Statement) bool { return k.Key == name }); i >= 0 {
		return &s.keys[i]
	}
	return nil
}

// texts is the text of a key, or those of its list.
func (s *section) texts(name string) (all []string) {
	list, several := s.values[name].([]any)
	if !several {
		list = []any{s.values[name]}
	}
	for _, v := range list {
		if text, is := v.(string); is {
			all = append(all, text)
		}
	}
	return all
}

func (s *section) text(name string) string { return strings.Join(s.texts(name), "") }

// step changes the first older word that it finds; false if there is none to change.
func (r *rewriter) step() bool {
	r.sections, r.left, r.ends = nil, nil, make(map[int]bool)
	current := &section{values: make(map[string]any)}
	for _, s := range strict.Statements(r.lines) {
		r.ends[s.End] = true
		if s.Head != "" {
			current = &section{Statement: s, values: make(map[string]any)}
			r.sections = append(r.sections, current)
			continue
		}
		current.keys = append(current.keys, s)
		maps.Copy(current.values, s.Value)
	}
	return slices.ContainsFunc(r.sections, r.older)
}

func (r *rewriter) changed(line int, format string, args ...any) bool {
	r.changes = append(r.changes, Change{r.from[line], fmt.Sprintf(format, args...)})
	return true
}

func (r *rewriter) stays(line int, format string, args ...any) bool {
	r.left = append(r.left, Change{r.from[line], fmt.Sprintf(format, args...)})
	return false
}

// put puts lines in the place of others.
func (r *rewriter) put(first, end int, lines ...string) {
	from := make([]int, len(lines))
	copy(from, r.from[first:end])
	r.lines, r.from = slices.Replace(r.lines, first, end, lines...), slices.Replace(r.from, first, end, from...)
}

// join puts new lines in the place of several keys, at the first of them. Their comments stay, behind
// the last line or, if there are several, above. It returns false if the keys are not written plainly.
func (r *rewriter) join(s *section, keys []string, lines ...string) bool {
	var places []strict.Statement
	var comments []string
	for _, k := range s.keys {
		if slices.Contains(keys, k.Key) {
			places, comments = append(places, k), append(comments, r.comments(k.First, k.End)...)
		}
	}
	if len(places) == 0 {
		return false
	}
	r.changed(s.First, "%s: now %s", strings.Join(keys, ", "), strings.Join(lines, ", "))
	if len(comments) == 1 {
		lines[len(lines)-1] += " " + comments[0]
	} else {
		lines = append(comments, lines...)
	}
	for _, k := range slices.Backward(places[1:]) {
		r.put(k.First, k.End)
	}
	r.put(places[0].First, places[0].End, lines...)
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

// above is the first of the comment lines that stand directly above a line.
func (r *rewriter) above(line int) int {
	for line > 0 && !r.ends[line] && strings.HasPrefix(strings.TrimSpace(r.lines[line-1]), "#") {
		line--
	}
	return line
}

// comments are those of some lines.
func (r *rewriter) comments(first, end int) (all []string) {
	for _, line := range r.lines[first:end] {
		if _, c := cutComment(line); c != "" {
			all = append(all, c)
		}
	}
	return all
}

// rekey writes another name in the place of a key, and returns what stands behind its "=".
func (r *rewriter) rekey(s *section, k *strict.Statement, name string) (value string) {
	before, after, _ := strings.Cut(r.lines[k.First], k.Key)
	_, value, _ = strings.Cut(after, "=")
	r.put(k.First, k.First+1, before+r.padded(s, name)+" ="+value)
	return value
}

// cutComment takes the comment off the end of a line.
func cutComment(line string) (code, comment string) {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '#':
			return line[:i], line[i:]
		case '"', '\'':
			i += strict.Quoted(line[i:]) - 1
		}
	}
	return line, ""
}
