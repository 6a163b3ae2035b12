package build

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/job"
	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// movedRow is a row of a world as it was, and as it is in the new database: its key, for people as
// [world.KeyText] writes it, and the value of one column.
type movedRow struct {
	OldKey, NewKey string
	Old, New       string
}

// eachMoved calls each with every row of a table of one world but the first that comes to the new database, in
// the order of the keys, with the values of a column such as that of names. It reads the
// world, which has to be as it was when the plan was made, and memory does not grow with it.
// world is the place in [plan.Plan.Worlds].
func eachMoved(ctx context.Context, plan *plan.Plan, into world.Database, worlds []world.Database, w int, table, column string, codecs keys.Codecs, each func(movedRow) error) error {
	r, err := job.NewRun(plan, into, worlds, job.Options{Codecs: codecs}, job.Hooks{})
	if err != nil {
		return err
	}
	if err := plan.Needs(codecs); err != nil {
		return err
	}
	defer r.Close()
	if t := plan.Table(table); t == nil || t.Only {
		return fmt.Errorf("transfer: no rows of a table %q of %q come by the plan", table, plan.Worlds[w].Name)
	}
	s, err := world.OpenWorld(ctx, worlds[0])
	if err != nil {
		return err
	}
	r.Know(s)
	s.Close()
	l, on := r.Layouts[table], r.Worlds[w]
	if l == nil {
		return fmt.Errorf("transfer: %q has no table %q any more: plan again", plan.Worlds[0].Name, table)
	}
	at := slices.Index(l.Columns, column)
	if at < 0 {
		return fmt.Errorf("transfer: table %q has no column %q whose values are copied", table, column)
	}
	query := l.SelectFrom() + world.Where(on.Comes(table))
	if !l.Multiset() {
		query += " ORDER BY " + l.Dialect.QuoteAll(l.KeyColumns())
	}
	change := r.Changes.Of(on.Name, l)
	err = on.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
		l.Tidy(row)
		m := movedRow{Old: shown(row[at])}
		var err error
		if m.OldKey, err = world.EncodeKey(l.KeyOf(row)); err != nil {
			return false, err
		}
		if _, err := change.Row(row); err != nil {
			return false, err
		}
		m.New = shown(row[at])
		if m.NewKey, err = world.EncodeKey(l.KeyOf(row)); err != nil {
			return false, err
		}
		m.OldKey, m.NewKey = world.KeyText(m.OldKey), world.KeyText(m.NewKey)
		return true, each(m)
	})
	if err != nil {
		err = fmt.Errorf("transfer: reading table %q of %q: %w", table, on.Name, err)
	}
	return err
}

// eachStayed calls each with every row of a table of one world that stays behind by the plan: its key, the value of
// a column such as that of names, and why. Like [eachMoved], it reads
// the world, which is a place in [plan.Plan.Worlds].
func eachStayed(ctx context.Context, plan *plan.Plan, into world.Database, worlds []world.Database, world int, table, column string, each func(key, value, why string) error) error {
	stays := plan.StaysOf(plan.Worlds[world].Name, table)
	if stays == nil || stays.Rows() == 0 || !stays.Keyed() {
		return nil
	}
	r, err := job.NewRun(plan, into, worlds, job.Options{}, job.Hooks{})
	if err != nil {
		return err
	}
	defer r.Close()
	on := r.Worlds[world]
	quote, key := on.Dialect().Quote, stays.RowKey()
	columns := on.Dialect().QuoteAll(key.Columns)
	query := "SELECT " + columns + ", " + quote(column) + " FROM " + quote(table) + " WHERE " + stays.SQL(quote) + " ORDER BY " + columns
	err = on.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
		n, _ := key.Read(func(i int) any { return row[i] })
		for _, why := range stays.Why {
			if why.Keys.HasKey(n) {
				return true, each(n.String(), shown(row[len(row)-1]), why.Why)
			}
		}
		return true, nil
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
	return world.Text(v)
}
