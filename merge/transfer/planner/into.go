package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/schema"
	"mergesafe/merge/verdict"
)

// planInto plans the new database: what is made there, and which rows come from the first world
// alone.
func planInto(ctx context.Context, p *Planner) error {
	if p.Plan.Into == nil {
		return nil
	}
	first := p.DBs[0]
	all, err := schema.Read(ctx, first.On)
	if err != nil {
		return fmt.Errorf("database %q: %w", first.Name(), err)
	}
	if err := lookAtPlace(ctx, p, all); err != nil {
		return err
	}
	if err := p.refuseObstacles(ctx, all); err != nil {
		return err
	}
	hidden, err := first.HiddenObjects(ctx)
	if err != nil {
		return err
	}
	for _, what := range hidden {
		p.refuse(plan.Refusal{Place: plan.PlaceRights, Source: first.Name(), Reason: "the account cannot see everything that the new database has to have: " + what})
	}
	for _, skipped := range first.Known.Skipped {
		if all.Has(schema.Sequence, skipped.Table) {
			continue
		}
		p.refuse(plan.Refusal{Place: plan.PlaceInto, Source: first.Name(), Table: skipped.Table, Reason: "it is not read, so it cannot come into the new database: " + skipped.Reason})
	}
	p.Plan.Into.Objects, p.Plan.Into.Made = all.Besides(), all.Fingerprints()
	if err := p.grants(ctx, all); err != nil {
		return err
	}
	if lacks, err := RightsInto(ctx, *p.opts.Into, all); err != nil {
		return err
	} else if lacks != "" {
		p.Plan.Lacks = append(p.Plan.Lacks, p.Plan.Into.Name+": "+lacks)
	}
	for _, s := range p.DBs {
		running, err := schema.Running(ctx, s.On)
		if err != nil {
			return err
		}
		for _, o := range running {
			p.refuse(plan.Refusal{Place: plan.PlaceServers, Source: s.Name(), Reason: o.String()})
		}
		n, err := s.Bytes(ctx)
		if err != nil {
			return err
		}
		p.Plan.Into.Bytes += n
	}
	own := p.ownTables()
	if err := p.RefuseOutside(ctx, own); err != nil {
		return err
	}
	for _, t := range own {
		l := rowio.NewLayout(first.Dialect, t)
		c, err := rowio.Contents(ctx, first.On, l, rowio.All, p.raised(l), ranger(p.Planning, l), func(int) error { return ctx.Err() })
		if null, is := errors.AsType[*rowio.NullKeyError](err); is {
			p.refuse(plan.Refusal{Code: verdict.CodeTableUncopyable, Source: first.Name(), Table: t.Name, Reason: null.Error()})
			continue
		}
		if err != nil {
			return err
		}
		if t.AutoIncrement != nil {
			p.Plan.Into.Counters = append(p.Plan.Into.Counters, plan.Counted{Table: t.Name, Column: t.AutoIncrement.Column})
		}
		p.Plan.Into.Tables = append(p.Plan.Into.Tables, plan.OwnTable{Name: t.Name, Key: append([]string{}, l.KeyColumns()...), Content: c})
	}
	return nil
}

// ownTables are those that only the first world's rows come of.
func (p *Planner) ownTables() (all []*catalog.Table) {
	if p.Plan.Into == nil {
		return nil
	}
	for i := range p.DBs[0].Known.Tables {
		if t := &p.DBs[0].Known.Tables[i]; p.Plan.Table(t.Name) == nil && p.Plan.Reset(t.Name) == nil {
			all = append(all, t)
		}
	}
	return all
}

// raised changes the rows of a table in which the game counts keys; nil if there are none.
func (p *Planner) raised(l *rowio.Layout) rowio.Changer {
	next := make(map[string]map[int]uint64) // by key and column
	for _, c := range p.Plan.Counters {
		if c.Table != l.Table || c.Column == "" {
			continue
		}
		if next[c.Key] == nil {
			next[c.Key] = make(map[int]uint64)
		}
		next[c.Key][slices.Index(l.Columns, c.Column)] = c.After
	}
	if len(next) == 0 {
		return nil
	}
	return func(row []any) (bool, error) {
		key, err := rowio.EncodeKey(l.KeyOf(row))
		for column, n := range next[key] {
			if err == nil {
				row[column], err = rowio.As(row[column], rekey.Integer{Bits: n})
			}
		}
		return len(next[key]) > 0, err
	}
}

// refuseObstacles refuses what cannot be made again in the new database as it is.
func (p *Planner) refuseObstacles(ctx context.Context, all *schema.Schema) error {
	obstacles, err := all.Obstacles(ctx, *p.opts.Into)
	if err != nil {
		return err
	}
	for _, o := range obstacles {
		p.refuse(plan.Refusal{Place: plan.PlaceInto, Source: p.Plan.Target.Name, Reason: o.String()})
	}
	return nil
}

// grants notes what the accounts of the game may do in the first world, as statements for the new
// database.
func (p *Planner) grants(ctx context.Context, all *schema.Schema) (err error) {
	if !p.DBs[0].Dialect.MySQL() {
		return nil
	}
	_, name, err := schema.Server(*p.opts.Into)
	if err == nil {
		p.Plan.Into.Grants, p.Plan.Into.Unseen, err = all.Grants(ctx, p.DBs[0].On, name)
	}
	return err
}

// lookAtPlace refuses a database that is not new: one that has anything in it.
func lookAtPlace(ctx context.Context, p *Planner, all *schema.Schema) error {
	into := p.opts.Into
	on := &rowio.Connection{Database: *into}
	defer on.Close()
	if on.Dialect() != p.DBs[0].Dialect {
		return fmt.Errorf("the new database %q is of another kind than the worlds, which are %s: want a DSN that begins with %q", into.Name, p.Plan.Engine, p.DBs[0].Dialect.Dialect+":")
	}
	there, err := schema.Exists(ctx, *into)
	if err == nil && !there {
		if why := schema.MayMake(*into); why != nil {
			p.refuse(plan.Refusal{Place: plan.PlaceInto, Source: into.Name, Reason: "the new database cannot be made: " + why.Error()})
		}
	}
	if err != nil || !there {
		return err
	}
	p.Plan.Into.There = true
	found, err := schema.Contains(ctx, on)
	if err != nil {
		return fmt.Errorf("database %q: %w", into.Name, err)
	}
	have, err := schema.Read(ctx, on)
	if err == nil && len(found) == 0 && p.DBs[0].Dialect.MySQL() && have.Options != all.Options {
		p.refuse(plan.Refusal{Place: plan.PlaceInto, Source: into.Name, Reason: fmt.Sprintf("the new database is there, and has other defaults than %s (%s, and %s): drop it, so that apply makes it", p.DBs[0].Name(), have.Options, all.Options)})
	}
	if err != nil {
		return err
	}
	if len(found) > 0 {
		ids, err := (&ledger.Manifest{On: on}).Others(ctx)
		if err != nil {
			return err
		}
		reason := fmt.Sprintf("the new database is not empty: it has %s: name one that does not exist", printable.List(found, ", ", 3))
		for _, id := range ids {
			reason = ledger.Unfinished(id)
		}
		p.refuse(plan.Refusal{Place: plan.PlaceInto, Source: into.Name, Reason: reason})
	}
	return nil
}
