package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/schema"
	"mergesafe/merge/verdict"
)

// proveInto proves what a new database has beside the tables of the plan: the tables that only
// the first world has rows of, and all that its tables are made of.
func proveInto(ctx context.Context, r *job.Run, proof *Proof) error {
	if r.Plan.Into == nil {
		return nil
	}
	for i := range r.Plan.Into.Tables {
		t := &r.Plan.Into.Tables[i]
		err := r.RetryCounted(ctx, fmt.Sprintf("reading table %q of %q", t.Name, r.Target.Name), func(soft context.Context) error {
			l := r.Layouts[t.Name]
			now, err := rowio.Contents(soft, r.Target, l, rowio.All, nil, nil, BetweenPages(ctx, r, ledger.StepVerify, r.Target, l))
			if err != nil {
				return err
			}
			one := evidence.TableProof{Table: t.Name, Verdict: verdict.Pass, Rows: now.Rows, Want: t.Content.Rows}
			if now.Rows != t.Content.Rows || now.Sum != t.Content.After {
				one.Verdict, one.Own = verdict.Fail, true
			}
			proof.OwnTables = append(proof.OwnTables, one)
			return nil
		})
		if err != nil {
			return err
		}
	}
	err := r.Retry(ctx, "counting the rows of the worlds", func(ctx context.Context) error {
		err := r.WorldsAsCounted(ctx)
		changed, is := errors.AsType[*ledger.ChangedError](err)
		if !is {
			return err
		}
		for _, all := range [][]evidence.TableProof{proof.Tables, proof.OwnTables} {
			if i := slices.IndexFunc(all, func(t evidence.TableProof) bool { return t.Table == changed.Table }); i >= 0 && !slices.Contains(all[i].Sources, changed.Database) {
				all[i].Verdict, all[i].Sources = verdict.Fail, append(all[i].Sources, changed.Database)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.Opts.Reread {
		if err := rereadFirst(ctx, r, proof); err != nil {
			return err
		}
	}
	return r.Retry(ctx, "comparing how the databases are made", func(ctx context.Context) error {
		if err := noteHidden(ctx, proof, r.First, r.Target); err != nil {
			return err
		}
		if err := noteRunning(ctx, proof, r); err != nil {
			return err
		}
		want, err := schema.Read(ctx, r.First)
		if err != nil {
			return err
		}
		made, err := schema.Read(ctx, r.Target)
		if err != nil {
			return err
		}
		proof.Differing = want.Differences(made, r.Manifest.Left == ledger.StateCopied)
		return nil
	})
}

// rereadFirst reads the rows of the first world again, and compares them with the plan.
func rereadFirst(ctx context.Context, r *job.Run, proof *Proof) error {
	look := func(of *evidence.TableProof, want *rowio.Content) error {
		return r.RetryCounted(ctx, fmt.Sprintf("reading table %q of %q", of.Table, r.First.Name), func(soft context.Context) error {
			l := r.Layouts[of.Table]
			now, err := rowio.Contents(soft, r.First, l, rowio.All, nil, nil, BetweenPages(ctx, r, ledger.StepVerify, r.First, l))
			if err == nil && (now.Rows != want.Rows || now.Sum != want.Sum) && !slices.Contains(of.Sources, r.First.Name) {
				of.Verdict, of.Sources = verdict.Fail, append(of.Sources, r.First.Name)
			}
			return err
		})
	}
	for i := range proof.Tables {
		if err := look(&proof.Tables[i], &r.Plan.Table(proof.Tables[i].Table).Target); err != nil {
			return err
		}
	}
	for i := range proof.OwnTables {
		if err := look(&proof.OwnTables[i], &r.Plan.Own(proof.OwnTables[i].Table).Content); err != nil {
			return err
		}
	}
	return nil
}

// noteHidden notes what the accounts cannot see, and so cannot be compared.
func noteHidden(ctx context.Context, p *Proof, all ...*rowio.Connection) error {
	p.Unseen = nil
	for _, on := range all {
		s, err := rowio.OpenSource(ctx, on.Database)
		if err != nil {
			return err
		}
		hidden, err := s.HiddenObjects(ctx)
		s.Close()
		if err != nil {
			return err
		}
		for _, what := range hidden {
			p.Unseen = append(p.Unseen, plan.Refusal{Source: on.Name, Reason: "not compared: the account cannot see all: " + what})
		}
	}
	return nil
}

// noteRunning notes events that may have changed rows of a world after these were read.
func noteRunning(ctx context.Context, p *Proof, r *job.Run) error {
	for _, world := range r.Origins() {
		if r.Manifest.Left == ledger.StateCopied { // the old worlds may do as they like
			break
		}
		running, err := schema.Running(ctx, world)
		if err != nil {
			return err
		}
		for _, o := range running {
			p.Unseen = append(p.Unseen, plan.Refusal{Source: world.Name, Reason: o.String() + "; then run verify -reread"})
		}
	}
	return nil
}

// untouched tells of which parts the rows need not be read again, because nothing can have changed
// them since the plan read them: those of a world that this merge has fenced, and that has not run
// since. Without a new database there is no such world: there an operator may have had a reason.
func untouched(ctx context.Context, r *job.Run) (func(plan.Part) bool, error) {
	fenced := make([]bool, len(r.Plan.Sources))
	if r.First == nil || r.Opts.Reread {
		return func(plan.Part) bool { return false }, nil
	}
	for i, w := range r.Plan.Sources {
		if !w.Fence {
			continue
		}
		err := r.Retry(ctx, fmt.Sprintf("reading the registry of %q", w.Name), func(ctx context.Context) error {
			now, err := ledger.Servers(ctx, r.Sources[i].Database)
			fenced[i] = err == nil && ledger.NotKept(w, now, r.Plan.ID) == ""
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return func(p plan.Part) bool {
		t := &r.Plan.Tables[p.Table]
		l := r.Layouts[t.Name]
		return fenced[p.Source] && t.Combine == nil && (!r.Changes.MovesIn(l) || r.Changes.OnlyMoves(r.Plan.Sources[p.Source].Name, l))
	}, nil
}

// asPlanned takes the plan's word for rows that were not read, if the rows of the new database are
// these: with their old keys, all of that world and no others. It returns the parts that have to be
// read after all.
func asPlanned(r *job.Run, found [][]*plan.Apart) (parts []plan.Part) {
	for i := range found {
		target := found[i][0]
		for j := range r.Plan.Sources {
			if found[i][1+j] != nil || target == nil {
				continue
			}
			planned := plan.Apart{Content: r.Plan.Tables[i].Sources[j]}
			if target.Groups != nil {
				planned.Groups = make([]rowio.Content, len(target.Groups))
				planned.Groups[1+j] = rowio.Content{Rows: planned.Rows, Sum: planned.Sum}
				if here := target.Groups[1+j]; here.Rows != planned.Rows || here.Sum != planned.Sum {
					parts = append(parts, plan.Part{Table: i, Source: j})
					continue
				}
			}
			found[i][1+j] = &planned
		}
	}
	return parts
}

// Again is [Verify] for a run.
func Again(ctx context.Context, r *job.Run) (*Proof, error) {
	worlds := make([]rowio.Database, 0, len(r.Origins()))
	for _, c := range r.Origins() {
		worlds = append(worlds, c.Database)
	}
	return Verify(ctx, r.Plan, r.Target.Database, worlds, r.Opts)
}

// recordProof notes in the new database that it was found as planned: then it can be opened.
func recordProof(ctx context.Context, r *job.Run) error {
	on := &rowio.Connection{Database: r.Target.Database, Writes: true, Fail: r.Target.Fail}
	defer on.Close()
	return (&ledger.Manifest{On: on, ID: r.Plan.ID}).Advance(ctx, ledger.StateMade, ledger.StateProved)
}
