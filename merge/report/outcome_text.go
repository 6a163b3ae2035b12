package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/verdict"
)

// WriteText writes the outcome as text. It returns the error of w.
func (o *Outcome) WriteText(w io.Writer, options TextOptions) error {
	t := newText(options)
	if o.Status != nil {
		writeStatus(t, o)
		return t.to(w)
	}
	words := o.Words()
	t.verdict(words.Word, words.Color, words.Sentence)
	t.refusals(o.Refusals)
	if o.Proof != nil {
		writeProof(t, o)
	}
	t.lines(2, words.Details)
	again := t.isLong()
	t.steps(words.Next)
	if again {
		writeEnd(t, o, words)
	}
	return t.to(w)
}

// mostAgain is how many reasons and tables are named once more at the end.
const mostAgain = 5

// writeEnd says at the end what failed, and the verdict.
func writeEnd(t *text, o *Outcome, words Words) {
	t.WriteString("\n")
	if o.Proof != nil {
		var tables []string
		for _, u := range newUnequal(o) {
			if u.Verdict != verdict.Pass {
				tables = append(tables, u.Table)
			}
		}
		if len(tables) > 0 {
			t.wrapped(0, "Not as planned: ", printable.List(tables, ", ", mostAgain))
		}
		t.someRefusals(o.Proof.Findings)
	}
	t.someRefusals(o.Refusals)
	t.verdict(words.Word, words.Color, words.Sentence)
}

// someRefusals are the first of them.
func (t *text) someRefusals(all []merge.Refusal) {
	t.some(len(all), mostAgain, andMore, func(i int) { t.line(2, all[i].String()) })
}

// mostRefusals is how many reasons are shown as text.
const mostRefusals = 40

func (t *text) refusals(all []merge.Refusal) {
	rest := func(n int64) string { return printable.Number(n) + " more: -json has them all" }
	t.some(len(all), mostRefusals, rest, func(i int) { t.line(2, all[i].String()) })
}

// unequal is a table of a proof, with lines that say how it differs from the plan.
type unequal struct {
	merge.TableProof
	Lines []string
}

func newUnequal(o *Outcome) []unequal {
	return slice.Map(o.Proof.Tables, func(t merge.TableProof) unequal { return unequal{t, unequalLines(t)} })
}

func unequalLines(t merge.TableProof) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if t.Missing > 0 {
		add("%s missing", printable.Count(t.Missing, "row of the worlds is", "rows of the worlds are"))
	}
	if t.Changed > 0 {
		add("%s other values than planned", printable.Count(t.Changed, "row has", "rows have"))
	}
	if t.Others {
		add("it has rows that came from no world")
	}
	if len(t.Worlds) > 0 {
		add("%s changed since the plan: another process writes there", printable.Names(t.Worlds))
	}
	return append(lines, differences(t.Samples, t.Missing+t.Changed)...)
}

// differences shows samples of a number of rows.
func differences(samples []merge.Difference, all int64) (lines []string) {
	lines = slice.Map(samples, func(d merge.Difference) string { return printable.Text(d.String()) })
	if n := all - int64(len(samples)); len(samples) > 0 && n > 0 {
		lines = append(lines, "and "+printable.Number(n)+" more")
	}
	return lines
}

// writeProof writes the tables of a proof and the findings of the check of the result.
func writeProof(t *text, o *Outcome) {
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
	writeResetProof(t, o.Proof)
	writeCombineProof(t, o)
	writeKeyProof(t, o.Proof)
	for _, line := range o.Proof.FromPlan {
		t.wrapped(2, "", "Not proved anew, but taken from the plan: "+printable.Text(line)+".")
	}
	if len(o.Proof.Findings) > 0 {
		t.WriteString("\nFindings about the result:\n")
		t.refusals(o.Proof.Findings)
	}
	t.WriteString("\n")
}

// wide is a column of numbers of rows.
var wide = columns.Column{Min: 14, Right: true}

