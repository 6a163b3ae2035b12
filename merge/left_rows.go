package merge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// LeftRows are some rows of a table, of the sources, that stay behind: its policy is
// [PolicySkip] for these. All others come.
type LeftRows struct {
	Table  string  `json:"table"`
	When   *When   `json:"when"`
	Counts []int64 `json:"rows"` // of each source, in their order
}

// Of implements [Withheld].
func (l *LeftRows) Of() string { return l.Table }

// SQL implements [Withheld].
func (l *LeftRows) SQL(quote func(string) string) string {
	return l.When.IntegerSQL(quote(l.When.Column))
}

// all is what counts them.
func (l *LeftRows) all() *severed { return &severed{Severed: Severed{Table: l.Table, When: l.When}} }

// leftRows finds the tables of which some rows stay behind.
func leftRows(f *resolved) error {
	for _, table := range slices.Sorted(maps.Keys(f.partly)) {
		p := f.partly[table]
		if p.Rows == RowsNone {
			return unsuitable("table %s: rows = %q is beside when: of a table of which some rows stay behind, those that refer to them can stay behind too (rows = %q), or are refused", table, RowsNone, RowsDrop)
		}
		for db, t := range f.having(table) {
			if !isInteger(t.column(p.When.Column)) {
				return unsuitable("table %s: when: in %s it has no column %q of integers, which says what rows stay behind", table, db.name, p.When.Column)
			}
		}
		for at, role := range f.declared.roles {
			for _, ref := range role.references {
				to := ref.ToTable == table || slices.ContainsFunc(ref.or, func(to columnName) bool { return to.table == table })
				if to && ref.cells != nil {
					return unsuitable("table %s: when %s its rows stay behind, and %s names its rows inside cells, so which of these cannot be told: let all rows come, or stay behind", table, p.When, at)
				}
			}
		}
	}
	return nil
}

// leftOf are the rows that stay behind, by their tables.
func leftOf(f *resolved) (all []*LeftRows) {
	for _, table := range slices.Sorted(maps.Keys(f.partly)) {
		all = append(all, &LeftRows{Table: table, When: f.partly[table].When, Counts: []int64{}})
	}
	return all
}

// severedPartly is a reference to a table of which some rows stay behind, if the rows that
// refer to these are to stay behind too; nil if that is not said.
func severedPartly(f *resolved, table string, ref *reference) (*severed, error) {
	p, partly := f.partly[ref.ToTable]
	if !partly || p.Rows != RowsDrop {
		return nil, nil
	}
	s := &severed{Severed{Table: table, Column: ref.Columns[0], To: ref.ToTable, Rows: RowsDrop, Zero: ref.declared.ZeroIsNone, None: ref.declared.None, When: ref.when, Counts: []int64{},
		ToColumn: ref.ToColumns[0], Left: p.When}, ref, false, ""}
	if len(ref.or) > 0 || table == ref.ToTable {
		return nil, fmt.Errorf("the reference names rows of several tables, or of its own: of a table of which only some rows stay behind, the others cannot be told")
	}
	return s, s.validate(f)
}

// leftSQL is the condition that a column names a row which stays behind, for a reference to a
// table of which only some do; "" for all others.
func (s *Severed) leftSQL(column string) string {
	if s.Left == nil {
		return ""
	}
	return column + " IN (SELECT skipped." + sqlName(s.ToColumn) + " FROM " + sqlName(s.To) + " AS skipped WHERE " + s.Left.IntegerSQL("skipped."+sqlName(s.Left.Column)) + ")"
}

// leftTasks count the rows of some tables that stay behind, and those that refer to them.
func leftTasks(f *facts) (tasks []task) {
	for _, l := range leftOf(f.resolved) {
		if !f.wants(CodeTableExcluded, l.Table, l.When.String()) {
			continue
		}
		tasks = append(tasks, task{taskID{code: CodeTableExcluded, columns: idOf(l.Table, l.When.String())}, nil, func(ctx context.Context, r *reader) (outcome, error) { return judgeLeft(ctx, f, r, l) }})
	}
	return tasks
}

func judgeLeft(ctx context.Context, f *facts, r *reader, l *LeftRows) (o outcome, err error) {
	now := *l
	result := Result{Code: CodeTableExcluded, Table: l.Table, Subject: "when " + l.When.String()}
	orphans := Result{Code: CodeReferenceSevered, Table: l.Table, Subject: "when " + l.When.String()}
	var parts, leave []string
	for _, db := range sourcesOf(f.resolved) {
		n := int64(0)
		if db.tables[l.Table] != nil {
			if n, err = r.referring(ctx, db, l.Table, l.all(), nil); err != nil {
				return o, err
			}
			for table, ref := range referringTo(f, db, l.Table) {
				lost, err := r.referring(ctx, db, table, nil, &ref)
				if err != nil {
					return o, err
				}
				if lost > 0 {
					orphans.Count += lost
					leave = append(leave, fmt.Sprintf("%s of %s in %s (%s)", printable.Count(lost, "row", "rows"), table, db.name, strings.Join(ref.Columns, ", ")))
				}
			}
		}
		now.Counts = append(now.Counts, n)
		result.Read += n
		parts = append(parts, db.name+": "+printable.Number(n))
	}
	result.Message = "rows of the sources that stay behind, as declared: " + few(parts)
	o = found(result)
	if o.left = []LeftRows{now}; orphans.Count > 0 {
		orphans.Rows, orphans.Read = orphans.Count, result.Read
		orphans.Message = fmt.Sprintf("rows refer to rows of %s that stay behind when %s: %s", l.Table, l.When, few(leave))
		orphans.Next = []string{fmt.Sprintf("[[merge.table]] tables = [%s], rows = %q: they stay behind too", printable.TOML(l.Table), RowsDrop)}
		o.add(found(orphans))
	}
	return o, nil
}
