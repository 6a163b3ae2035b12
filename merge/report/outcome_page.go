package report

import (
	"io"

	"mergesafe/merge"
	"mergesafe/merge/verdict"
)

// maxRenames limits the renames of a page: a merge may have a million.
const maxRenames = 1000

// outcomeView is an outcome, arranged for its page.
type outcomeView struct {
	page
	Outcome  *Outcome
	Words    Words
	Command  string // as it was given: "undo -force"
	Plan     *merge.Plan
	Unequal  []unequal
	Servers  []server
	Worlds   []string
	New      string
	First    string // which keeps its keys and names
	Sums     []sum
	Tables   []mergeTable
	Total    []int64
	Emptied  []emptied
	Combined []combined
	Check    *Check // of the result; nil if there was none
	Renames  []merge.Rename
}

// WriteHTML writes the outcome as a page. It returns the error of w.
func (o *Outcome) WriteHTML(w io.Writer) error {
	v := newOutcomeView(o)
	return v.write(w, outcomePage, v)
}

func newOutcomeView(o *Outcome) *outcomeView {
	p, words := o.Plan, o.Words()
	v := &outcomeView{
		page:    page{Word: words.Word, Color: words.Color, Headline: words.Sentence},
		Outcome: o, Words: words, Command: o.Command, Plan: p,
		Worlds:   names(p),
		New:      p.New.Name,
		First:    p.Worlds[0].Name,
		Servers:  servers(p),
		Emptied:  newEmptied(o),
		Combined: newCombined(o),
		Renames:  p.Renames[:min(len(p.Renames), maxRenames)],
	}
	if o.Forced {
		v.Command += " -force"
	}
	v.Title = v.Word + ": " + v.Command + ", " + titleOf(p)
	v.addTables()
	if o.Proof != nil {
		for _, u := range newUnequal(o) {
			if len(u.Lines) > 0 {
				v.Unequal = append(v.Unequal, u)
			}
		}
		if o.Proof.Check != nil {
			v.Check = newResultCheck(o.Proof.Check)
		}
	}
	v.addCounts()
	return v
}

// newResultCheck is the check of a merged database. The advice of the rules is
// left out, since it is for the time before a merge.
func newResultCheck(r *verdict.Report) *Check {
	c := NewCheck(r)
	for _, list := range [][]finding{c.Failed, c.Open, c.Allowed} {
		for i := range list {
			list[i].Next = nil
		}
	}
	return c
}

func (v *outcomeView) addCounts() {
	add := func(n int, one, many, anchor string) {
		what := many
		if n == 1 {
			what = one
		}
		v.Counts = append(v.Counts, count{n, what, anchor})
	}
	if n := len(v.Outcome.Refusals); n > 0 {
		add(n, "reason that blocks it", "reasons that block it", "refusals")
	}
	if proof := v.Outcome.Proof; proof != nil {
		failed := 0
		for _, t := range proof.Tables {
			if t.Verdict != verdict.Pass {
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
	if names, numbers, cells := v.Plan.Renamed(); names+numbers+cells > 0 {
		add(int(names), "rename", "renames", "renames")
		if numbers > 0 {
			add(int(numbers), "new number", "new numbers", "renames")
		}
		if cells > 0 {
			add(int(cells), "cell that follows", "cells that follow", "renames")
		}
	}
	if n := len(v.Emptied); n > 0 {
		add(n, "empty table", "empty tables", "emptied")
	}
	if n := len(v.Plan.Left); n > 0 {
		add(n, "table not copied", "tables not copied", "left")
	}
}

// mergeTable has the rows of each world, then the sums.
type mergeTable struct {
	Name    string
	Verdict verdict.Verdict // of the proof
	Rows    []int64
}

// sum is a column of numbers that stands beside the rows of each world.
type sum struct {
	Head string
	of   func(*merge.Table) int64
}

// newSums are the planned rows, and beside them the rows that verify found or, if
// the state of the merge is known, the rows that were copied.
func newSums(o *Outcome, proved map[string]merge.TableProof) []sum {
	all := []sum{{"together", func(t *merge.Table) int64 { return t.Rows() }}}
	if o.Proof != nil {
		return append(all, sum{"found now", func(t *merge.Table) int64 { return proved[t.Name].Rows }})
	}
	if o.Now == nil || o.Now.State == merge.StateNone {
		return all
	}
	at := make(map[string]merge.TableStatus)
	for _, t := range o.Now.Tables {
		at[t.Table] = t
	}
	return append(all, sum{"copied", func(t *merge.Table) int64 { return at[t.Name].Copied }})
}

// addTables adds the tables with their rows.
func (v *outcomeView) addTables() {
	proved := make(map[string]merge.TableProof)
	if v.Outcome.Proof != nil {
		for _, t := range v.Outcome.Proof.Tables {
			proved[t.Table] = t
		}
	}
	v.Sums = newSums(v.Outcome, proved)
	v.Total = make([]int64, len(v.Worlds)+len(v.Sums))
	for i := range v.Plan.Tables {
		t := &v.Plan.Tables[i]
		line := mergeTable{Name: t.Name, Verdict: proved[t.Name].Verdict}
		for _, c := range t.Worlds {
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
