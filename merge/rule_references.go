package merge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// referenceRule looks for rows that refer to something that their own database
// does not have, and among these for those that would find it in another
// database and so come to mean something else. Then it looks for rows whose
// reference leads to a key that another database has too.
func referenceRule() rule {
	return rule{
		codes: []string{CodeReferenceRebind, CodeReferenceAmbiguous, CodeReferenceDangle},
		tasks: referenceTasks,
	}
}

func referenceTasks(f *facts) (tasks []task) {
	for _, table := range f.tables {
		for _, ref := range f.references(table) {
			if f.wantsAny(table, ref.subject(), CodeReferenceRebind, CodeReferenceAmbiguous, CodeReferenceDangle) {
				tasks = append(tasks, referenceTask(f, table, ref))
			}
		}
		for _, ref := range f.declared.severally(table) {
			if f.wantsAny(table, ref.subject(), CodeReferenceRebind, CodeReferenceAmbiguous, CodeReferenceDangle) {
				tasks = append(tasks, anyTask(f, ref))
			}
		}
	}
	return tasks
}

// anyTask reads a reference of which each value names a row of one of several tables.
func anyTask(f *facts, ref *reference) task {
	tables := []string{ref.table, ref.ToTable}
	for _, to := range ref.or {
		tables = append(tables, to.table)
	}
	id := referenceID(CodeReferenceDangle, ref.table, *ref)
	id.columns.columns += ref.identity()
	return task{id, tables, func(ctx context.Context, r *reader) (outcome, error) {
		read, err := openReader{reader: r, code: CodeReferenceDangle}.anyOf(ctx, ref)
		if err != nil {
			return outcome{}, err
		}
		return found(judgeDangling(f, ref.table, *ref, &read.strays), judgeRebound(ref.table, *ref, &read.strays), judgeAmbiguous(ref.table, *ref, &read.ambiguous)), nil
	}}
}

func referenceTask(f *facts, table string, ref reference) task {
	return task{referenceID(CodeReferenceDangle, table, ref), []string{table}, func(ctx context.Context, r *reader) (outcome, error) {
		if movesAsText(f, table, ref) {
			return found(judgeText(f, table, ref)...), nil
		}
		read, err := r.follow(followed{ref, table, false, CodeReferenceDangle, CodeReferenceRebind}).strays(ctx)
		if err != nil {
			return outcome{}, err
		}
		dangling := judgeDangling(f, table, ref, read)
		o := found(dangling, judgeRebound(table, ref, read))
		if dangling.Rows == 0 && len(dangling.Gaps) == 0 && ref.none.Empty() && ref.when == nil {
			o.complete = map[columnsID]bool{idOf(table, ref.Columns...): true}
		}
		o.add(considerAmbiguous(f, table, ref, read))
		return o, nil
	}}
}

// movesAsText reports whether a reference is of numbers in a text, which get new values.
// These were looked up when the keys were read, and no others are among new ones.
func movesAsText(f *facts, table string, ref reference) bool {
	if f.rekeyed == nil || len(ref.Columns) != 1 || f.moving.columns[columnName{table, ref.Columns[0]}] == nil {
		return false
	}
	for _, t := range f.having(table) {
		if c := t.column(ref.Columns[0]); c != nil && c.Kind == KindInteger {
			return false
		}
	}
	return true
}

// judgeText says of such a reference what was found when the keys were read.
func judgeText(f *facts, table string, ref reference) (results []Result) {
	var n CaseCounts
	for _, c := range f.rekeyed.report.Columns {
		if c.Table != table || c.Column != ref.Columns[0] {
			continue
		}
		for i := range c.Cases {
			n.add(c.Cases[i].All())
		}
	}
	for _, code := range []string{CodeReferenceRebind, CodeReferenceDangle} {
		r := Result{Code: code, Table: table, Subject: ref.subject(), Columns: ref.Columns, Read: n.Resolved + n.Dangling + n.None}
		r.Message = fmt.Sprintf("numbers in a text, which get new values: %s a row, %s no row", printable.Count(n.Resolved, "leads to", "lead to"), printable.Count(n.Dangling, "leads", "lead"))
		results = append(results, r)
	}
	return results
}

