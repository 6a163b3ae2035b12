package htmlreport

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/transfer"
)

// view is what the template shows: the report, arranged for reading.
type view struct {
	document
	Before, After string // what the headline says around the names
	Report        *merge.Report
	Steps         []step
	Timeline      *timeline
	Failed        []finding
	Allowed       []finding
	Gaps          []gap
	Tables        []table
	Keys          []keys
	Passed        []passed
}

// count is one of the figures below the headline.
type count struct {
	Number int
	What   string
	Anchor string
}

// step is something to do, once, with the codes that it is for.
type step struct {
	Codes []string
	Text  string
}

// finding is a result that did not pass.
type finding struct {
	merge.Result
	Meaning string
	Samples []sample
}

// sample is a conflict with its rows side by side, a grid for each table that
// they are from.
type sample struct {
	Key     string
	Grids   []grid
	Omitted int64
}

// grid has a row for every column of a table, so that what differs stands out
// and many columns fit a narrow screen.
type grid struct {
	Table   string // if it is not the result's
	Sources []string
	Lines   []gridLine
}

type gridLine struct {
	Column  string
	Differs bool
	Cells   []cell
}

// cell is one value. Missing ones belong to a column that the row has not.
type cell struct {
	Text          string
	Null, Missing bool
}

// gap is a reason why something could not be looked at, with all that it
// concerns.
type gap struct {
	merge.Gap
	Results []merge.Result
}

// table is what the databases hold of one table, and how it fared. Its verdict
// is what was established, whatever the operator allows.
type table struct {
	Name    string
	Rows    []string // one for every source; "" where it was not read
	Verdict merge.Verdict
	Codes   []string // those that did not pass
}

// keys are the ends of the primary key of one table in one database.
type keys struct{ Source, Table, First, Last string }

// passed is what passed of one code.
type passed struct {
	merge.Code
	Read   int64
	Places []string
}

func newView(r *merge.Report) *view {
	v := &view{
		document: document{Verdict: string(r.Verdict), Headline: headline(r), Target: r.Target},
		Report:   r,
		Timeline: newTimeline(r),
		Steps:    steps(r.Results),
		Gaps:     gaps(r.Results),
		Tables:   tables(r),
		Keys:     keyRanges(r),
		Passed:   passes(r.Results),
	}
	if r.Incomplete != "" {
		v.Verdict = "INCOMPLETE"
	}
	meanings := make(map[string]string)
	for _, c := range merge.Codes() {
		meanings[c.Code] = c.Meaning
	}
	var unsure, passed int
	for _, result := range r.Results {
		f := newFinding(result, meanings[result.Code])
		switch {
		case result.Verdict == merge.Pass:
			passed++
		case result.CountsAs == merge.Pass:
			v.Allowed = append(v.Allowed, f)
		case cmp.Or(result.CountsAs, result.Verdict) == merge.Fail:
			v.Failed = append(v.Failed, f)
		default:
			unsure++
		}
	}
	v.Title = v.Verdict + ": " + v.Headline
	v.Before, v.After = sentence(v.Verdict)
	v.Counts = []count{{len(v.Failed), "failed", "failed"}, {unsure, "not verified", "gaps"}}
	if len(v.Allowed) > 0 {
		v.Counts = append(v.Counts, count{len(v.Allowed), "allowed by the operator", "allowed"})
	}
	v.Counts = append(v.Counts, count{passed, "passed", "passed"})
	return v
}

// sentence is what a verdict says before and after the names of the databases.
func sentence(verdict string) (before, after string) {
	switch merge.Verdict(verdict) {
	case merge.Pass:
		return "Nothing stands against merging", "."
	case merge.Fail:
		return "Merging", " is not safe."
	case merge.NotVerified:
		return "Nothing was found against merging", ", but not everything could be looked at."
	default:
		return "No verdict on merging", "."
	}
}

