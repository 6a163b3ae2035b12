package htmlreport

import (
	_ "embed"
	"io"
	"time"

	"mergesafe/gameid"
	"mergesafe/merge"
	"mergesafe/merge/transfer"
)

//go:embed merge.html
var mergePage string

// Merge is what came of carrying a plan out, of proving it, or of taking it
// back, in the words of the program that did it.
type Merge struct {
	Command      string // as it was given: "apply", "undo -force"
	Began, Ended time.Time

	// Outcome is how it ended: DONE, PASS, FAIL, NOT VERIFIED, REFUSED, CHANGED
	// or STOPPED. Sentence says what that means.
	Outcome, Sentence string

	Details  []string           // what else there is to know
	Samples  []string           // rows that are not as they were copied, the first of them
	Next     []Step             // what to do now
	Refusals []transfer.Refusal // why it was not begun

	Plan   *transfer.Plan
	Status *transfer.Status // where the merge is afterwards; nil if that could not be seen
	Proof  *transfer.Proof  // nil unless the merge was verified

	// Unequal says of tables of Proof, by name, in what they are not as
	// planned.
	Unequal map[string][]string

	// Document is put inside, as JSON.
	Document any
}

// Step is something to do, with the commands that do it.
type Step struct {
	Text     string
	Commands []string
}

// WriteMerge writes what came of a merge as HTML. It returns the error of w.
func WriteMerge(w io.Writer, m *Merge) error {
	v := newMergeView(m)
	return v.write(w, mergePage, v, m.Document)
}

// maxRenames is how many renames are shown: a merge may have a million.
const maxRenames = 1000

// mergeView is what the template shows of a merge.
type mergeView struct {
	document
	Merge     *Merge
	Plan      *transfer.Plan
	Unequal   []unequal
	Servers   []mergeServer
	Databases []string // that have rows
	Sums      []sum
	Tables    []mergeTable
	Total     []int64
	Check     *view // of the result; nil if there was none
	Renames   []transfer.Rename
}

// unequal is a table that is not as planned.
type unequal struct {
	Table string
	Lines []string
}

// mergeServer is a server of a database that takes part, or a database without
// a registry.
type mergeServer struct {
	Database, Role string
	Server, Name   string
	After          string // what becomes of it
	Fence          string
	Mark           time.Time
}

// mergeTable has the rows of each database, then the sums.
type mergeTable struct {
	Name    string
	Verdict merge.Verdict // of the proof
	Rows    []int64
}

func newMergeView(m *Merge) *mergeView {
	p := m.Plan
	v := &mergeView{
		document: document{Title: m.Outcome + ": " + m.Command + ", " + intoTarget(p), Verdict: m.Outcome, Headline: m.Sentence},
		Merge:    m, Plan: p,
		Servers: mergeServers(m),
		Sums:    newSums(m),
		Renames: p.Renames[:min(len(p.Renames), maxRenames)],
	}
	v.addTables()
	if m.Proof != nil {
		for _, t := range m.Proof.Tables {
			if lines := m.Unequal[t.Table]; len(lines) > 0 {
				v.Unequal = append(v.Unequal, unequal{t.Table, lines})
			}
		}
		if m.Proof.Check != nil {
			v.Check = newResultView(m.Proof.Check)
		}
	}
	v.addCounts()
	return v
}

// newResultView is the check of a merge that was carried out. What the rules
// advise is for before a merge, and is left out.
func newResultView(r *merge.Report) *view {
	v := newView(r)
	for _, list := range [][]finding{v.Failed, v.Allowed} {
		for i := range list {
			list[i].Next = nil
		}
	}
	return v
}

// intoTarget is, for example, "s2, s3 into s1".
func intoTarget(p *transfer.Plan) string {
	r := &merge.Report{Target: p.Target.Name}
	for _, w := range p.Sources {
		r.Sources = append(r.Sources, merge.Summary{Name: w.Name})
	}
	return headline(r)
}

