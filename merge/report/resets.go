package report

import (
	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/verdict"
)

// plannedResets writes which tables are empty in the new database.
func (t *text) plannedResets(p *merge.Plan) {
	if n := int64(len(p.Resets)); n > 0 {
		t.section("Empty in the new database: " + printable.Count(n, "table", "tables") + ": " + printable.List(p.Resets, ", ", shownTables) + ".")
	}
}

// writeResetProof writes whether the tables that are to be empty are empty.
func writeResetProof(t *text, p *merge.Proof) {
	if len(p.Resets) == 0 {
		return
	}
	rows := [][]string{{"empty table", "rows", "planned"}}
	for _, s := range p.Resets {
		rows = append(rows, []string{printable.Text(s.Table), printable.Number(s.Rows), "0", string(s.Verdict)})
	}
	t.WriteString("\n")
	t.lines(2, columns.Lines(rows, columns.Column{}, wide, wide))
}

// emptied is a table that is empty in the new database, with what a proof found of it.
type emptied struct {
	Table   string
	Verdict verdict.Verdict // of the proof; empty without one
	Rows    int64           // that the proof found
}

func newEmptied(o *Outcome) (all []emptied) {
	for _, table := range o.Plan.Resets {
		e := emptied{Table: table}
		if o.Proof != nil {
			for _, p := range o.Proof.Resets {
				if p.Table == table {
					e.Verdict, e.Rows = p.Verdict, p.Rows
				}
			}
		}
		all = append(all, e)
	}
	return all
}