func headline(r *merge.Report) string {
	var names []string
	for _, s := range r.Sources {
		if s.Name != r.Target {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, ", ") + " into " + r.Target
}

func newFinding(r merge.Result, meaning string) finding {
	f := finding{Result: r, Meaning: meaning}
	for _, s := range r.Samples {
		f.Samples = append(f.Samples, newSample(s))
	}
	return f
}

func newSample(s merge.Sample) sample {
	var tables []string
	rows := make(map[string][]merge.SampleRow)
	for _, row := range s.Rows {
		if rows[row.Table] == nil {
			tables = append(tables, row.Table)
		}
		rows[row.Table] = append(rows[row.Table], row)
	}
	out := sample{Key: s.Key, Omitted: s.Omitted}
	for _, name := range tables {
		out.Grids = append(out.Grids, newGrid(name, rows[name]))
	}
	return out
}

func newGrid(name string, rows []merge.SampleRow) grid {
	g := grid{Table: name}
	var columns []string
	for _, row := range rows {
		g.Sources = append(g.Sources, row.Source)
		for _, f := range row.Fields {
			if !slices.Contains(columns, f.Column) {
				columns = append(columns, f.Column)
			}
		}
	}
	for _, column := range columns {
		line := gridLine{Column: column}
		for _, row := range rows {
			c := cell{Missing: true}
			for _, f := range row.Fields {
				if f.Column == column {
					c = cell{Text: f.Value, Null: f.Null}
				}
			}
			line.Differs = line.Differs || len(line.Cells) > 0 && c != line.Cells[0]
			line.Cells = append(line.Cells, c)
		}
		g.Lines = append(g.Lines, line)
	}
	return g
}

// steps are those of what failed, then those of what is not verified.
func steps(results []merge.Result) []step {
	var all []step
	for _, verdict := range []merge.Verdict{merge.Fail, merge.NotVerified} {
		for _, r := range results {
			if r.Verdict != verdict || r.CountsAs == merge.Pass {
				continue
			}
			for _, text := range r.Next {
				i := slices.IndexFunc(all, func(s step) bool { return s.Text == text })
				if i < 0 {
					i = len(all)
					all = append(all, step{Text: text})
				}
				if !slices.Contains(all[i].Codes, r.Code) {
					all[i].Codes = append(all[i].Codes, r.Code)
				}
			}
		}
	}
	return all
}

// gaps groups what was not looked at by reason: one missing registry concerns
// many checks. What is allowed stands elsewhere.
func gaps(results []merge.Result) []gap {
	var all []gap
	for _, r := range results {
		if r.CountsAs == merge.Pass {
			continue
		}
		for _, g := range r.Gaps {
			i := slices.IndexFunc(all, func(other gap) bool { return other.Gap == g })
			if i < 0 {
				i = len(all)
				all = append(all, gap{Gap: g})
			}
			all[i].Results = append(all[i].Results, r)
		}
	}
	return all
}

func tables(r *merge.Report) []table {
	found := make(map[string]*table)
	get := func(name string) *table {
		if found[name] == nil {
			found[name] = &table{Name: name, Rows: make([]string, len(r.Sources))}
		}
		return found[name]
	}
	for i, s := range r.Sources {
		for _, t := range s.Tables {
			get(t.Table).Rows[i] = printable.Number(t.Rows)
		}
	}
	for _, result := range r.Results {
		if result.Table == "" {
			continue
		}
		t := get(result.Table)
		if t.Verdict == "" || badness(result.Verdict) > badness(t.Verdict) {
			t.Verdict = result.Verdict
		}
		code := result.Code
		if result.CountsAs == merge.Pass {
			code += " (allowed)"
		}
		if result.Verdict != merge.Pass && !slices.Contains(t.Codes, code) {
			t.Codes = append(t.Codes, code)
		}
	}
	var all []table
	for _, t := range found {
		t.Verdict = cmp.Or(t.Verdict, merge.NotVerified)
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b table) int {
		return cmp.Or(badness(b.Verdict)-badness(a.Verdict), strings.Compare(a.Name, b.Name))
	})
	return all
}

// keyRanges are by table, so that what follows on what can be seen.
func keyRanges(r *merge.Report) []keys {
	var all []keys
	for _, s := range r.Sources {
		for _, t := range s.Tables {
			if t.First != "" || t.Last != "" {
				all = append(all, keys{s.Name, t.Table, t.First, t.Last})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b keys) int { return strings.Compare(a.Table, b.Table) })
	return all
}

func badness(v merge.Verdict) int {
	return slices.Index([]merge.Verdict{merge.Pass, merge.NotVerified, merge.Fail}, v)
}

func passes(results []merge.Result) []passed {
	var all []passed
	for _, code := range merge.Codes() {
		p := passed{Code: code}
		n := 0
		for _, r := range results {
			if r.Code != code.Code || r.Verdict != merge.Pass {
				continue
			}
			n++
			p.Read += r.Read
			if place := where(r); place != "" {
				p.Places = append(p.Places, place)
			}
		}
		if n > 0 {
			all = append(all, p)
		}
	}
	return all
}

// where names the table and the columns of a result.
func where(r merge.Result) string { return strings.TrimSpace(r.Table + "  " + r.Subject) }

func functions() template.FuncMap {
	return template.FuncMap{
		"pieces": printable.Pieces,
		"plain":  printable.Text,
		"number": printable.Number,
		"some":   func(n int, one, many string) string { return printable.Count(int64(n), one, many) },
		"stamp":  stamp,
		"where":  where,
		"class":  class,
		"rows":   rowsOf,
		"key":    transfer.KeyText,
		"inc":    func(i int) int { return i + 1 },
		"lines":  func(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") },
	}
}

// class is the name of a verdict, or of the outcome of a merge, in the style
// sheet.
func class(verdict any) string {
	switch fmt.Sprint(verdict) {
	case string(merge.Pass), "DONE":
		return "pass"
	case string(merge.Fail), "REFUSED", "CHANGED":
		return "fail"
	default:
		return "unsure"
	}
}

func rowsOf(s merge.Summary) string {
	var n int64
	for _, t := range s.Tables {
		n += t.Rows
	}
	return printable.Number(n)
}

// stamp is how times are written; "" for one that is not known.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