func (v *mergeView) addCounts() {
	add := func(n int, one, many, anchor string) {
		what := many
		if n == 1 {
			what = one
		}
		v.Counts = append(v.Counts, count{n, what, anchor})
	}
	if n := len(v.Merge.Refusals); n > 0 {
		add(n, "reason against it", "reasons against it", "refusals")
	}
	if proof := v.Merge.Proof; proof != nil {
		failed := 0
		for _, t := range proof.Tables {
			if t.Verdict != merge.Pass {
				failed++
			}
		}
		add(failed, "table not as planned", "tables not as planned", "tables")
		add(len(proof.Tables)-failed, "table as planned", "tables as planned", "tables")
		if v.Check != nil {
			add(len(proof.Findings), "finding in the result", "findings in the result", "check")
		}
	} else {
		add(len(v.Tables), "table", "tables", "tables")
	}
	if n := len(v.Plan.Renames); n > 0 {
		add(n, "rename", "renames", "renames")
	}
	if n := len(v.Plan.Left); n > 0 {
		add(n, "table not copied", "tables not copied", "left")
	}
}

func mergeServers(m *Merge) (all []mergeServer) {
	add := func(w transfer.World, role string, source bool) {
		if len(w.Servers) == 0 {
			all = append(all, mergeServer{Database: w.Name, Role: role})
		}
		for _, s := range w.Servers {
			line := mergeServer{Database: w.Name, Role: role, Server: s.Server.String(), Name: s.Name, After: "goes on", Mark: gameid.TimeOf(s.Mark)}
			switch {
			case source && s.Own:
				line.After, line.Fence = "ends", fence(m.Status, w, s)
			case source:
				line.After = "comes along"
			}
			all = append(all, line)
		}
	}
	add(m.Plan.Target, "target", false)
	for _, w := range m.Plan.Sources {
		add(w, "merged in", true)
	}
	return all
}

// fence says whether a server is kept from being started, as it was seen after
// the work.
func fence(at *transfer.Status, w transfer.World, s transfer.Server) string {
	switch {
	case !w.Fence:
		return "not planned"
	case at == nil:
		return "not known"
	}
	for _, f := range at.Fences {
		if f.Source == w.Name && f.Server == s.Server.String() && f.Fenced {
			return "fenced"
		}
	}
	return "not fenced"
}

// sum is a column of numbers that stands beside the rows of each database.
type sum struct {
	Head string
	of   func(*transfer.Table) int64
}

// newSums are the rows as planned, and beside them what was found now where the
// merge was verified, or how far it came where that is known.
func newSums(m *Merge) []sum {
	all := []sum{{"together", func(t *transfer.Table) int64 { return t.Target.Rows + t.Rows() }}}
	if m.Proof != nil {
		found := make(map[string]int64)
		for _, t := range m.Proof.Tables {
			found[t.Table] = t.Rows
		}
		return append(all, sum{"found now", func(t *transfer.Table) int64 { return found[t.Name] }})
	}
	if m.Status == nil || m.Status.State == transfer.StateNone {
		return all
	}
	at := make(map[string]transfer.TableStatus)
	for _, t := range m.Status.Tables {
		at[t.Table] = t
	}
	all = append(all, sum{"copied", func(t *transfer.Table) int64 { return at[t.Name].Copied }})
	if m.Status.State == transfer.StateUndoing {
		all = append(all, sum{"removed again", func(t *transfer.Table) int64 { return at[t.Name].Removed }})
	}
	return all
}

// addTables adds the tables with their rows.
func (v *mergeView) addTables() {
	verdicts := make(map[string]merge.Verdict)
	if v.Merge.Proof != nil {
		for _, t := range v.Merge.Proof.Tables {
			verdicts[t.Table] = t.Verdict
		}
	}
	v.Databases = []string{v.Plan.Target.Name}
	for _, w := range v.Plan.Sources {
		v.Databases = append(v.Databases, w.Name)
	}
	v.Total = make([]int64, len(v.Databases)+len(v.Sums))
	for i := range v.Plan.Tables {
		t := &v.Plan.Tables[i]
		line := mergeTable{Name: t.Name, Verdict: verdicts[t.Name], Rows: []int64{t.Target.Rows}}
		for _, c := range t.Sources {
			line.Rows = append(line.Rows, c.Rows)
		}
		for _, s := range v.Sums {
			line.Rows = append(line.Rows, s.of(t))
		}
		for j, n := range line.Rows {
			v.Total[j] += n
		}
		v.Tables = append(v.Tables, line)
	}
}
