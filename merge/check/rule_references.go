package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// ReferenceRule looks for rows that refer to something that their own database
// does not have, and among these for those that would find it in another
// database and so come to mean something else. Then it looks for rows whose
// reference leads to a key that another database has too. Cells with keys are
// judged as they are read for that.
var ReferenceRule = Rule{
	Codes:  []string{verdict.CodeReferenceRebind, verdict.CodeReferenceAmbiguous, verdict.CodeReferenceDangle, verdict.CodeReferenceTwoKinds, verdict.CodeCellFormat},
	Single: true,
	Tasks:  referenceTasks,
}

func referenceTasks(f *Facts) (tasks []Task) {
	for _, table := range f.Tables {
		for _, ref := range f.References(table) {
			tasks = append(tasks, referenceTask(f, ref))
		}
		refs, cells := f.Declared.Severally(table), cellColumns(f, table)
		if len(refs)+len(cells) > 0 {
			tasks = append(tasks, anyTask(f, table, refs, cells))
		}
	}
	return tasks
}

// anyTask reads the references of a table of which each value names a row of one of several tables, and its cells with keys.
func anyTask(f *Facts, table string, refs []*rules.Ref, cells []*cellColumn) Task {
	tables := []string{table}
	for _, ref := range refs {
		for _, to := range ref.Targets(0) {
			tables = append(tables, to.Table)
		}
	}
	return Task{Code: verdict.CodeReferenceDangle, Tables: tables, Run: func(ctx context.Context, r *Reader) (o Outcome, err error) {
		all, err := OpenReader{Reader: r, Code: verdict.CodeReferenceDangle}.AnyOf(ctx, table, refs, cells)
		for _, read := range all {
			dangling := judgeDangling(f, *read.ref, &read.strays)
			o.Add(Found(dangling, judgeRebound(*read.ref, &read.strays), judgeAmbiguous(*read.ref, &read.Ambiguous)))
			o.Tasks = append(o.Tasks, kindTask(f, r, *read.ref, dangling.Rows)...)
		}
		for _, c := range cells {
			var result verdict.Result
			if err == nil {
				result, err = judgeCells(ctx, r, c)
				o.Add(Found(result))
			}
		}
		return o, err
	}}
}

func referenceTask(f *Facts, ref rules.Ref) Task {
	return Task{Code: verdict.CodeReferenceDangle, Tables: []string{ref.Table}, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
		if movesAsText(f, ref) {
			return Found(judgeText(f, ref)...), nil
		}
		read, err := follower{r, ref, false, verdict.CodeReferenceDangle, verdict.CodeReferenceRebind}.strays(ctx)
		if err != nil {
			return Outcome{}, err
		}
		dangling := judgeDangling(f, ref, read)
		o := Found(dangling, judgeRebound(ref, read))
		if dangling.Rows == 0 && len(dangling.Gaps) == 0 && ref.None.Empty() && ref.When == nil {
			o.Complete = map[rules.ColumnsID]bool{rules.IDOf(ref.Table, ref.Columns...): true}
		}
		o.Add(considerAmbiguous(f, ref, read))
		o.Tasks = append(o.Tasks, kindTask(f, r, ref, dangling.Rows)...)
		return o, nil
	}}
}

// movesAsText reports whether a reference is of numbers in a text, which get new values.
// These were looked up when the keys were read, and no others are among new ones.
func movesAsText(f *Facts, ref rules.Ref) bool {
	if len(ref.Columns) != 1 || f.Rekeyed.moved(ref.Table, ref.Columns[0]) == nil {
		return false
	}
	for _, t := range f.Having(ref.Table) {
		if c := t.Column(ref.Columns[0]); c != nil && c.Kind == catalog.KindInteger {
			return false
		}
	}
	return true
}

// judgeText says of such a reference what was found when the keys were read.
func judgeText(f *Facts, ref rules.Ref) (results []verdict.Result) {
	var n verdict.CaseCounts
	for _, c := range f.Rekeyed.Report.Column(ref.Table, ref.Columns[0]).Cases {
		n.Add(c.All())
	}
	for _, code := range []string{verdict.CodeReferenceRebind, verdict.CodeReferenceDangle} {
		r := verdict.Result{Code: code, Table: ref.Table, Subject: ref.Subject(), Columns: ref.Columns, Read: n.Resolved + n.Dangling + n.None}
		r.Message = fmt.Sprintf("numbers in texts, which get new values: %s a row, %s no row", printable.Count(n.Resolved, "refers to", "refer to"), printable.Count(n.Dangling, "refers to", "refer to"))
		results = append(results, r)
	}
	return results
}

