package transfer

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/cell"
)

// Moved is a row of a source as it was, and as it is in the target: its key, for people as
// [KeyText] writes it, and the value of one column.
type Moved struct {
	OldKey, NewKey string
	Old, New       string
}

// EachMoved calls each with every row of a table of one source that comes to the target, in
// the order of the keys, with the values of a column such as that of names. It reads the
// source, which has to be as it was when the plan was made, and memory does not grow with it.
// source is the place in [Plan.Sources].
func EachMoved(ctx context.Context, plan *Plan, target Database, sources []Database, source int, table, column string, codecs cell.Codecs, each func(Moved) error) error {
	r, err := newRun(plan, target, sources, Options{Codecs: codecs}, hooks{})
	if err != nil {
		return err
	}
	if err := plan.needs(codecs); err != nil {
		return err
	}
	defer r.close()
	if plan.table(table) == nil {
		return fmt.Errorf("transfer: no rows of a table %q come to %q by the plan", table, plan.Target.Name)
	}
	s, err := openSource(ctx, target)
	if err != nil {
		return err
	}
	r.know(s)
	s.Close()
	l, on := r.layouts[table], r.sources[source]
	if l == nil {
		return fmt.Errorf("transfer: %q has no table %q any more: plan again", target.Name, table)
	}
	at := slices.Index(l.columns, column)
	if at < 0 {
		return fmt.Errorf("transfer: table %q has no column %q whose values are copied", table, column)
	}
	query := l.selectFrom() + where(on.comes(table))
	if !l.multiset() {
		query += " ORDER BY " + l.dialect.QuoteAll(l.keyColumns())
	}
	change := r.changes.of(on.Name, l)
	err = on.rows(ctx, query, false, nil, func(row []any) (bool, error) {
		l.tidy(row)
		m := Moved{Old: shown(row[at])}
		var err error
		if m.OldKey, err = encodeKey(l.keyOf(row)); err != nil {
			return false, err
		}
		if _, err := change.row(row); err != nil {
			return false, err
		}
		m.New = shown(row[at])
		if m.NewKey, err = encodeKey(l.keyOf(row)); err != nil {
			return false, err
		}
		m.OldKey, m.NewKey = KeyText(m.OldKey), KeyText(m.NewKey)
		return true, each(m)
	})
	if err != nil {
		err = fmt.Errorf("transfer: reading table %q of %q: %w", table, on.Name, err)
	}
	return err
}

// shown is a value as text; NULL is empty.
func shown(v any) string {
	if v == nil {
		return ""
	}
	return text(v)
}
