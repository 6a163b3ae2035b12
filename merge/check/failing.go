package check

import (
	"context"
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// testBeside has the worlds test their rows against the conditions of the first one while other rules read them.
func testBeside(f *Facts) {
	for _, table := range f.Tables {
		t := f.Model().Tables[table]
		for db, of := range f.Having(table) {
			source, able := db.Opened.(catalog.Tester)
			if t == nil || !able || f.Same[table] && db != f.Model() {
				continue
			}
			unclear := func(c catalog.Condition) bool { return cannotHold(&c, t, of) != "" }
			if conditions := slices.DeleteFunc(enforced(t, of), unclear); len(conditions) > 0 {
				source.TestBeside(table, conditions)
			}
		}
	}
}

// failing finds the rows of a world for which conditions of another database do
// not hold: one answer for each condition.
func (r *Reader) failing(ctx context.Context, db *rules.Database, table string, conditions []catalog.Condition) ([]catalog.Failing, error) {
	if len(conditions) == 0 {
		return nil, nil
	}
	all := make([]catalog.Failing, len(conditions))
	source, ok := db.Opened.(catalog.Tester)
	if !ok {
		for i := range all {
			all[i].Unclear = "this source cannot evaluate conditions"
		}
		return all, nil
	}
	all, err := source.Failing(ctx, table, conditions, r.Facts.Rekeyed.plainShifts(db, table), rules.Samples)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, &catalog.ReadError{World: db.Name, Table: table, Doing: "rows", Err: err}
	}
	s := r.Stream(db, verdict.CodeRefusedCheck, 0, catalog.Scan{Table: table})
	s.Read = db.Rows[table]
	s.Progress(int(s.Read))
	return all, nil
}

// takes asks a database what values a column of it takes.
func takes(ctx context.Context, db *rules.Database, table, column string) ([]catalog.Condition, error) {
	source, ok := db.Opened.(catalog.Tester)
	if !ok {
		return nil, nil
	}
	conditions, err := source.Takes(ctx, table, column)
	if err != nil {
		return nil, &catalog.ReadError{World: db.Name, Table: table, Doing: "what a column accepts", Err: err}
	}
	return conditions, nil
}