func referenceID(code, table string, ref reference) taskID {
	return taskID{code, idOf(table, ref.Columns...), idOf(ref.ToTable, ref.ToColumns...)}
}

func judgeDangling(f *facts, table string, ref reference, read *strayReading) Result {
	result := Result{Code: CodeReferenceDangle, Table: table, Subject: ref.subject(), Columns: ref.Columns, Samples: read.dangling}
	var in []string
	for _, s := range read.sources {
		if len(s.gaps) == 0 {
			result.Read += s.db.rows[table]
		}
		result.Gaps = append(result.Gaps, s.gaps...)
		if s.dangling > 0 {
			result.Count += s.dangling
			in = append(in, s.db.name+": "+printable.Number(s.dangling))
			if ref.cells == nil {
				result.Next = append(result.Next, "in "+s.db.name+": "+danglingQuery(table, ref))
			}
		}
	}
	result.Rows = result.Count
	result.without("every reference matches a row")
	if result.Count > 0 {
		result.Message = printable.Count(result.Count, "row references", "rows reference") + " a row that does not exist: " + few(in)
		if goesAstray(f, table, ref) {
			why := "the keys of all worlds are disjoint, so they match no row in the target either"
			if f.rekeyed.report.Moves() {
				why = "they get new values that match no row either"
			}
			result.Message += "; " + why
			result.Count, result.Next = 0, nil
		}
	}
	return result
}

// goesAstray reports whether rows that refer to nothing are no matter, because their
// values move beyond all keys and no database keeps such rows out.
func goesAstray(f *facts, table string, ref reference) bool {
	if f.rekeyed == nil || !slices.ContainsFunc(ref.Columns, func(c string) bool { return f.moving.columns[columnName{table, c}] != nil }) {
		return false
	}
	for _, t := range f.having(table) {
		if slices.ContainsFunc(t.References, func(r Reference) bool { return slices.Equal(r.Columns, ref.Columns) }) {
			return false
		}
	}
	return true
}

func judgeRebound(table string, ref reference, read *strayReading) Result {
	result := Result{Code: CodeReferenceRebind, Table: table, Subject: ref.subject(), Columns: ref.Columns, Samples: read.rebound}
	var in []string
	for _, s := range read.sources {
		if len(s.gaps) == 0 {
			result.Read += s.db.rows[table]
		}
		result.Gaps = append(append(result.Gaps, s.gaps...), s.reboundGaps...)
		if n := s.reboundRows(); n > 0 {
			result.Count += n
			result.Rows += s.rebound.allRows()
			in = append(in, s.db.name+": "+printable.Number(n))
		}
	}
	result.without("no reference would find another database's row")
	if result.Count > 0 {
		result.Message = printable.Count(result.Count, "row", "rows") + " would refer to another database's row: " + few(in)
	}
	return result
}

// reboundRows counts the rows of the source that refer to what only another
// source has.
func (s strayRows) reboundRows() int64 {
	if s.rebound.values == 0 {
		return 0
	}
	return s.rebound.rows[0]
}

// danglingQuery selects the rows of which a reference leads nowhere.
func danglingQuery(table string, ref reference) string {
	var set []string
	for _, name := range ref.Columns {
		set = append(set, "c."+sqlName(name)+" IS NOT NULL")
	}
	if ref.when != nil {
		set = append(set, "c."+sqlName(ref.when.Column)+ref.when.SQL())
	}
	set = append(set, ref.none.SQL("c."+sqlName(ref.Columns[0]))...)
	nowhere := func(toTable string, toColumns []string) string {
		var match []string
		for i, name := range ref.Columns {
			match = append(match, "p."+sqlName(toColumns[i])+" = c."+sqlName(name))
		}
		return fmt.Sprintf("NOT EXISTS (SELECT 1 FROM %s p WHERE %s)", sqlName(toTable), strings.Join(match, " AND "))
	}
	set = append(set, nowhere(ref.ToTable, ref.ToColumns))
	for _, to := range ref.or {
		set = append(set, nowhere(to.table, []string{to.column}))
	}
	return fmt.Sprintf("SELECT * FROM %s c WHERE %s", sqlName(table), strings.Join(set, " AND "))
}