// writeStatus writes how far a merge is.
func writeStatus(t *text, o *Outcome) {
	at, merging := o.Status, Merging(o.Plan)
	number := printable.Number
	rows := printable.Count(o.Plan.Rows(), "row", "rows")
	copied := fmt.Sprintf("%s of %s were copied", number(at.Copied()), rows)
	var word, sentence string
	var next []step
	color := verdict.NotVerified
	then := func(text, command string) { next = append(next, step{Text: text, Commands: []string{command}}) }
	switch at.State {
	case merge.StateNone:
		word, sentence = "NOT BEGUN", "there is no record of it in "+printable.Text(o.Plan.New.Name)+"; it was not begun, or it was undone"
		if slices.ContainsFunc(at.Fences, func(f merge.FenceStatus) bool { return f.Fenced }) {
			sentence += "; its worlds are fenced"
			then("To lift the fences:", o.Then.Undo)
		}
	case merge.StatePlanAgain:
		word, sentence = "PLAN AGAIN", "there is no record of it in "+printable.Text(o.Plan.New.Name)+", and the worlds are not as planned any more, such as after an undo that raised their counters"
		then("To make a new plan:", o.Then.Plan)
	case merge.StateTried:
		word, sentence = "TRIED", "a rehearsal (apply -try), which can never be opened: "+copied
		then("To drop what it made:", o.Then.Undo)
	case merge.StateMade:
		word, sentence = "MADE", "made, and closed to the game until open"
		then("To prove it and let the game in:", o.Then.Open)
		then("To take it back:", o.Then.Undo)
	case merge.StateOpening:
		word, sentence = "OPENING", "proved, and being opened"
		if at.Lost {
			sentence = fmt.Sprintf("it was opened, as the fences of its worlds say, and %s is gone, or under another name", printable.Text(o.Plan.New.Name))
			then("If it is gone for good, to lift the fences:", strings.Replace(o.Then.Undo, " undo", " undo -force", 1))
			break
		}
		if at.Behind {
			sentence = fmt.Sprintf("it was opened, as the fences of its worlds say, and %s is a copy from before that", printable.Text(o.Plan.New.Name))
			then("If the database that was opened is gone, to go back to the worlds:", o.Then.Undo)
			break
		}
		then("To go on, unless that runs elsewhere:", o.Then.Open)
		then("To take it back:", o.Then.Undo)
	case merge.StateOpen:
		word, sentence, color = "OPEN", rows+" came, and it is open to the game", verdict.Pass
		if slices.ContainsFunc(at.Fences, func(f merge.FenceStatus) bool { return !f.Fenced }) {
			sentence, color = fmt.Sprintf("so says its record, but not all worlds are fenced: they may be running too, or %s is a copy from before an undo",
				printable.Text(o.Plan.New.Name)), verdict.Fail
			break
		}
		then("To prove it:", o.Then.Verify)
	case merge.StateUndoing:
		word, sentence = "UNDOING", "an undo has begun to drop the new database"
		then("To resume, unless it runs elsewhere:", o.Then.Undo)
	default:
		word, sentence = "COPYING", copied
		then("To resume, unless it runs elsewhere:", o.Then.Apply)
		then("To take it back:", o.Then.Undo)
	}
	sentence = merging + ": " + sentence
	t.verdict(word, color, sentence)
	if at.State != merge.StateNone && at.State != merge.StatePlanAgain && !at.Lost {
		t.WriteString("\n")
		table := [][]string{{"table", "planned", "copied"}}
		for _, s := range at.Tables {
			table = append(table, []string{printable.Text(s.Table), number(s.Rows), number(s.Copied)})
		}
		t.lines(2, columns.Lines(table, columns.Column{}, wide, wide))
	}
	fences := at.Fences
	if at.State == merge.StateTried { // which has none
		fences = nil
	}
	if len(fences) > 0 {
		t.WriteString("\n")
	}
	for _, f := range fences {
		what := "is not fenced by this merge"
		if f.Fenced {
			what = "is fenced by this merge: it cannot be started"
		}
		t.line(2, fmt.Sprintf("server %s of %s %s", f.Server, f.World, what))
	}
	again := t.isLong()
	if len(next) > 0 {
		t.WriteString("\n")
	}
	t.steps(next)
	if again {
		t.WriteString("\n")
		t.verdict(word, color, sentence)
	}
}

// steps writes what to do, with commands to paste.
func (t *text) steps(all []step) {
	for _, s := range all {
		t.line(0, s.Text)
		t.verbatim(2, s.Commands)
	}
}
