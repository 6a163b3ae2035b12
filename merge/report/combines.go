package report

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/rules"
)

// combined is a table of which rows with one key become one, with what a proof found of it.
type combined struct {
	Table   string
	Words   string
	Columns []merge.ColumnProof // without a proof, none is wrong
	Sums    []merge.SumProof    // without a proof, none has a verdict
	Proof   *merge.CombineProof // nil without one
}

func newCombined(o *Outcome) (all []combined) {
	for _, t := range o.Plan.Tables {
		if t.Combine == nil {
			continue
		}
		c := combined{Table: t.Name, Words: combineWords(o.Plan, &t) + "."}
		for _, column := range t.Combine.Columns {
			c.Columns = append(c.Columns, merge.ColumnProof{Column: column.Column, Formula: column.Formula})
		}
		if !unknownCombine(o.Plan, &t) {
			c.Sums = plannedSums(t.Combine)
		}
		if o.Proof != nil {
			for i := range o.Proof.Combines {
				if p := &o.Proof.Combines[i]; p.Table == t.Name {
					c.Proof, c.Columns, c.Sums = p, p.Columns, p.Sums
				}
			}
		}
		all = append(all, c)
	}
	return all
}

// plannedSums are the sums of a plan, as a proof has them.
func plannedSums(c *merge.Combine) []merge.SumProof {
	return slice.Map(c.Sums, func(s merge.CombinedSum) merge.SumProof {
		return merge.SumProof{Column: s.Column, Worlds: s.Worlds, After: s.After}
	})
}

// combineWords says what becomes of the rows of a table.
func combineWords(p *merge.Plan, t *merge.Table) string {
	c := t.Combine
	if unknownCombine(p, t) {
		return "the results for its rows are not known while something blocks the merge"
	}
	own := printable.Count(c.Rows-c.Keys, "row comes with a key", "rows come, each with a key") + " of its own"
	words := fmt.Sprintf("%s rows in several worlds: %s part of others; %s",
		printable.Count(c.Keys, "key has", "keys have"), printable.Count(c.Combined, "row becomes", "rows become"), own)
	if c.Matched {
		words = fmt.Sprintf("%s of the same thing in several worlds (match), and the first of their rows comes as it is: %s; %s",
			printable.Count(c.Keys, "key is", "keys are"), printable.Count(c.Combined, "row stays behind", "rows stay behind"), own)
	}
	if c.When != nil {
		words += "; only rows for which " + printable.Text(c.When.String())
	}
	return words
}

// unknownCombine reports whether a plan is refused by reason of the table, so that its numbers
// are not those of all rows.
func unknownCombine(p *merge.Plan, t *merge.Table) bool {
	return slices.ContainsFunc(p.Refusals, func(r merge.Refusal) bool { return r.Table == t.Name })
}

// writePlannedCombines writes which rows become one, and what is added up.
func writePlannedCombines(t *text, p *merge.Plan) {
	begun := false
	for _, table := range p.Tables {
		c := table.Combine
		if c == nil {
			continue
		}
		if !begun {
			t.section(will(p) + " combine rows with the same key into one:")
			begun = true
		}
		t.line(2, printable.Text(table.Name)+": "+combineWords(p, &table))
		formulas := slice.Map(c.Columns, func(f rules.CombinedColumn) string {
			return printable.Text(f.Column) + " " + printable.Text(f.Formula.String())
		})
		if len(formulas) > 0 {
			t.line(4, strings.Join(formulas, ", "))
		}
		if unknownCombine(p, &table) {
			continue
		}
		t.sums(p, plannedSums(c))
	}
}

// writeCombineProof writes what a proof found of these tables.
func writeCombineProof(t *text, o *Outcome) {
	for _, c := range o.Proof.Combines {
		t.WriteString("\n")
		t.line(2, fmt.Sprintf("%s, combined  %s: each column of %s is as its formula says, %s",
			printable.Text(c.Table), c.Verdict, printable.Count(c.Keys, "key", "keys"), printable.Count(c.Copied, "row that came is as it was", "rows that came are as they were")))
		for _, column := range c.Columns {
			if column.Wrong > 0 {
				t.line(4, fmt.Sprintf("%s is not its %s in the rows of %s", printable.Text(column.Column), printable.Text(column.Formula.String()), printable.Count(column.Wrong, "key", "keys")))
			}
		}
		for _, detail := range c.Details {
			t.line(4, printable.Text(detail))
		}
		t.sums(o.Plan, c.Sums)
	}
}

// names are those of the worlds of a plan.
func names(p *merge.Plan) []string {
	return slice.Map(p.Worlds, func(w merge.World) string { return w.Name })
}

// texts are texts that can be printed.
func texts(all []string) []string { return slice.Map(all, printable.Text) }

// sums writes what the worlds have, and the new database.
func (t *text) sums(p *merge.Plan, all []merge.SumProof) {
	if len(all) == 0 {
		return
	}
	row := func(of string, worlds []string, after ...string) []string {
		return texts(slices.Concat([]string{of}, worlds, after))
	}
	rows := [][]string{row("sum of", names(p), p.New.Name)}
	for _, s := range all {
		rows = append(rows, row(s.Column, s.Worlds, s.After, string(s.Verdict)))
	}
	of := append([]columns.Column{{}}, slices.Repeat([]columns.Column{wide}, len(rows[0])-1)...)
	t.lines(4, columns.Lines(rows, of...))
}
