package merge

import (
	"context"
	"slices"

	"mergesafe/internal/printable"
)

// resolveByCombining takes keys that are there more than once as settled, if the table is
// combined and all of their rows are among those that are.
func (r *Result) resolveByCombining(c *Combined, found repeats) {
	if c == nil || r.Count == 0 {
		return
	}
	if found.outside > 0 {
		r.Message += "; " + printable.Count(found.outside, "row of these is", "rows of these are") + " not among those that are combined (when " + c.When.String() + ")"
		return
	}
	if found.within > 0 {
		r.Message += "; [[merge.table]] combines rows of several databases, not of one"
		return
	}
	r.Combined = r.Count
	if c.Matched {
		r.Message = printable.Count(r.Count, "key is", "keys are") + " of the same thing in several databases, as declared (match): the first of their rows stays, the others are not copied"
		r.Count, r.Rows, r.Samples = 0, 0, nil
		return
	}
	r.Message = "the rows of " + printable.Count(r.Count, "key", "keys") + " will be combined, by [[merge.table]]: " + r.Message
	r.Count, r.Rows, r.Samples = 0, 0, nil
}

// combinesAll reports whether values that are there more than once are so only in rows with
// one key, in a table of which the rows of one key are combined.
func combinesAll(ctx context.Context, f *facts, r *reader, table string, columns []string, found repeats) (bool, error) {
	if f.combined[table] == nil || found.values == 0 {
		return false, nil
	}
	_, model := f.model(table)
	both := slices.Clone(columns)
	for _, name := range model.Key() {
		if !slices.Contains(both, name) {
			both = append(both, name)
		}
	}
	// Equal rows have equal values: if the numbers of both are the same, each value has one key.
	again, err := r.read(ctx, question{code: CodeUniqueCollision, table: table, columns: both, skipNull: true})
	if err != nil || len(again.gaps) > 0 {
		return false, err
	}
	return again.values == found.values && again.allRows() == found.allRows(), nil
}

// when is the condition for the rows that are combined; nil for all of them.
func (c *Combined) when() *When {
	if c == nil {
		return nil
	}
	return c.When
}

// outside returns what tells of a row that a condition does not hold for it.
func outside(when *When, streams []*stream) func(row position) bool {
	column := make([]int, len(streams))
	for i, s := range streams {
		column[i] = s.carry(when.Column)
	}
	return func(at position) bool { return !when.Holds(at.stream.carriedAt(column[at.stream.index], at.row)) }
}
