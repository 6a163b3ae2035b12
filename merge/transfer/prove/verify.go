package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/verdict"
)

// Proof is the result of [Verify].
type Proof struct {
	// Verdict is [verdict.Pass] if every table holds exactly the target's own
	// rows and the rows of the sources, all as planned, and the rules of package
	// merge find nothing in the result; [verdict.Fail] if not;
	// [verdict.NotVerified] if a rule could not check everything; and empty beside
	// an error.
	Verdict verdict.Verdict `json:"verdict"`

	Tables []TableProof `json:"tables"`

	// OwnTables are the tables of a new database that only the first world has rows of, and
	// Differing how it is made in another way than that one.
	// Unseen is what could not be compared there.
	OwnTables []TableProof   `json:"own_tables,omitempty"`
	Differing []string       `json:"differing,omitempty"`
	Unseen    []plan.Refusal `json:"unseen,omitempty"`

	// Resets are the tables that are emptied; none if the plan has none.
	Resets []ResetProof `json:"resets,omitempty"`

	// Combines are the tables that are combined; none if the plan has none.
	Combines []CombineProof `json:"combines,omitempty"`

	// Keys are the parts of the proof about keys with new values; none if all kept theirs.
	// Limit says what they do not cover.
	Keys  []KeyProof `json:"keys,omitempty"`
	Limit string     `json:"limit,omitempty"`

	// Findings are the results of the rules of the check for the merged database, and
	// what is wrong with its record of new names.
	Findings []plan.Refusal `json:"findings,omitempty"`

	// Check is the whole report of these rules, on the target alone, without the
	// tables that were left out.
	Check *verdict.Report `json:"-"`
}

// TableProof is the result of [Verify] for one table.
type TableProof struct {
	Table   string          `json:"table"`
	Verdict verdict.Verdict `json:"verdict"` // PASS or FAIL
	Rows    int64           `json:"rows"`    // in the target
	Want    int64           `json:"want"`    // as planned

	// Missing and Changed are the rows of the sources that the target does not
	// have, or has with other values. They are counted if the sums differ.
	Missing int64 `json:"missing"`
	Changed int64 `json:"changed"`

	// Own says that the target's own rows are not those that the plan found, or that it
	// got rows from elsewhere.
	Own bool `json:"own"`

	// Sources are those whose rows were changed since they were copied.
	Sources []string `json:"sources,omitempty"`

	Samples []Difference `json:"samples,omitempty"` // the first of Missing and Changed
}

// Verify proves that the target holds a completed merge as planned: it reads every
// row of every copied table, in the target and in the sources, and compares the
// sums of their contents with those of the plan. It only reads. If the game ran since,
// or another merge came after this one, their changes are found too.
//
// If sums differ it looks for the rows, and names the first of them. Finally it
// runs the rules of the check over the result.
//
// It returns a proof without a verdict beside an error, unless it could not read
// the target or the merge is not completed. Tables are then those that were read
// completely; Missing, Changed and Own of the last ones may not be known yet.
func Verify(ctx context.Context, plan *plan.Plan, target rowio.Database, sources []rowio.Database, opts job.Options) (*Proof, error) {
	return VerifyWith(ctx, plan, target, sources, opts, job.Hooks{})
}

func VerifyWith(ctx context.Context, plan *plan.Plan, target rowio.Database, sources []rowio.Database, opts job.Options,
	h job.Hooks) (*Proof, error) {
	r, err := job.NewRun(plan, target, sources, opts, h)
	if err != nil {
		return nil, err
	}
	if err := plan.Needs(opts.Codecs); err != nil {
		return nil, err
	}
	defer r.Close()
	r.Target.Writes = false
	state, err := r.Begin(ctx, ledger.StepVerify)
	if err != nil {
		return nil, err
	}
	if state == "" {
		return nil, fmt.Errorf("transfer: the merge %s was not begun in %q, or it was undone: there is nothing to verify yet", plan.ID, target.Name)
	}
	if finished := state == ledger.StateCopied || state == ledger.StateMade || state == ledger.StateProved; !finished {
		return nil, fmt.Errorf("transfer: the merge %s was not completed in %q (its state is %q): there is nothing to verify yet", plan.ID, target.Name, state)
	}
	proof := &Proof{Tables: []TableProof{}}
	if err := verify(ctx, r, proof); err != nil {
		return proof, err
	}
	proof.Verdict = proof.Check.Verdict
	err = r.Retry(ctx, "reading the target's record of new names", func(ctx context.Context) error { return proveRenames(ctx, r, proof) })
	if err != nil {
		proof.Verdict = ""
		return proof, err
	}
	for _, t := range proof.Tables {
		proof.Verdict = worse(proof.Verdict, t.Verdict)
	}
	for _, s := range proof.Resets {
		proof.Verdict = worse(proof.Verdict, s.Verdict)
	}
	for _, c := range proof.Combines {
		proof.Verdict = worse(proof.Verdict, c.Verdict)
	}
	for _, k := range proof.Keys {
		proof.Verdict = worse(proof.Verdict, k.Verdict)
	}
	proof.Verdict = proof.worst(proof.Verdict)
	if proof.Verdict == verdict.Pass && state == ledger.StateMade {
		err := r.Retry(ctx, "recording the proof", func(ctx context.Context) error { return recordProof(ctx, r) })
		if err != nil {
			proof.Verdict = ""
			return proof, err
		}
	}
	if proof.Verdict == verdict.Fail {
		err := r.Retry(ctx, "looking for later merges", func(ctx context.Context) error { return noteLater(ctx, r, proof) })
		if err != nil {
			proof.Verdict = ""
			return proof, err
		}
	}
	return proof, nil
}

