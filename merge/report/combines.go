package report

import (
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge"
)

// combineWords says what becomes of the rows of a table.
func combineWords(p *merge.Plan, t *merge.Table) string {
	c := t.Combine
	if unknownCombine(p, t) {
		return "the results for its rows are unknown while something blocks the merge"
	}
	own := printable.Count(c.Rows-c.Keys, "row is copied with a key", "rows are copied, each with a key") + " of its own"
	words := fmt.Sprintf("%s rows in several worlds: %s part of others; %s",
		printable.Count(c.Keys, "key has", "keys have"), printable.Count(c.Combined, "row becomes", "rows become"), own)
	if c.Matched {
		words = fmt.Sprintf("%s of the same thing in several worlds (match); only the first of these rows is copied, unchanged: %s; %s",
			printable.Count(c.Keys, "key is", "keys are"), printable.Count(c.Combined, "row stays behind", "rows stay behind"), own)
	}
	if c.When != nil {
		words += "; only rows for which " + c.When.String()
	}
	return words
}

// unknownCombine reports whether a plan is refused by reason of the table, so that its numbers
// are not those of all rows.
func unknownCombine(p *merge.Plan, t *merge.Table) bool {
	return slices.ContainsFunc(p.Refusals, func(r merge.Refusal) bool { return r.Table == t.Name })
}

// plannedCombines says which rows become one, by which formulas, and what is added up.
func plannedCombines(p *merge.Plan) Section {
	s := combinedSection(p)
	for _, t := range p.Tables {
		if t.Combine == nil {
			continue
		}
		words := t.Name + ": " + combineWords(p, &t)
		for _, f := range t.Combine.Columns {
			words += "; " + f.Column + " " + f.Formula.String()
		}
		s.Words = append(s.Words, words)
		if !unknownCombine(p, &t) {
			s.sums(t.Name, slice.Map(t.Combine.Sums, func(sum merge.CombinedSum) merge.SumProof {
				return merge.SumProof{Column: sum.Column, Worlds: sum.Worlds, After: sum.After}
			}))
		}
	}
	return s
}

// provedCombines says what a proof found of these tables.
func provedCombines(p *merge.Plan, proof *merge.Proof) Section {
	s := combinedSection(p)
	s.Head = append(s.Head, "verdict")
	for _, c := range proof.Combines {
		s.Words = append(s.Words, fmt.Sprintf("%s: %s: each column of %s follows its formula, %s", c.Table, c.Verdict,
			printable.Count(c.Keys, "key", "keys"), printable.Count(c.Copied, "copied row is unchanged", "copied rows are unchanged")))
		for _, column := range c.Columns {
			if column.Wrong > 0 {
				s.Items = append(s.Items, fmt.Sprintf("%s.%s is not the %s in the rows of %s", c.Table, column.Column, column.Formula, printable.Count(column.Wrong, "key", "keys")))
			}
		}
		s.Items = append(s.Items, slice.Map(c.Details, func(detail string) string { return c.Table + ": " + detail })...)
		s.sums(c.Table, c.Sums)
	}
	return s
}

func combinedSection(p *merge.Plan) Section {
	return Section{ID: "combined", Title: "Rows with the same key that become one",
		Head: slices.Concat([]string{"sum of"}, names(p), []string{p.New.Name})}
}

// sums adds what the worlds have, and the new database.
func (s *Section) sums(table string, all []merge.SumProof) {
	for _, sum := range all {
		row := slices.Concat([]string{table + "." + sum.Column}, sum.Worlds, []string{sum.After})
		if len(s.Head) > len(row) {
			row = append(row, string(sum.Verdict))
		}
		s.Rows = append(s.Rows, row)
	}
}
