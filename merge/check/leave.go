package check

import (
	"context"
	"fmt"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/leave"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// firstTasks are the tasks that come before all others: they find the new keys and, between the choice of these and
// all else, the rows that stay behind.
func firstTasks(f *Facts, leaving *leave.Leaving) []Task {
	if leaving == nil {
		return spaceTasks(f, nil)
	}
	find := func(ctx context.Context, chosen *Rekeyed) (Outcome, error) {
		return findLeaving(ctx, f, leaving, chosen)
	}
	if f.Moving != nil {
		return spaceTasks(f, find)
	}
	return []Task{{Code: verdict.CodeRowsLeft, Run: func(ctx context.Context,
		_ *Reader) (Outcome, error) {
		return find(ctx, nil)
	}}}
}

// findLeaving finds the rows that stay behind, and lets the sources withhold them from now on.
func findLeaving(ctx context.Context, f *Facts, leaving *leave.Leaving, chosen *Rekeyed) (o Outcome,
	err error) {
	for table := range leaving.Tables() {
		if err := countRows(ctx, f, table); err != nil { // before rows are withheld
			return o, err
		}
	}
	found, err := leaving.Find(ctx, func(db *rules.Database, table, column string) (*keys.Shift, error) {
		return chosen.Shift(db, table, column)
	})
	if err != nil {
		return o, err
	}
	f.Stays = make(map[*rules.Database]map[string]*rules.Stays)
	for _, db := range f.DBs {
		f.Stays[db] = make(map[string]*rules.Stays)
		var rows []catalog.Withheld
		for _, s := range found.Stays {
			if s.World == db.Name {
				f.Stays[db][s.Table], rows = s, append(rows, s)
			}
		}
		if len(rows) == 0 {
			continue
		}
		db.Opened.(rules.Withholder).Withhold(append(rules.WithheldOf(f.Resolved, db), rows...))
		for table, s := range f.Stays[db] {
			db.Rows[table] -= s.Rows() // all was read in one snapshot
		}
	}
	o.Stays, o.Staying = found.Stays, found.Shown
	for _, s := range found.Says {
		o.Add(Found(judgeLeave(f, leaving, &s)))
		o.Leaves = append(o.Leaves, saidLeave(f, leaving, &s))
	}
	for _, s := range found.Cleared {
		o.Severed = append(o.Severed, s.Severed)
	}
	for i := range found.Blocking {
		o.Add(Found(judgeBlocking(&found.Blocking[i])))
	}
	return o, nil
}

func saidLeave(f *Facts, leaving *leave.Leaving, s *leave.Judged) verdict.Leave {
	said := verdict.Leave{Leave: s.Leave, Now: leaving.Now(), None: s.None, Counted: s.Counted,
		Worlds: []verdict.LeaveWorld{}}
	for i, db := range f.DBs {
		world := verdict.LeaveWorld{World: db.Name, Rows: s.Rows[i], Holds: s.Where[db.Name]}
		for _, n := range s.Nulls {
			if n.Source == db.Name {
				world.Nulls = n.Rows
			}
		}
		said.Worlds = append(said.Worlds, world)
	}
	return said
}

// judgeLeave says what became of a statement.
func judgeLeave(f *Facts, leaving *leave.Leaving, s *leave.Judged) verdict.Result {
	result := verdict.Result{Code: verdict.CodeRowsLeft, Table: s.Table, Subject: s.Text()}
	var parts, nulls []string
	for _, w := range saidLeave(f, leaving, s).Worlds {
		parts = append(parts, w.World+": "+printable.Number(w.Rows))
		if result.Read += w.Rows; w.Nulls > 0 {
			nulls = append(nulls, w.World+": "+printable.Number(w.Nulls))
		}
	}
	result.Message = "rows that stay behind, as declared: " + catalog.Few(parts)
	if len(nulls) > 0 {
		result.Message += "; rows that are copied because their condition is NULL: " + catalog.Few(nulls)
	}
	return result
}

// judgeBlocking reports a reference of which it is not said what becomes of its rows.
func judgeBlocking(b *leave.Blocking) verdict.Result {
	result := verdict.Result{Code: verdict.CodeReferenceSevered, Table: b.Table, Subject: b.Ref.Subject(),
		Columns: b.Ref.Columns}
	var parts, largest []string
	for _, s := range b.Worlds {
		result.Count += s.Rows
		parts = append(parts, s.World+": "+printable.Number(s.Rows))
		for _, h := range s.Largest {
			largest = append(largest, fmt.Sprintf("%s %s of %s: %s", b.ToColumn, h.Value, s.World, printable.Count(h.Rows,
				"row", "rows")))
		}
	}
	result.Rows = result.Count
	result.Message = fmt.Sprintf("rows refer to rows of %s that stay behind, and no rule says what happens to them: %s; most refer to %s", b.To, catalog.Few(parts), strings.Join(largest, ", "))
	if b.Ref.Cells != nil {
		result.Message = fmt.Sprintf("rows refer inside cells to rows of %s that stay behind: %s; most refer to %s", b.To,
			catalog.Few(parts), strings.Join(largest, ", "))
		result.Next = []string{fmt.Sprintf("keys inside cells are not followed: leave these rows of %s behind "+
			"with a where of their own, or copy those of %s", b.Table, b.To)}
		if b.Ref.Clearable() {
			result.Next[0] += fmt.Sprintf("; or set gone = %q in the [[check.reference]] of %s, whose none replaces them", rules.GoneNone,
				rules.Place(b.Table, b.Column))
		}
		return result
	}
	if b.Apart {
		result.Message = fmt.Sprintf("the first world's rows of %s are copied (policy skip) and refer to rows of %s that stay behind: %s",
			b.Table, b.To, catalog.Few(parts))
		result.Next = []string{fmt.Sprintf("[[merge.table]] tables = [%s], policy = %q; or clear them in %s before the plan; or, if they may refer to no row, plain = [%s]",
			printable.TOML(b.Table), rules.PolicyReset, b.Worlds[0].World, printable.TOML(rules.Place(b.Table, b.Column)))}
		return result
	}
	result.Next = []string{fmt.Sprintf("[[check.reference]] at = [%s], to = %s, gone = %q if they stay behind too, or gone = %q if they are copied without the reference",
		printable.TOML(rules.Place(b.Table, b.Column)), printable.TOML(rules.Place(b.To, b.ToColumn)), rules.GoneDrop,
		rules.GoneNone)}
	return result
}
