package merge

import (
	"context"
	"fmt"

	"mergesafe/internal/printable"
	"mergesafe/merge/rekey"
)

// noneRule looks for keys that exist although none of a reference to them has their values:
// rows that refer to them would keep the value, whatever becomes of the key.
func noneRule() rule {
	return rule{codes: []string{CodeReferenceNone}, tasks: noneTasks}
}

func noneTasks(f *facts) (tasks []task) {
	for _, table := range f.tables {
		for _, ref := range f.declared.those(table, (*reference).hasNone) {
			if !f.wants(CodeReferenceNone, table, ref.subject()) {
				continue
			}
			id := referenceID(CodeReferenceNone, table, *ref)
			id.columns.columns += ref.identity()
			tasks = append(tasks, task{id, nil, func(ctx context.Context, r *reader) (outcome, error) {
				read := &noneReader{reader: r, code: CodeReferenceNone, ref: ref, words: make(map[string]bool)}
				read.numbers.Exact = true
				return read.judge(ctx)
			}})
		}
	}
	return tasks
}

// hasNone reports whether values are declared to name no row, though keys could have them.
func (r *reference) hasNone() bool {
	return r.space == "" && (r.declared.ZeroIsNone || len(r.declared.None) > 0)
}

// judge reads the keys first: usually there are none, and then no row is read.
func (r *noneReader) judge(ctx context.Context) (o outcome, err error) {
	ref := r.ref
	if r.none, err = rekey.ParseValues(ref.declared.ZeroIsNone, ref.declared.None); err != nil {
		return o, err
	}
	result := Result{Code: CodeReferenceNone, Table: ref.table, Subject: ref.subject(), Columns: ref.Columns}
	keys, there := int64(0), []string(nil)
	for _, db := range r.facts.dbs {
		n := int64(0)
		for _, to := range ref.targets() {
			if err := r.readKeys(ctx, db, to, &n); err != nil {
				return o, err
			}
		}
		if keys += n; n > 0 {
			there = append(there, db.name+": "+printable.Number(n))
		}
	}
	if keys == 0 {
		return o, nil
	}
	r.numbers.Finish()
	r.rows.samples = r.facts.opts.Samples
	for db, t := range r.facts.having(ref.table) {
		before := r.rows.rows
		if err := r.readRows(ctx, db, t); err != nil {
			return o, err
		}
		if n := r.rows.rows - before; n > 0 {
			why := printable.Count(n, "row refers to such a key, and would keep its value", "rows refer to such a key, and would keep their value")
			result.Gaps = append(result.Gaps, Gap{db.name, why})
		}
	}
	if r.rows.rows == 0 {
		return o, nil
	}
	result.Rows = r.rows.rows
	existing := printable.Count(keys, "key that exists, or will", "keys that exist, or will")
	referring := printable.Count(result.Rows, "row refers", "rows refer")
	result.Message = fmt.Sprintf("none has values of %s (%s), and %s to one of these: %s", existing, few(there), referring, enumerated(r.examples))
	result.Samples, err = r.show(ctx)
	return found(result), err
}
