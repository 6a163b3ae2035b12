package check

import (
	"context"
	"slices"

	"mergesafe/internal/printable"

	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// resolveByCombining takes keys that are there more than once as settled, if the table is
// combined and all of their rows are among those that are.
func resolveByCombining(r *verdict.Result, c *rules.Combined, found stream.Repeats) {
	if c == nil || r.Count == 0 {
		return
	}
	if found.Outside > 0 {
		r.Message += "; " + printable.Count(found.Outside, "row of these is", "rows of these are") + " not among those that are combined (when " + c.When.String() + ")"
		return
	}
	if found.Within > 0 {
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
// one key, in a table of which the rows of one key are combined, and how many rows that leaves out.
func combinesAll(ctx context.Context, f *Facts, r *Reader, table string, columns []string, found stream.Repeats) (all bool, rows int64, err error) {
	if f.Combined[table] == nil || found.Values == 0 {
		return false, 0, nil
	}
	_, model := f.ModelOf(table)
	if f.Rekeyed.matchesBy(table, model.Key(), columns, found) {
		return true, found.AllRows() - found.Values, nil
	}
	both := slices.Clone(columns)
	for _, name := range model.Key() {
		if !slices.Contains(both, name) {
			both = append(both, name)
		}
	}
	// Equal rows have equal values: if the numbers of both are the same, each value has one key.
	again, err := r.Read(ctx, Question{Code: verdict.CodeUniqueCollision, Table: table, Columns: both, SkipNull: true})
	if err != nil || len(again.Gaps) > 0 {
		return false, 0, err
	}
	return again.Values == found.Values && again.AllRows() == found.AllRows(), again.AllRows() - again.Values, nil
}
