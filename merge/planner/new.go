package planner

import (
	"context"
	"fmt"

	"mergesafe/internal/printable"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// planNew plans the new database: what is made there.
func planNew(ctx context.Context, p *Planner) error {
	first := p.DBs[0]
	all, err := world.Read(ctx, first.On)
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
		p.refuse(plan.Refusal{Place: plan.PlaceRights, Source: first.Name(), Reason: "the account cannot see everything that the new database must have: " + what})
	}
	for _, skipped := range first.Known.Skipped {
		if all.Has(world.Sequence, skipped.Table) {
			continue
		}
		p.refuse(plan.Refusal{Place: plan.PlaceInto, Source: first.Name(), Table: skipped.Table, Reason: "it is not read, so it cannot be created in the new database: " + skipped.Reason})
	}
	p.Plan.New.Made = all.Fingerprints()
	p.Plan.New.Recounted = all.Into(p.Plan.New.Engine)
	p.Plan.New.Objects = all.Besides()
	if err := p.grants(ctx, all); err != nil {
		return err
	}
	if lacks, err := RightsInto(ctx, p.into, all); err != nil {
		return err
	} else if lacks != "" {
		p.Plan.Lacks = append(p.Plan.Lacks, p.Plan.New.Name+": "+lacks)
	}
	for _, s := range p.DBs {
		running, err := world.Running(ctx, s.On)
		if err != nil {
			return err
		}
		for _, o := range running {
			p.refuse(plan.Refusal{Place: plan.PlaceRunning, Source: s.Name(), Reason: o.String()})
		}
		n, err := s.Bytes(ctx)
		if err != nil {
			return err
		}
		p.Plan.New.Bytes += n
	}
	p.refuseRoom(ctx)
	return nil
}

// refuseRoom refuses a disk that has less room than the new database takes, as far as it is known: apply would stop
// when it is full.
func (p *Planner) refuseRoom(ctx context.Context) {
	if p.opts.Free == nil {
		return
	}
	if free, known := p.opts.Free(ctx, p.into); known && free < p.Plan.New.Bytes {
		p.refuse(plan.Refusal{Place: plan.PlaceInto, Source: p.into.Name, Reason: fmt.Sprintf("its disk has %s left, but it takes about %s, and up to twice that while it is made: free some space, or choose a database on another disk",
			printable.Bytes(free), printable.Bytes(p.Plan.New.Bytes))})
	}
}

// refuseObstacles refuses what cannot be made again in the new database as it is.
func (p *Planner) refuseObstacles(ctx context.Context, all *world.Schema) error {
	obstacles, err := all.Obstacles(ctx, p.into)
	if err != nil {
		return err
	}
	for _, o := range obstacles {
		of := p.DBs[0].Name()
		if o.There {
			of = p.into.Name
		}
		p.refuse(plan.Refusal{Place: plan.PlaceInto, Source: of, Reason: o.String()})
	}
	return nil
}

// grants notes what the accounts of the game may do in the first world, as statements for the new
// database.
func (p *Planner) grants(ctx context.Context, all *world.Schema) (err error) {
	if !p.DBs[0].Dialect.MySQL() {
		return nil
	}
	_, name, err := world.Server(p.into)
	if err == nil {
		p.Plan.New.Grants, p.Plan.New.Unseen, err = all.Grants(ctx, p.DBs[0].On, name)
	}
	return err
}

// lookAtPlace refuses a database that is not new: one that has anything in it.
func lookAtPlace(ctx context.Context, p *Planner, all *world.Schema) error {
	into := p.into
	on := &world.Connection{Database: into}
	defer on.Close()
	there, err := world.Exists(ctx, into)
	if err == nil && !there {
		if why := world.MayMake(into); why != nil {
			p.refuse(plan.Refusal{Place: plan.PlaceInto, Source: into.Name, Reason: "the new database cannot be made: " + why.Error()})
		}
	}
	if err != nil || !there {
		return err
	}
	p.Plan.New.There = true
	found, err := world.Contains(ctx, on)
	if err != nil {
		return fmt.Errorf("database %q: %w", into.Name, err)
	}
	have, err := world.Read(ctx, on)
	if err == nil && len(found) == 0 && p.DBs[0].Dialect.MySQL() && have.Options != all.Options {
		p.refuse(plan.Refusal{Place: plan.PlaceInto, Source: into.Name, Reason: fmt.Sprintf("the new database exists with other defaults than %s (%s instead of %s): drop it, so that apply creates it", p.DBs[0].Name(), have.Options, all.Options)})
	}
	if err != nil {
		return err
	}
	if len(found) > 0 {
		rec, err := record.RecordOf(ctx, on)
		if err != nil {
			return err
		}
		if rec != nil && rec.State != record.StateOpen {
			p.refuse(record.Unfinished(into.Name, rec.ID))
			return nil
		}
		p.refuse(plan.Refusal{Place: plan.PlaceInto, Source: into.Name,
			Reason: fmt.Sprintf("the new database is not empty: it has %s: choose one that does not exist", printable.List(found, ", ", 3))})
	}
	return nil
}
