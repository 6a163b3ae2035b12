package report

import (
	"cmp"
	_ "embed"
	"io"
	"regexp"
	"slices"
	"strings"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/verdict"
)

// View is what a person is told of a plan, of what became of it, or of a night of merges. It is written as text, as a page and
// as JSON, which say the same.
type View struct {
	Word     string          `json:"word"` // READY, DONE, FAIL
	Color    verdict.Verdict `json:"-"`    // that Word is shown in
	Sentence string          `json:"sentence"`
	Sections []Section       `json:"sections,omitempty"`
	Next     []Step          `json:"next,omitempty"`
}

// Section has a title and, in this order, sentences, a table, items, lines to paste, and steps.
type Section struct {
	ID       string     `json:"id"`
	Title    string     `json:"title"`
	Words    []string   `json:"words,omitempty"`
	Head     []string   `json:"head,omitempty"` // of the rows; rows without one are labels with their values
	Rows     [][]string `json:"rows,omitempty"`
	Items    []string   `json:"items,omitempty"`
	Commands []string   `json:"commands,omitempty"`
	Steps    []Step     `json:"steps,omitempty"`
	More     int        `json:"more,omitempty"`  // rows that are left out
	Where    string     `json:"where,omitempty"` // they are

	most  int  // rows and items of the text; 0: shownTables
	again bool // the text says it once more at its end
}

// Step is one thing to do, with the codes that ask for it and the commands that do it.
type Step struct {
	Text     string   `json:"text"`
	Codes    []string `json:"codes,omitempty"`
	Commands []string `json:"commands,omitempty"`
}

// Limits of the text. Pages and JSON have more.
const (
	shownTables  = 60
	mostRefusals = 40
	mostAgain    = 5
)

// maxRows limits the rows of a section that may have a million.
const maxRows = 1000

// Add adds sections, without those in which there is nothing.
func (v *View) Add(all ...Section) {
	for _, s := range all {
		if len(s.Words)+len(s.Rows)+len(s.Items)+len(s.Commands)+len(s.Steps) > 0 {
			v.Sections = append(v.Sections, s)
		}
	}
}

// Then adds a next step.
func (v *View) Then(text string, commands ...string) {
	v.Next = append(v.Next, Step{Text: text, Commands: slices.DeleteFunc(commands, func(c string) bool { return c == "" })})
}

// Hint is the first step on one line.
func (v *View) Hint() string {
	return strings.Join(append([]string{v.Next[0].Text}, v.Next[0].Commands...), " ")
}

// WriteText writes the view as text. It returns the error of w.
func (v *View) WriteText(w io.Writer, o TextOptions) error {
	t := newText(o)
	t.verdict(v.Word, v.Color, v.Sentence)
	t.sections(v.Sections)
	again := t.isLong()
	if len(v.Next) > 0 {
		t.WriteString("\n")
	}
	t.steps(0, v.Next)
	if again {
		t.WriteString("\n")
		for _, s := range v.Sections {
			if s.again {
				t.some(len(s.Items), mostAgain, andMore, func(i int) { t.line(2, s.Items[i]) })
			}
		}
		t.verdict(v.Word, v.Color, v.Sentence)
	}
	return t.to(w)
}

func (t *text) sections(all []Section) {
	for i := range all {
		t.section(&all[i])
	}
}

func (t *text) section(s *Section) {
	t.WriteString("\n")
	t.line(0, s.Title+":")
	for _, words := range s.Words {
		t.wrapped(2, "", words)
	}
	most := cmp.Or(s.most, shownTables)
	switch {
	case s.Head == nil:
		t.labels(s.Rows)
	case len(s.Rows) > 0:
		t.rows(s, most)
	}
	rest := func(n int64) string { return andMore(n) + s.where() }
	t.some(len(s.Items), most, rest, func(i int) { t.line(2, s.Items[i]) })
	t.verbatim(2, s.Commands)
	t.steps(2, s.Steps)
}

// steps writes what to do, with lines to paste.
func (t *text) steps(indent int, all []Step) {
	for _, s := range all {
		t.line(indent, s.Text)
		t.verbatim(indent+2, s.Commands)
	}
}

// labels writes rows of a label and its value.
func (t *text) labels(rows [][]string) {
	width := 0
	for _, row := range rows {
		width = max(width, columns.Width(printable.Text(row[0])))
	}
	for _, row := range rows {
		t.wrapped(2, columns.Pad(printable.Text(row[0]), width)+"  ", row[1])
	}
}

// rows writes the first rows of a section as a table or, where that is too wide, each with the heads of its columns.
func (t *text) rows(s *Section, most int) {
	n := min(len(s.Rows), most)
	all := append([][]string{s.Head}, s.Rows[:n]...)
	for i := range all {
		all[i] = slice.Map(all[i], printable.Text)
	}
	right := slices.Repeat([]columns.Column{{}}, len(s.Head))
	for i := range right {
		right[i].Right = s.Numbers(i)
	}
	lines := columns.Lines(all, right...)
	if t.width > 0 && slices.ContainsFunc(lines, func(line string) bool { return columns.Width(line)+2 > t.width }) {
		for _, row := range all[1:] {
			var cells []string
			for i, cell := range row[1:] {
				if cell != "" {
					cells = append(cells, strings.TrimPrefix(s.Head[i+1]+" ", " ")+cell)
				}
			}
			t.wrapped(2, row[0]+"  ", strings.Join(cells, ", "))
		}
	} else {
		t.lines(2, lines)
	}
	if rest := len(s.Rows) - n + s.More; rest > 0 {
		t.line(2, "and "+andMore(int64(rest))+s.where())
	}
}

func (s *Section) where() string {
	if s.Where == "" {
		return ""
	}
	return ": " + s.Where
}

var aNumber = regexp.MustCompile(`^([-+]?[0-9][0-9,.]*)?$`)

// Numbers reports whether all cells of a column are numbers, or empty.
func (s *Section) Numbers(column int) bool {
	return !slices.ContainsFunc(s.Rows, func(row []string) bool { return column < len(row) && !aNumber.MatchString(row[column]) })
}

// IsVerdict reports whether a cell is shown in the colour of a verdict.
func (s *Section) IsVerdict(column int) bool { return s.Head != nil && s.Head[column] == "verdict" }

// Folded reports whether a page shows the rows when it is asked to.
func (s *Section) Folded() bool { return s.most > 0 && len(s.Rows) > s.most }

//go:embed view.html
var viewPage string

// viewData is a page of a view.
type viewData struct {
	page
	*View
	Lines []string  // below the sentence: what it is of, and when
	Plan  []Section // on the page of an outcome: those of its plan that the view has not
	Check *Check    // nil: there was none
}

// writePage writes the page of a view.
func (v *View) writePage(w io.Writer, title string, lines []string, plan []Section, check *Check) error {
	more := new(View)
	more.Add(slices.DeleteFunc(plan, func(s Section) bool {
		return slices.ContainsFunc(v.Sections, func(o Section) bool { return o.ID == s.ID })
	})...)
	d := &viewData{page: page{Title: v.Word + ": " + title}, View: v, Lines: lines, Check: check, Plan: more.Sections}
	return d.write(w, viewPage, d)
}
