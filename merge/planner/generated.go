package planner

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/change"
	"mergesafe/merge/mapping"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// The new database computes generated columns anew, and a server is strict: it cuts nothing, and refuses what a world that was not
// strict has stored. So each row is tried whose value it might not give.

// tryStored refuses a row of a world whose generated columns the new database does not store as they are there.
func tryStored(ctx context.Context, s *world.World, table string) (*plan.Refusal, error) {
	of := s.Table(table)
	l := world.NewLayout(s.Dialect, of)
	var bent *world.Bent
	var err error
	if g := world.NewGenerated(l, of).Stored(s.Known.Engine); g != nil {
		bent, err = g.BentInTable(ctx, s.On)
	} else if !s.Dialect.MySQL() {
		bent, err = world.StoredOtherwise(ctx, s.On, l, of)
	}
	if err != nil {
		return nil, fmt.Errorf("database %q: computing the generated columns of table %q: %w", s.Name(), table, err)
	}
	if bent == nil {
		return nil, nil
	}
	return &plan.Refusal{Place: plan.PlaceEngine, Source: s.Name(), Table: table,
		Reason: fmt.Sprintf("%s: %s", bent, bent.Remedy())}, nil
}

// divideAlike has the session of a world of MySQL or MariaDB compute quotients of as many digits as the first one does, and so the new
// database.
func divideAlike(ctx context.Context, on, first *world.Connection) error {
	if !on.Dialect().MySQL() {
		return nil
	}
	digits, err := first.Number(ctx, "SELECT @@div_precision_increment", false)
	if err == nil {
		_, err = on.Exec(ctx, "session", fmt.Sprint("SET SESSION div_precision_increment = ", digits), false)
	}
	return err
}

// tryIndexes refuses an index of which the new database would have other values than the games ask for.
func tryIndexes(ctx context.Context, s *world.World, tables []string) (*plan.Refusal, error) {
	table, index, err := world.SessionBound(ctx, s, tables)
	why, drop := "covers what this server computes with its own time_zone and sql_mode, and other sessions otherwise", "ALTER TABLE "+s.Dialect.Quote(table)+" DROP INDEX "
	if !s.Dialect.MySQL() {
		why, drop = "has other values than the SQLite of the merge computes, such as texts of REAL numbers", "DROP INDEX "
		for i := 0; i < len(tables) && index == "" && err == nil; i++ {
			table = tables[i]
			index, err = world.IndexedOtherwise(ctx, s.On, table)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("database %q: computing what its indexes cover: %w", s.Name(), err)
	}
	if index == "" {
		return nil, nil
	}
	return &plan.Refusal{Place: plan.PlaceEngine, Source: s.Name(), Table: table,
		Reason: fmt.Sprintf("its index %s %s: drop the index from all worlds, and make it again in the new database when that is open: %s%s;",
			printable.Text(index), why, drop, s.Dialect.Quote(index))}, nil
}

// trial tries rows that change on their way.
type trial struct {
	*world.Trial
	l     *world.Layout
	world string
	rows  [][]any
	were  [][]any // the keys that they had
	found *plan.Refusal
}

// newTrial returns nil if nothing is to be tried.
func newTrial(p *change.Planning, model *world.Connection, w string, t *plan.Table, l *world.Layout, changes *mapping.Mapping) *trial {
	y := world.NewTrial(model, l, p.DBs[0].Table(t.Name), changes.Changing(w, l))
	if y == nil || t.Combine != nil { // of which the rows that come are made when it is measured
		return nil
	}
	return &trial{Trial: y, l: l, world: w}
}

// of tries what another change makes of rows.
func (y *trial) of(ctx context.Context, change world.Changer) world.Changer {
	if y == nil {
		return change
	}
	return func(row []any) (bool, error) {
		was := slices.Clone(row)
		changed, err := change(row)
		if err != nil || !changed || y.found != nil || !y.Wants(was, row) {
			return changed, err
		}
		y.rows, y.were = append(y.rows, slices.Clone(row)), append(y.were, y.l.KeyOf(was))
		const atOnce = 500
		if len(y.rows) == atOnce {
			err = y.flush(ctx)
		}
		return changed, err
	}
}

func (y *trial) flush(ctx context.Context) error {
	bent, err := y.Among(ctx, y.rows)
	if err != nil {
		return fmt.Errorf("trying the new values of table %q: %w", y.l.Table, err)
	}
	if bent != nil {
		if !y.l.Multiset() && bent.At >= 0 {
			bent.Row = "row " + y.l.KeysOnly().KeyText(y.were[bent.At])
		}
		y.found = &plan.Refusal{Place: plan.PlaceValues, Source: y.world, Table: y.l.Table,
			Reason: fmt.Sprintf("with the values that the merge gives it, %s: %s", bent, bent.Remedy())}
	}
	y.rows, y.were = nil, nil
	return nil
}

// end tries the last rows, and returns why the plan is refused; nil if it is not.
func (y *trial) end(ctx context.Context) (*plan.Refusal, error) {
	if y == nil {
		return nil, nil
	}
	defer y.Close()
	if len(y.rows) > 0 {
		if err := y.flush(ctx); err != nil {
			return nil, err
		}
	}
	return y.found, nil
}
