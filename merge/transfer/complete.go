package transfer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge"
)

// checkReferences makes sure that every row of the tables of the plan references
// a row that is there. It checks all rows at once, after the last one: that costs
// a tenth of what the database takes row by row, and tables may reference each
// other, or themselves, in any order. After a copy, and so after an undo, only a
// game that wrote meanwhile can have made such a row; then says what to do. known are
// such rows that were there before, by table and columns.
func (r *run) checkReferences(ctx context.Context, then string, known map[columnAt]int64) error {
	for i := range r.plan.Tables {
		table := r.plan.Tables[i].Name
		if slices.ContainsFunc(r.plan.Check.Allowed, func(a Refusal) bool { return a.Code == merge.CodeReferenceDangle && a.Table == table }) {
			continue // the operator knows of rows without a match
		}
		for _, ref := range r.references[table] {
			n, err := r.target.number(ctx, r.target.dialect().dangling("COUNT(*)", table, ref), false)
			lost, l := new(rowSamples), r.naming(table, ref.Columns)
			if err == nil && n <= known[columnsAt(table, ref)] {
				continue
			}
			if err == nil && n > 0 {
				query := r.target.dialect().dangling("c."+strings.Join(l.reads, ", c."), table, ref) + fmt.Sprintf(" LIMIT %d", maxSamples)
				err = r.target.rows(ctx, query, false, nil, func(row []any) (bool, error) {
					lost.add(l, row)
					return true, nil
				})
				lost.rows = n
			}
			if err != nil {
				return fmt.Errorf("checking the references of table %q: %w", table, err)
			}
			if n > 0 {
				return fmt.Errorf("transfer: database %q: %d rows of table %q reference by %s rows of %q that do not exist: %s: another process wrote to it while the merge ran: %s",
					r.target.Name, n, table, strings.Join(ref.Columns, ", "), ref.ToTable, lost, then)
			}
		}
	}
	return nil
}

// danglingRows counts the rows of the tables of the plan that refer to nothing.
func (r *run) danglingRows(ctx context.Context) (map[columnAt]int64, error) {
	known := make(map[columnAt]int64)
	for i := range r.plan.Tables {
		table := r.plan.Tables[i].Name
		for _, ref := range r.references[table] {
			n, err := r.target.number(ctx, r.target.dialect().dangling("COUNT(*)", table, ref), false)
			if err != nil {
				return nil, fmt.Errorf("checking the references of table %q: %w", table, err)
			}
			known[columnsAt(table, ref)] = n
		}
	}
	return known, nil
}

func columnsAt(table string, ref merge.Reference) columnAt {
	return columnAt{table, fmt.Sprintf("%q %q %q", ref.Columns, ref.ToTable, ref.ToColumns)}
}

// dangling selects something of the rows of c without a match by a reference. A
// join finds them more than ten times as fast as NOT EXISTS does in MariaDB.
func (d dialect) dangling(what, table string, r merge.Reference) string {
	set := make([]string, len(r.Columns))
	for i, name := range r.Columns {
		set[i] = "c." + d.Quote(name) + " IS NOT NULL"
	}
	join, unmatched := d.Unmatched("c", r.Columns, r.ToTable, "p", r.ToColumns)
	return "SELECT " + what + " FROM " + d.Quote(table) + " AS c " + join + " WHERE " + strings.Join(set, " AND ") + " AND " + unmatched
}

// setCounters raises the target's counters above those of the sources, or sets
// them back to what they were.
func (r *run) setCounters(ctx context.Context, back bool) error {
	for _, t := range r.plan.Tables {
		c := t.Counter
		if c == nil || !back && c.After <= c.Before {
			continue
		}
		next := c.After
		if back {
			next = c.Before
		}
		if err := r.target.setCounter(ctx, t.Name, c.Column, next); err != nil {
			return err
		}
	}
	return nil
}

// setCounter makes next the next value of a counter, or the first value above
// the rows of the table.
func (c *connection) setCounter(ctx context.Context, table, column string, next uint64) error {
	d := c.dialect()
	next = max(next, 1)
	if d.mysql() { // looks at the rows by itself
		_, err := c.exec(ctx, "counter", fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", d.Quote(table), next), false)
		return err
	}
	// Only tables that were declared AUTOINCREMENT count beyond their rows.
	counts, err := c.number(ctx, "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'", false)
	if err != nil || counts == 0 {
		return err
	}
	_, err = c.exec(ctx, "counter", "UPDATE sqlite_sequence SET seq = MAX(?, (SELECT COALESCE(MAX("+d.Quote(column)+"), 0) FROM "+d.Quote(table)+")) WHERE name = ?", false,
		int64(next-1), table)
	if err == nil && next == 1 {
		_, err = c.exec(ctx, "counter", "DELETE FROM sqlite_sequence WHERE seq = 0 AND name = ?", false, table)
	}
	return err
}
