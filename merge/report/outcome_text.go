package report

import (
	"fmt"
	"io"
	"slices"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/merge/transfer"
)

// WriteText writes the outcome as text. It returns the error of w.
func (o *Outcome) WriteText(w io.Writer) error {
	t := newText(TextOptions{})
	if o.Status != nil {
		t.status(o)
		return t.to(w)
	}
	words := o.Words()
	t.line(0, words.Word+"  "+words.Sentence)
	t.refusals(o.Refusals)
	if o.Proof != nil {
		t.proof(o)
	}
	t.lines(2, words.Details)
	t.lines(4, words.Samples)
	for _, s := range words.Next {
		t.line(0, s.Text)
		t.lines(2, s.Commands)
	}
	return t.to(w)
}

// mostRefusals is how many reasons are shown as text.
const mostRefusals = 40

func (t *text) refusals(all []transfer.Refusal) {
	rest := func(n int64) string { return printable.Number(n) + " more: -json has them all" }
	t.some(len(all), mostRefusals, rest, func(i int) { t.line(2, all[i].String()) })
}

// unequal is a table of a proof, with lines that say how it differs from the plan.
type unequal struct {
	transfer.TableProof
	Lines []string
}

func newUnequal(o *Outcome) (all []unequal) {
	for _, t := range o.Proof.Tables {
		all = append(all, unequal{t, unequalLines(t, printable.Text(o.Plan.Target.Name))})
	}
	return all
}

func unequalLines(t transfer.TableProof, target string) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if t.Missing > 0 {
		add("%s not there", printable.Count(t.Missing, "row of the sources is", "rows of the sources are"))
	}
	if t.Changed > 0 {
		add("%s other values than planned", printable.Count(t.Changed, "row has", "rows have"))
	}
	if t.Own {
		add("rows of %s itself are not those of the plan, or rows came from elsewhere", target)
	}
	if len(t.Sources) > 0 {
		add("%s changed since the plan: somebody writes there", printable.Names(t.Sources))
	}
	return append(lines, differences(t.Samples, t.Missing+t.Changed)...)
}

// differences shows samples of a number of rows.
func differences(samples []transfer.Difference, all int64) (lines []string) {
	for _, d := range samples {
		lines = append(lines, printable.Text(d.String()))
	}
	if n := all - int64(len(samples)); len(samples) > 0 && n > 0 {
		lines = append(lines, "and "+printable.Number(n)+" more")
	}
	return lines
}

// proof writes the tables of a proof and the findings of the check of the result.
func (t *text) proof(o *Outcome) {
	all := newUnequal(o)
	rows := [][]string{{"table", "rows", "planned"}}
	for _, u := range all {
		rows = append(rows, []string{printable.Text(u.Table), printable.Number(u.Rows), printable.Number(u.Want), string(u.Verdict)})
	}
	t.WriteString("\n")
	for i, line := range columns.Lines(rows, columns.Column{}, wide, wide) {
		t.line(2, line)
		if i > 0 {
			t.lines(4, all[i-1].Lines)
		}
	}
	t.resetProof(o.Proof)
	t.combineProof(o)
	t.keyProof(o.Proof)
	if len(o.Proof.Findings) > 0 {
		t.WriteString("\nFindings about the result:\n")
		t.refusals(o.Proof.Findings)
	}
	t.WriteString("\n")
}

// wide is a column of numbers of rows.
var wide = columns.Column{Min: 14, Right: true}

// status writes how far a merge is.
func (t *text) status(o *Outcome) {
	at, into := o.Status, Merging(o.Plan)
	number := printable.Number
	rows := printable.Count(o.Plan.Rows(), "row", "rows")
	say := func(format string, args ...any) { t.line(0, fmt.Sprintf(format, args...)) }
	switch at.State {
	case transfer.StateNone:
		say("NOT BEGUN  %s: the target knows nothing of it; it was not begun, or it was undone", into)
	case transfer.StateCopied:
		say("DONE  %s: %s came to the target; to prove it: %s", into, rows, o.Then.Verify)
	case transfer.StateUndoing:
		say("BEING UNDONE  %s: %s of %s rows were removed again", into, number(at.Removed()), number(at.Copied()))
		say("To go on, unless it runs elsewhere: %s", o.Then.Undo)
	default:
		say("NOT COMPLETE  %s: %s of %s were copied", into, number(at.Copied()), rows)
		say("To go on, unless it runs elsewhere: %s", o.Then.Apply)
		say("To take it back:                    %s", o.Then.Undo)
	}
	if at.State != transfer.StateNone {
		t.WriteString("\n")
		table := [][]string{{"table", "planned", "copied", "removed again"}}
		for _, s := range at.Tables {
			table = append(table, []string{printable.Text(s.Table), number(s.Rows), number(s.Copied), number(s.Removed)})
		}
		t.lines(2, columns.Lines(table, columns.Column{}, wide, wide, wide))
	}
	fences := slices.DeleteFunc(slices.Clone(at.Fences), func(f transfer.FenceStatus) bool { return f.Source == o.Plan.Target.Name && !f.Fenced })
	if len(fences) > 0 {
		t.WriteString("\n")
	}
	for _, f := range fences {
		what := "is not kept from being started by this merge"
		if f.Fenced {
			what = "is kept from being started by this merge"
		}
		t.line(2, fmt.Sprintf("server %s of %s %s", f.Server, f.Source, what))
	}
}
