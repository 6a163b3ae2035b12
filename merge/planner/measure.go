package planner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"mergesafe/merge/change"
	"mergesafe/merge/job"
	"mergesafe/merge/mapping"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// Measure counts and sums up the rows of every table in every database, and tries
// what they will be where the check could not. Several databases are read at a time.
func Measure(ctx context.Context, p *change.Planning) error {
	var mu sync.Mutex
	now, databases := job.Progress{Step: record.StepMeasure}, make([]int, len(p.DBs))
	for i, s := range p.DBs {
		databases[i] = i
		now.Total += world.Total(p.Plan.Tables, func(t *plan.Table) int64 { return p.Rows[s.Name()][t.Name] })
	}
	progress := func(database, table string, rows int) {
		mu.Lock()
		defer mu.Unlock()
		now.Database, now.Table, now.Rows = database, table, now.Rows+int64(rows)
		if p.Opts.Progress != nil {
			p.Opts.Progress(now)
		}
	}
	changes, n := mapping.NewMapping(p.Plan, p.Opts.Check.Codecs), min(job.DefaultParallel, len(databases))
	if refused(p, verdict.CodeCellFormat) || refused(p, verdict.CodeKeySpace) { // not every cell can be given new keys
		changes.Rekeying = nil
	}
	refuse := func(r plan.Refusal) {
		mu.Lock()
		defer mu.Unlock()
		p.Refuse(r)
	}
	err := job.Spread(ctx, n, databases, func(ctx context.Context, queue <-chan int) error {
		for i := range queue {
			p.DBs[i].On.Share = n
			if err := measureIn(ctx, p, i, changes, progress, refuse); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if refused(p, verdict.CodeKeySpace) {
		return nil // which rows come was not known, so they were counted in another way
	}
	for i := range p.Plan.Tables {
		t := &p.Plan.Tables[i]
		for j, s := range p.DBs {
			if c, want := t.Worlds[j], p.Rows[s.Name()][t.Name]; !t.Only && s.Table(t.Name) != nil && c.Rows != want {
				p.Refuse(plan.Refusal{Place: plan.PlaceRunning, Source: s.Name(), Table: t.Name, Reason: fmt.Sprintf("it had %s when it was checked and %d a moment later: another process is writing to it", record.CountRows(want), c.Rows)})
			}
		}
	}
	return nil
}

// refused reports whether the plan is refused by a rule of the check.
func refused(p *change.Planning, code string) bool {
	return slices.ContainsFunc(p.Plan.Refusals, func(r plan.Refusal) bool { return r.Code == code })
}

// ranger divides the rows of a table; nil if they have no order.
func ranger(p *change.Planning, l *world.Layout) *world.Ranger {
	if l.Multiset() {
		return nil
	}
	return &world.Ranger{Size: cmp.Or(p.Opts.RangeRows, world.RangeRows)}
}

// sumBeside has rows summed up while the check reads them. That is enough where no generated column has to be computed
// anew: the check made sure that every value and cell takes its new key.
func sumBeside(p *Planner) {
	p.Summed = make(map[string]map[string]*world.Content)
	for _, s := range p.DBs {
		summed := make(map[string]*world.Content)
		p.Summed[s.Name()] = summed
		for i := range p.DBs[0].Known.Tables {
			t := &p.DBs[0].Known.Tables[i]
			l, here := world.NewLayout(p.DBs[0].Dialect, t), s.Table(t.Name)
			if here == nil || l.Multiset() || slices.ContainsFunc(l.Columns, func(name string) bool { return here.Column(name) == nil }) {
				continue
			}
			if here.Outside == "" && !l.Lists() {
				s.ReadAside(summing(p, l, func(c *world.Content) { summed[t.Name] = c }))
			}
		}
	}
}

// summing sums up the rows of a table of a world, and gives their sum to end. Of rows without a key it gives none.
func summing(p *Planner, l *world.Layout, end func(*world.Content)) *world.Aside {
	var c world.Content
	var h world.Hasher
	var divide *world.Ranger
	keyless := false
	a := &world.Aside{Layout: l, Sorted: true}
	a.Begin = func() { c, divide, keyless = world.Content{}, ranger(p.Planning, l), false }
	a.Take = func(row []any) error {
		sum, err := h.Row(row)
		c.Add(sum)
		if keyless = keyless || slices.Contains(l.KeyOf(row), nil); err != nil || keyless {
			return err
		}
		return divide.Add(l, row, sum)
	}
	a.End = func() {
		if c.Ranges = divide.Ranges(); !keyless {
			end(&c)
		}
	}
	return a
}

// measureIn measures the tables of one world.
func measureIn(ctx context.Context, p *change.Planning, database int, changes *mapping.Mapping,
	progress func(database, table string, rows int), refuse func(plan.Refusal)) error {
	s := p.DBs[database]
	model := &world.Connection{Database: p.DBs[0].On.Database} // beside that of the rows that are read
	defer model.Close()
	if err := divideAlike(ctx, s.On, model); err != nil {
		return err
	}
	var come []string
	for i := range p.Plan.Tables {
		t := &p.Plan.Tables[i]
		if s.Table(t.Name) == nil || t.Only && database > 0 {
			continue
		}
		come = append(come, t.Name)
		l := world.NewLayout(p.DBs[0].Dialect, p.DBs[0].Table(t.Name))
		change := changes.Of(s.Name(), l)
		var tried *trial
		if change != nil {
			tried = newTrial(p, model, s.Name(), t, l, changes)
		}
		if c := p.Summed[s.Name()][t.Name]; c != nil && t.Combine == nil && s.On.Withheld[t.Name] == "" && tried == nil {
			t.Worlds[database] = *c
			progress(s.Name(), t.Name, int(c.Rows))
		} else if err := measureTable(ctx, p, s, t, l, tried.of(ctx, change), &t.Worlds[database], progress, refuse); err != nil {
			return err
		}
		found, err := tried.end(ctx)
		if err == nil && found == nil {
			found, err = tryStored(ctx, s, t.Name)
		}
		if err != nil {
			return err
		}
		if found != nil {
			refuse(*found)
		}
	}
	found, err := tryIndexes(ctx, s, come)
	if found != nil {
		refuse(*found)
	}
	return err
}

// measureTable reads and sums up the rows of a table of one world.
func measureTable(ctx context.Context, p *change.Planning, s *world.World, t *plan.Table, l *world.Layout, change world.Changer, c *world.Content,
	progress func(database, table string, rows int), refuse func(plan.Refusal)) (err error) {
	var divide *world.Ranger
	if t.Combine == nil {
		divide = ranger(p, l)
	}
	s.On.Stayed = new(world.Content)
	*c, err = world.Contents(ctx, s.On, l, func(row []any, sum world.Sum) error {
		if err := divide.Add(l, row, sum); err != nil {
			return err
		}
		_, err := change.Row(row)
		return err
	}, func(n int) error {
		progress(s.Name(), t.Name, n)
		return ctx.Err()
	})
	c.Ranges = divide.Ranges()
	if null, is := errors.AsType[*world.NullKeyError](err); is {
		refuse(plan.Refusal{Code: verdict.CodeTableUncopyable, Source: s.Name(), Table: t.Name, Reason: null.Error()})
		*c, err = world.Content{Rows: p.Rows[s.Name()][t.Name]}, nil
	}
	if stays := p.Plan.StaysOf(s.Name(), t.Name); err == nil && stays != nil && s.On.Stayed.Rows > 0 {
		stays.Sum, stays.Summed = s.On.Stayed.Sum, s.On.Stayed.Rows
	}
	s.On.Stayed = nil
	return err
}
