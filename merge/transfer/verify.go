package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/merge"
)

// Proof is the result of [Verify].
type Proof struct {
	// Verdict is [merge.Pass] if every table holds exactly the target's own
	// rows and the rows of the sources, all as planned, and the rules of package
	// merge find nothing in the result; [merge.Fail] if not;
	// [merge.NotVerified] if a rule could not check everything; and empty beside
	// an error.
	Verdict merge.Verdict `json:"verdict"`

	Tables []TableProof `json:"tables"`

	// Resets are the tables that are emptied; none if the plan has none.
	Resets []ResetProof `json:"resets,omitempty"`

	// Combines are the tables that are combined; none if the plan has none.
	Combines []CombineProof `json:"combines,omitempty"`

	// Keys are the parts of the proof about keys with new values; none if all kept theirs.
	// Limit says what they do not cover.
	Keys  []KeyProof `json:"keys,omitempty"`
	Limit string     `json:"limit,omitempty"`

	// Findings are the results of the rules of package merge for the merged database, and
	// what is wrong with its record of new names.
	Findings []Refusal `json:"findings,omitempty"`

	// Check is the whole report of these rules, on the target alone, without the
	// tables that were left out.
	Check *merge.Report `json:"-"`
}

// TableProof is the result of [Verify] for one table.
type TableProof struct {
	Table   string        `json:"table"`
	Verdict merge.Verdict `json:"verdict"` // PASS or FAIL
	Rows    int64         `json:"rows"`    // in the target
	Want    int64         `json:"want"`    // as planned

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
// runs the rules of package merge over the result.
//
// It returns a proof without a verdict beside an error, unless it could not read
// the target or the merge is not completed. Tables are then those that were read
// completely; Missing, Changed and Own of the last ones may not be known yet.
func Verify(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options) (*Proof, error) {
	return verifyWith(ctx, plan, target, sources, opts, hooks{})
}

func verifyWith(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options,
	h hooks) (*Proof, error) {
	r, err := newRun(plan, target, sources, opts, h)
	if err != nil {
		return nil, err
	}
	if err := plan.needs(opts.Codecs); err != nil {
		return nil, err
	}
	defer r.close()
	r.target.writes = false
	state, err := r.begin(ctx, StepVerify)
	if err != nil {
		return nil, err
	}
	if state == "" {
		return nil, fmt.Errorf("transfer: the merge %s was not begun in %q, or it was undone: there is nothing to verify yet", plan.ID, target.Name)
	}
	if state != StateCopied {
		return nil, fmt.Errorf("transfer: the merge %s was not completed in %q (its state is %q): there is nothing to verify yet", plan.ID, target.Name, state)
	}
	proof := &Proof{Tables: []TableProof{}}
	if err := r.verify(ctx, proof); err != nil {
		return proof, err
	}
	proof.Verdict = proof.Check.Verdict
	err = r.retry(ctx, "reading the target's record of new names", func(ctx context.Context) error { return r.proveRenames(ctx, proof) })
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
	if proof.Verdict == merge.Fail {
		err := r.retry(ctx, "looking for later merges", func(ctx context.Context) error { return r.noteLater(ctx, proof) })
		if err != nil {
			proof.Verdict = ""
			return proof, err
		}
	}
	return proof, nil
}

func (r *run) verify(ctx context.Context, proof *Proof) error {
	unaltered := func() error { return r.unaltered(ctx, "verify", "alter them back, then run verify again") }
	if err := unaltered(); err != nil {
		return err
	}
	err := r.lookAtTarget(ctx, func(s *source) error {
		r.know(s)
		return nil
	})
	if err != nil {
		return err
	}
	found, err := r.readAll(ctx)
	for i := range r.plan.Tables {
		if t := &r.plan.Tables[i]; !slices.Contains(found[i], nil) {
			proof.Tables = append(proof.Tables, r.compareSums(t, found[i][0], found[i][1:]))
		}
	}
	if err != nil {
		return err
	}
	err = r.retry(ctx, "reading the tables that were emptied", func(ctx context.Context) (err error) {
		proof.Resets, err = r.proveResets(ctx)
		return err
	})
	if err != nil {
		return err
	}
	err = r.retry(ctx, "reading the tables that were combined", func(ctx context.Context) (err error) {
		proof.Combines, err = r.proveCombines(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if r.plan.Rekey != nil {
		err := r.retry(ctx, "reading the target's record of keys", func(ctx context.Context) (err error) {
			proof.Keys, err = r.proveKeys(ctx, found, proof.Combines)
			return err
		})
		if err != nil {
			return err
		}
	}
	for i := range proof.Tables {
		if t := &proof.Tables[i]; t.Verdict != merge.Pass && r.plan.Tables[i].Combine == nil {
			err := r.retryCounted(ctx, fmt.Sprintf("looking for the rows that differ in table %q", t.Table), func(soft context.Context) error {
				t.Missing, t.Changed, t.Samples, t.Own = 0, 0, nil, false
				return r.explain(ctx, soft, &r.plan.Tables[i], t, found[i][0])
			})
			if err != nil {
				return err
			}
		}
	}
	if err := r.lookAtTarget(ctx, func(s *source) error { return r.checkResult(ctx, s, proof) }); err != nil {
		return err
	}
	if err := unaltered(); err != nil || r.plan.Rekey == nil {
		return err
	}
	proof.Keys = concluded(append(proof.Keys[:4:4], *r.plan.proveReferences(proof.Check.Rekeyed), provedSums(proof.Combines)))
	proof.Limit = limitLine(r.plan.Check.Plain, r.plan.Check.PlainOpen)
	return nil
}

// lookAtTarget opens the target as package merge sees it, for the time of f.
func (r *run) lookAtTarget(ctx context.Context, f func(s *source) error) error {
	return r.retry(ctx, fmt.Sprintf("reading %q", r.target.Name), func(soft context.Context) error {
		s, err := openSource(soft, r.target.Database)
		if err != nil {
			return err
		}
		defer s.Close()
		return f(s)
	})
}

// compareSums compares what was read of a table with the plan.
func (r *run) compareSums(t *Table, now *apart, sources []*apart) TableProof {
	want := t.merged()
	proof := TableProof{Table: t.Name, Verdict: merge.Pass, Rows: now.Rows, Want: want.Rows}
	for i, c := range t.Sources {
		if sources[i].Rows != c.Rows || sources[i].Sum != c.Sum {
			proof.Sources = append(proof.Sources, r.sources[i].Name)
		}
	}
	if now.Rows != want.Rows || now.Sum != want.Sum || len(proof.Sources) > 0 {
		proof.Verdict = merge.Fail
	}
	return proof
}

// merged is what the target should hold after the merge.
func (t *Table) merged() Content {
	if t.Combine != nil {
		return Content{Rows: t.Target.Rows + t.Combine.Copied, Sum: t.Combine.After}
	}
	want := Content{Rows: t.Target.Rows, Sum: t.Target.After}
	for _, c := range t.Sources {
		want.Rows += c.Rows
		want.Sum = want.Sum.Add(c.After)
	}
	return want
}

// explain looks for the rows that differ from the plan.
func (r *run) explain(ctx, soft context.Context, t *Table, proof *TableProof, now *apart) error {
	l := r.layouts[t.Name]
	if l.multiset() {
		var err error
		proof.Missing, err = r.gone(soft, slices.IndexFunc(r.plan.Tables, func(other Table) bool { return other.Name == t.Name }))
		if _, changed := errors.AsType[*ChangedError](err); changed {
			return nil // it is named among the sources
		}
		proof.Own = len(proof.Sources) == 0 && (proof.Missing == 0 || now.Rows != proof.Want-proof.Missing)
		return err
	}
	// What the rows of the sources do not explain is the target's own.
	left, rows := now.Sum.Sub(t.merged().Sum), now.Rows-proof.Want
	for i := range t.Sources {
		err := r.compare(ctx, soft, i, l, nil, all, func(d *Difference, source, there []any) error {
			if d.Missing {
				proof.Missing++
			} else {
				proof.Changed++
			}
			if len(proof.Samples) < maxSamples {
				proof.Samples = append(proof.Samples, *d)
			}
			var h hasher
			sum, err := h.row(source)
			if err != nil {
				return err
			}
			left = left.Add(sum)
			if d.Missing {
				rows++
				return nil
			}
			if sum, err = h.row(there); err == nil {
				left = left.Sub(sum)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	// If a source was changed too, it cannot be told.
	proof.Own = len(proof.Sources) == 0 && (left != Sum{} || rows != 0)
	return nil
}
