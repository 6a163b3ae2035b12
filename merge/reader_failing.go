package merge

import "context"

// failingAsked is a condition that rows of a source are tried against.
type failingAsked struct {
	db          *database
	table, text string
}

// tester tries rows against the conditions of another database.
type tester struct{ *reader }

// failing finds the rows of a source for which conditions of another database do
// not hold: one answer for each condition. It reads for the rule with a code.
func (r tester) failing(ctx context.Context, db *database, table, code string, conditions []Condition) ([]Failing, error) {
	if r.shared == nil {
		return r.failingNow(ctx, db, table, code, conditions)
	}
	all := make([]Failing, len(conditions))
	var missing []Condition
	var places []int
	for i, c := range conditions {
		known, ok := r.shared.failing[failingAsked{db, table, c.Text}]
		if !ok {
			missing, places = append(missing, c), append(places, i)
		}
		all[i] = known
	}
	found, err := r.failingNow(ctx, db, table, code, missing)
	for i, f := range found {
		all[places[i]] = f
		r.shared.failing[failingAsked{db, table, missing[i].Text}] = f
	}
	return all, err
}

func (r tester) failingNow(ctx context.Context, db *database, table, code string, conditions []Condition) ([]Failing, error) {
	if len(conditions) == 0 {
		return nil, nil
	}
	all := make([]Failing, len(conditions))
	source, ok := db.source.(Tester)
	if !ok {
		for i := range all {
			all[i].Unclear = "this source cannot evaluate conditions"
		}
		return all, nil
	}
	all, err := source.Failing(ctx, table, conditions, r.facts.rekeyed.plainShifts(db, table), max(0, r.facts.opts.Samples))
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, &ReadError{Source: db.name, Table: table, Doing: "rows", Err: err}
	}
	s := r.stream(db, code, 0, Scan{Table: table})
	s.read = db.rows[table]
	s.progress(int(s.read))
	return all, nil
}

// takes asks a database what values a column of it takes.
func (r tester) takes(ctx context.Context, db *database, table, column string) ([]Condition, error) {
	source, ok := db.source.(Tester)
	if !ok {
		return nil, nil
	}
	conditions, err := source.Takes(ctx, table, column)
	if err != nil {
		return nil, &ReadError{Source: db.name, Table: table, Doing: "what a column takes", Err: err}
	}
	return conditions, nil
}
