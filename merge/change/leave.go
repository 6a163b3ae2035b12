package change

import (
	"context"
	"fmt"

	"mergesafe/merge/leave"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// leaveContents sums up the rows of a table of a world that stay behind.
func leaveContents(ctx context.Context, s *plan.Stays, first, of *world.World) (world.Content, error) {
	c, err := contentsOf(ctx, first, of, s.Table, s.SQL(of.Dialect.Quote))
	if err != nil {
		err = fmt.Errorf("the rows of %q that stay behind: %w", s.Table, err)
	}
	return c, err
}

// measureLeave sums up the rows that stay, so that apply sees if they are not the same any more.
func measureLeave(ctx context.Context, p *Planning) error {
	if p.Plan.Leaving == nil {
		return nil
	}
	for i := range p.Plan.Leaving.Stays {
		s := &p.Plan.Leaving.Stays[i]
		of := world.First(p.DBs, func(d **world.World) bool { return (*d).Name() == s.World })
		if s.Rows() == 0 || p.DBs[0].Table(s.Table) == nil {
			continue
		}
		c := world.Content{Rows: s.Summed, Sum: s.Sum}
		if c.Rows == 0 { // not read with the rows that come
			var err error
			if c, err = leaveContents(ctx, s, p.DBs[0], *of); err != nil {
				return err
			}
		}
		if c.Rows != s.Rows() {
			p.Refuse(plan.Refusal{Source: s.World, Table: s.Table, Place: plan.PlaceRunning,
				Reason: fmt.Sprintf("%s stayed behind when the table was checked, and %d a moment later: another process is writing to it",
					record.CountRows(s.Rows()), c.Rows)})
		}
		s.Sum = c.Sum
	}
	return nil
}

// leaveReady refuses a world in which other rows would stay behind now, or the same ones in another state.
func leaveReady(ctx context.Context, f *Flight) error {
	if f.Plan.Leaving == nil {
		return nil
	}
	s := f.Source
	for i := range f.Plan.Leaving.Stays {
		stays := &f.Plan.Leaving.Stays[i]
		if stays.World != s.Name() || f.Model.Table(stays.Table) == nil || s.Table(stays.Table) == nil {
			continue
		}
		if t := f.Plan.Table(stays.Table); t == nil || t.Only && f.World > 0 { // others are counted with what comes
			n, err := s.Count(ctx, stays.Table)
			if err != nil {
				return err
			}
			if n > 0 {
				f.Changed(s.Name(), stays.Table, "%s would be copied, but none when the plan was made", record.CountRows(n))
			}
		}
		if stays.Rows() == 0 {
			continue
		}
		c, err := leaveContents(ctx, stays, f.Model, s)
		if err != nil {
			return err
		}
		if c.Rows != stays.Rows() || c.Sum != stays.Sum {
			f.Changed(s.Name(), stays.Table, "rows that stay behind are not the same as when the plan was made (%d, and %d then)", c.Rows, stays.Rows())
		}
	}
	return leaveConditions(ctx, f, func(said *verdict.Leave) {
		f.Changed(s.Name(), said.Table, "the condition %q selects different rows than when the plan was made", said.Where)
	})
}

// leaveConditions judges the conditions of a world again, and calls other for those that hold for other rows.
func leaveConditions(ctx context.Context, f *Flight, other func(said *verdict.Leave)) error {
	s := f.Source
	if f.World > 0 {
		s.Withhold(f.Plan.RowsWithheld())
	} else {
		s.Withhold(nil)
	}
	defer s.Withhold(f.Plan.WithheldRows(f.World))
	for i := range f.Plan.Leaving.Says {
		said := &f.Plan.Leaving.Says[i]
		world := world.First(said.Worlds, func(w *verdict.LeaveWorld) bool { return w.World == s.Name() })
		stays := f.Plan.StaysOf(s.Name(), said.Table)
		if said.Where == "" || world == nil || stays == nil {
			continue
		}
		now, err := leave.Digest(ctx, s, f.Plan.Engine, said, stays.RowKey())
		if err != nil {
			return fmt.Errorf("the condition %q of %s in %q: %w", said.Where, said.Table, s.Name(), err)
		}
		if now != world.Holds {
			other(said)
		}
	}
	return nil
}

var _ rules.Selector = (*world.World)(nil)