func judgeDangling(f *Facts, ref rules.Ref, read *strayReading) verdict.Result {
	result := verdict.Result{Code: verdict.CodeReferenceDangle, Table: ref.Table, Subject: ref.Subject(), Columns: ref.Columns, Samples: read.Dangling}
	var in []string
	missing := "a row that does not exist"
	for _, s := range read.Worlds {
		if len(s.Gaps) == 0 {
			result.Read += s.DB.Rows[ref.Table]
		}
		result.Gaps = append(result.Gaps, s.Gaps...)
		if s.Dangling > 0 {
			if f.Stays[s.DB][ref.ToTable] != nil {
				missing = "a row that does not exist or stays behind"
			}
			result.Count += s.Dangling
			in = append(in, s.DB.Name+": "+printable.Number(s.Dangling))
			if ref.Cells == nil {
				result.Next = append(result.Next, "in "+s.DB.Name+": "+danglingQuery(ref))
			}
		}
	}
	result.Rows = result.Count
	result.Without("every reference matches a row")
	if result.Count > 0 {
		result.Message = printable.Count(result.Count, "row references", "rows reference") + " " + missing + ": " + catalog.Few(in)
		if goesAstray(f, ref) {
			why := "the keys of all worlds are disjoint, so they match no row in the new database either"
			if f.Rekeyed.Report.Moves() {
				why = "their new values match no row either"
			}
			result.Message += "; " + why
			result.Count, result.Next = 0, nil
		}
	}
	return result
}

// goesAstray reports whether rows that refer to nothing are no matter, because their
// values move beyond all keys and no database keeps such rows out.
func goesAstray(f *Facts, ref rules.Ref) bool {
	if !slices.ContainsFunc(ref.Columns, func(c string) bool { return f.Rekeyed.moved(ref.Table, c) != nil }) {
		return false
	}
	for _, t := range f.Having(ref.Table) {
		if slices.ContainsFunc(t.References, func(r catalog.Reference) bool { return slices.Equal(r.Columns, ref.Columns) }) {
			return false
		}
	}
	return true
}

func judgeRebound(ref rules.Ref, read *strayReading) verdict.Result {
	result := verdict.Result{Code: verdict.CodeReferenceRebind, Table: ref.Table, Subject: ref.Subject(), Columns: ref.Columns, Samples: read.Rebound}
	var in []string
	for _, s := range read.Worlds {
		if len(s.Gaps) == 0 {
			result.Read += s.DB.Rows[ref.Table]
		}
		result.Gaps = append(append(result.Gaps, s.Gaps...), s.ReboundGaps...)
		if n := s.reboundRows(); n > 0 {
			result.Count += n
			result.Rows += s.Rebound.AllRows()
			in = append(in, s.DB.Name+": "+printable.Number(n))
		}
	}
	result.Without("no reference would point to another database's row")
	if result.Count > 0 {
		result.Message = printable.Count(result.Count, "row", "rows") + " would refer to another database's row: " + catalog.Few(in)
	}
	return result
}

// danglingQuery selects the rows of which a reference leads nowhere.
func danglingQuery(ref rules.Ref) string {
	set := slice.Map(ref.Columns, func(name string) string { return "c." + catalog.SQLName(name) + " IS NOT NULL" })
	if ref.When != nil {
		set = append(set, "c."+catalog.SQLName(ref.When.Column)+ref.When.SQL())
	}
	set = append(set, ref.None.SQL("c."+catalog.SQLName(ref.Columns[0]))...)
	nowhere := func(toTable string, toColumns []string) string {
		var match []string
		for i, name := range ref.Columns {
			match = append(match, "p."+catalog.SQLName(toColumns[i])+" = c."+catalog.SQLName(name))
		}
		return fmt.Sprintf("NOT EXISTS (SELECT 1 FROM %s p WHERE %s)", catalog.SQLName(toTable), strings.Join(match, " AND "))
	}
	set = append(set, nowhere(ref.ToTable, ref.ToColumns))
	for _, to := range ref.Or {
		set = append(set, nowhere(to.Table, []string{to.Column}))
	}
	return fmt.Sprintf("SELECT * FROM %s c WHERE %s", catalog.SQLName(ref.Table), strings.Join(set, " AND "))
}