func verify(ctx context.Context, r *job.Run, proof *Proof) error {
	unaltered := func() error { return r.Unaltered(ctx, "verify", "alter them back, then run verify again") }
	if err := unaltered(); err != nil {
		return err
	}
	err := LookAtTarget(ctx, r, func(s *rowio.Source) error {
		r.Know(s)
		return nil
	})
	if err != nil {
		return err
	}
	found, err := readAll(ctx, r)
	for i := range r.Plan.Tables {
		if t := &r.Plan.Tables[i]; !slices.Contains(found[i], nil) {
			proof.Tables = append(proof.Tables, compareSums(r, t, found[i][0], found[i][1:]))
		}
	}
	if err != nil {
		return err
	}
	if err := proveInto(ctx, r, proof); err != nil {
		return err
	}
	err = r.Retry(ctx, "reading the tables that were emptied", func(ctx context.Context) (err error) {
		proof.Resets, err = proveResets(ctx, r)
		return err
	})
	if err != nil {
		return err
	}
	err = r.Retry(ctx, "reading the tables that were combined", func(ctx context.Context) (err error) {
		proof.Combines, err = proveCombines(ctx, r)
		return err
	})
	if err != nil {
		return err
	}
	if r.Plan.Rekey != nil {
		err := r.Retry(ctx, "reading the target's record of keys", func(ctx context.Context) (err error) {
			proof.Keys, err = proveKeys(ctx, r, found, proof.Combines)
			return err
		})
		if err != nil {
			return err
		}
	}
	for i := range proof.Tables {
		if t := &proof.Tables[i]; t.Verdict != verdict.Pass && r.Plan.Tables[i].Combine == nil {
			err := r.RetryCounted(ctx, fmt.Sprintf("looking for the rows that differ in table %q", t.Table), func(soft context.Context) error {
				t.Missing, t.Changed, t.Samples, t.Own = 0, 0, nil, false
				return explain(r, ctx, soft, &r.Plan.Tables[i], t, found[i][0])
			})
			if err != nil {
				return err
			}
		}
	}
	if err := LookAtTarget(ctx, r, func(s *rowio.Source) error { return checkResult(ctx, r, s, proof) }); err != nil {
		return err
	}
	if err := unaltered(); err != nil || r.Plan.Rekey == nil {
		return err
	}
	proof.Keys = concluded(append(proof.Keys[:4:4], *proveReferences(r.Plan, proof.Check.Rekeyed), provedSums(proof.Combines)))
	proof.Limit = limitLine(r.Plan.Check.Plain, r.Plan.Check.PlainOpen)
	return nil
}

// LookAtTarget opens the target as package merge sees it, for the time of f.
func LookAtTarget(ctx context.Context, r *job.Run, f func(s *rowio.Source) error) error {
	return r.Retry(ctx, fmt.Sprintf("reading %q", r.Target.Name), func(soft context.Context) error {
		s, err := rowio.OpenSource(soft, r.Target.Database)
		if err != nil {
			return err
		}
		defer s.Close()
		return f(s)
	})
}

// compareSums compares what was read of a table with the plan.
func compareSums(r *job.Run, t *plan.Table, now *plan.Apart, sources []*plan.Apart) TableProof {
	want := t.Merged()
	proof := TableProof{Table: t.Name, Verdict: verdict.Pass, Rows: now.Rows, Want: want.Rows}
	for i, c := range t.Sources {
		if sources[i].Rows != c.Rows || sources[i].Sum != c.Sum {
			proof.Sources = append(proof.Sources, r.Sources[i].Name)
		}
	}
	if now.Rows != want.Rows || now.Sum != want.Sum || len(proof.Sources) > 0 {
		proof.Verdict = verdict.Fail
	}
	return proof
}

// explain looks for the rows that differ from the plan.
func explain(r *job.Run, ctx, soft context.Context, t *plan.Table, proof *TableProof, now *plan.Apart) error {
	l := r.Layouts[t.Name]
	if l.Multiset() {
		var err error
		proof.Missing, err = r.Gone(soft, slices.IndexFunc(r.Plan.Tables, func(other plan.Table) bool { return other.Name == t.Name }))
		if _, changed := errors.AsType[*ledger.ChangedError](err); changed {
			return nil // it is named among the sources
		}
		proof.Own = len(proof.Sources) == 0 && (proof.Missing == 0 || now.Rows != proof.Want-proof.Missing)
		return err
	}
	// What the rows of the sources do not explain is the target's own.
	left, rows := now.Sum.Sub(t.Merged().Sum), now.Rows-proof.Want
	for i := range t.Sources {
		err := Compare(r, ctx, soft, i, l, nil, rowio.All, func(d *Difference, source, there []any) error {
			if d.Missing {
				proof.Missing++
			} else {
				proof.Changed++
			}
			if len(proof.Samples) < rowio.MaxSamples {
				proof.Samples = append(proof.Samples, *d)
			}
			var h rowio.Hasher
			sum, err := h.Row(source)
			if err != nil {
				return err
			}
			left = left.Add(sum)
			if d.Missing {
				rows++
				return nil
			}
			if sum, err = h.Row(there); err == nil {
				left = left.Sub(sum)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	// If a source was changed too, it cannot be told.
	proof.Own = len(proof.Sources) == 0 && (left != rowio.Sum{} || rows != 0)
	return nil
}
