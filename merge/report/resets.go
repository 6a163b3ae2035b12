package report

import (
	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/transfer"
	"mergesafe/merge/verdict"
)

// plannedResets writes which tables of the target are emptied, and where their rows stay.
func (t *text) plannedResets(p *transfer.Plan) {
	if len(p.Resets) == 0 {
		return
	}
	if p.Into != nil {
		names := slice.Map(p.Resets, func(s transfer.Reset) string { return s.Table })
		t.section("Without any rows come " + printable.Count(int64(len(names)), "table", "tables") + ": " + printable.List(names, ", ", shownTables) + ".")
		return
	}
	t.section(will(p) + " empty " + printable.Count(int64(len(p.Resets)), "table", "tables") + " of " + p.Target.Name +
		". The rows are kept there until the merge is undone. If it is never to be undone, the tables that keep them may be dropped:")
	rows := [][]string{{"table", "rows to go", "kept in"}}
	for _, s := range p.Resets {
		note := ""
		if s.Moved {
			note = "the rows are moved, in one transaction"
		}
		rows = append(rows, []string{printable.Text(s.Table), printable.Number(s.Rows), s.Kept, note})
	}
	t.listed(rows, columns.Column{}, wide, columns.Column{})
}

// writeResetProof writes whether the tables that are emptied are empty, and what is kept.
func writeResetProof(t *text, p *transfer.Proof) {
	if len(p.Resets) == 0 {
		return
	}
	rows := [][]string{{"emptied table", "rows", "planned", "kept"}}
	for _, s := range p.Resets {
		rows = append(rows, []string{printable.Text(s.Table), printable.Number(s.Rows), "0", printable.Number(s.Keeps), string(s.Verdict)})
	}
	t.WriteString("\n")
	for i, line := range columns.Lines(rows, columns.Column{}, wide, wide, wide) {
		t.line(2, line)
		if i > 0 && p.Resets[i-1].Reason != "" {
			t.line(4, p.Resets[i-1].Reason)
		}
	}
}

// emptied is a table that is emptied, with what a proof found of it.
type emptied struct {
	transfer.Reset
	Verdict verdict.Verdict // of the proof; empty without one
	Reason  string
}

func newEmptied(o *Outcome) (all []emptied) {
	for _, s := range o.Plan.Resets {
		e := emptied{Reset: s}
		if o.Proof != nil {
			for _, p := range o.Proof.Resets {
				if p.Table == s.Table {
					e.Verdict, e.Reason = p.Verdict, p.Reason
				}
			}
		}
		all = append(all, e)
	}
	return all
}
