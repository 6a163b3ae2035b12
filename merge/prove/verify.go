package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/sqldb"

	"mergesafe/merge/change"
	"mergesafe/merge/evidence"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// Proof is the result of [Verify].
type Proof = evidence.Proof

// Verify proves that the new database holds the merge as planned: it reads every row of
// every table, in the new database and in every world, and compares the sums of their contents with those of the
// plan. Generated columns are compared with what the server computes from their rows. It only reads. If the game ran
// there since, its changes are found too. In a database that was opened a counter may be higher than the merge made it: the
// undo of a later merge raises it.
//
// While the rules of the check read the result, its rows are summed up. If sums differ Verify looks for the rows, and
// names the first of them.
//
// The proof is about the moment at which it is made. [open.Open] makes one of its own.
//
// It returns a [*record.RefusedError] if a world has no fence of the merge any more, or if the new database is a copy from
// before it was opened: what is open then is another one.
//
// It returns a proof without a verdict beside an error, unless it could not read
// the new database or the merge is not completed. Tables are then those that were read
// completely; Missing and Changed of the last ones may not be known yet.
func Verify(ctx context.Context, plan *plan.Plan, into world.Database, worlds []world.Database, opts job.Options) (*Proof, error) {
	return VerifyWith(ctx, plan, into, worlds, opts, job.Hooks{})
}

func VerifyWith(ctx context.Context, plan *plan.Plan, into world.Database, worlds []world.Database, opts job.Options,
	h job.Hooks) (*Proof, error) {
	ctx, release := sqldb.Keep(ctx)
	defer release()
	r, err := job.NewRun(plan, into, worlds, opts, h)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.New.Writes = false
	state, err := r.Begin(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case state == "":
		return nil, fmt.Errorf("merge: the merge %s was not begun in %q, or it was undone: there is nothing to verify yet", plan.ID, into.Name)
	case state == record.StateTried:
		return nil, fmt.Errorf("merge: %q was made by a rehearsal, from worlds that may have run: there is nothing to verify", into.Name)
	case !state.Whole():
		return nil, fmt.Errorf("merge: the merge %s was not completed in %q (its state is %q): there is nothing to verify yet", plan.ID, into.Name, state)
	}
	if err := r.OrBusy(ctx, r.Kept(ctx, "verify", state)); err != nil {
		return nil, err
	}
	proof, err := Prove(ctx, r)
	r.New.Close() // a file that was written to meanwhile is read anew
	err = r.OrBusy(ctx, err)
	if err == nil { // open or undo may have gone on meanwhile: what was read may be of two merges
		now, unread := r.State(ctx)
		if unread == nil && now != r.Manifest.Left && (proof.Verdict != verdict.Pass || !now.Whole()) {
			return nil, r.Manifest.WrongState(now, r.Manifest.Left)
		}
	}
	return proof, err
}

// Prove is [Verify] for a run that has begun.
func Prove(ctx context.Context, r *job.Run) (*Proof, error) {
	if err := r.Plan.Needs(r.Opts.Codecs); err != nil {
		return nil, err
	}
	proof := &Proof{Tables: []evidence.TableProof{}}
	proving := &change.Proving{Run: r, Proof: proof}
	if err := verify(ctx, proving); err != nil {
		return proof, err
	}
	proof.Verdict = proof.Check.Verdict
	if len(proving.Findings) > 0 {
		proof.Verdict, proof.Findings = verdict.Fail, append(proof.Findings, proving.Findings...)
	}
	for _, part := range proof.Verdicts() {
		proof.Verdict = worse(proof.Verdict, part)
	}
	return proof, nil
}

func verify(ctx context.Context, proving *change.Proving) error {
	r, proof := proving.Run, proving.Proof
	var model *world.World       // the catalogue of the first world
	var hidden [2][]plan.Refusal // there, and in the new database
	err := r.Unaltered(ctx, "verify", func(i int, s *world.World) (err error) {
		if i == 0 {
			model = s
			hidden[0], err = hiddenIn(ctx, s)
		}
		return err
	})
	if err != nil {
		return err
	}
	var refused error
	err = r.LookAt(ctx, func(s *world.World) error {
		r.Know(s)
		refused = sameColumns(r, model, s)
		return nil
	})
	if err = cmp.Or(err, refused); err != nil {
		return err
	}
	found, err := readWorlds(ctx, r)
	for i := range r.Plan.Tables {
		if r.Manifest.Left == record.StateOpen {
			found[i].lower = asMade(r, &r.Plan.Tables[i])
		}
	}
	if err == nil {
		err = r.LookAt(ctx, func(s *world.World) (err error) {
			if hidden[1], err = hiddenIn(ctx, s); err != nil {
				return err
			}
			return checkResult(ctx, r, s, proof, found)
		})
	}
	if err == nil {
		err = readRest(ctx, r, found)
	}
	for i := range r.Plan.Tables {
		if t := &r.Plan.Tables[i]; found[i].whole() {
			proof.Tables = append(proof.Tables, compareSums(r, t, found[i], found[i].should(t)))
		}
	}
	if err != nil {
		return err
	}
	if err := proveMade(ctx, r, proof, slices.Concat(hidden[0], hidden[1])); err != nil {
		return err
	}
	if err := proveOurs(ctx, proving, found); err != nil {
		return err
	}
	if err := proveGenerated(ctx, proving); err != nil {
		return err
	}
	if err := change.Walk(ctx, func(c *change.Change) change.Do[*change.Proving] { return c.Prove }, proving); err != nil {
		return err
	}
	if r.Plan.Rekey != nil {
		err := r.Retry(ctx, "reading the record of keys", func(ctx context.Context) error {
			return proveKeys(ctx, proving, found)
		})
		if err != nil {
			return err
		}
	}
	for i := range proof.Tables {
		if t := &proof.Tables[i]; t.Verdict != verdict.Pass && r.Plan.Tables[i].Combine == nil {
			err := r.RetryCounted(ctx, fmt.Sprintf("finding the rows that differ in table %q", t.Table), func(soft context.Context) error {
				t.Missing, t.Changed, t.Samples, t.Others = 0, 0, nil, false
				return explain(r, ctx, soft, &r.Plan.Tables[i], t, &found[i])
			})
			if err != nil {
				return err
			}
		}
	}
	if err := proveUnchanged(ctx, proving); err != nil || r.Plan.Rekey == nil {
		return err
	}
	proof.Keys = concluded(append(proof.Keys, *proveReferences(r.Plan, proof.Check.Rekeyed), proving.Parts.Sums))
	proof.Limit = limitLine(r.Plan.Check.Plain, r.Plan.Check.PlainOpen)
	return nil
}

// sameColumns returns a [*record.RefusedError] if a table of the new database that the merge filled was altered so that its
// rows cannot be read as those of the first world, model, are.
func sameColumns(r *job.Run, model, made *world.World) error {
	refused := &record.RefusedError{Doing: "verify"}
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		what := altered(r, t)
		for _, name := range t.Columns {
			if was, is := model.Table(t.Name).Column(name), made.Table(t.Name); what == "" && was.Kind != is.Column(name).Kind {
				what = fmt.Sprintf("its column %s is %s, and %s in %s", name, is.Column(name).Describe(), was.Describe(), r.Worlds[0].Name)
			}
		}
		if what != "" {
			refused.Refusals = append(refused.Refusals, plan.Refusal{Source: r.New.Name, Table: t.Name, Reason: what + ": alter it back"})
		}
	}
	if len(refused.Refusals) > 0 {
		return refused
	}
	return nil
}

// compareSums compares what was read of a table with the plan, and with the sum that it should have.
func compareSums(r *job.Run, t *plan.Table, read tableRead, should world.Sum) evidence.TableProof {
	now := read.now
	proof := evidence.TableProof{Table: t.Name, Verdict: verdict.Pass, Rows: now.Rows, Want: t.Merged()}
	for i, c := range t.Worlds {
		if i >= len(read.worlds) { // they were not read
			break
		}
		if read.worlds[i].Rows != c.Rows || read.worlds[i].Sum != c.Sum {
			proof.Worlds = append(proof.Worlds, r.Worlds[i].Name)
		}
	}
	if now.Rows != proof.Want || now.Sum != should || len(proof.Worlds) > 0 {
		proof.Verdict = verdict.Fail
	}
	return proof
}

// explain looks for the rows that differ from the plan.
func explain(r *job.Run, ctx, soft context.Context, t *plan.Table, proof *evidence.TableProof, read *tableRead) error {
	l, now := r.Layouts[t.Name], read.now
	if l.Multiset() {
		var err error
		proof.Missing, err = gone(soft, r, t)
		if _, changed := errors.AsType[*record.ChangedError](err); changed {
			return nil // it is named among the worlds
		}
		proof.Others = len(proof.Worlds) == 0 && (proof.Missing == 0 || now.Rows != proof.Want-proof.Missing)
		return err
	}
	// What the rows of the worlds do not explain came from elsewhere.
	left, rows := now.Sum.Sub(read.should(t)), now.Rows-proof.Want
	for i, w := range r.Worlds {
		if t.Worlds[i].Rows == 0 {
			continue
		}
		err := compare(r, ctx, soft, w, l, read.lower, func(d *evidence.Difference, row, there []any) error {
			if d.Missing {
				proof.Missing++
			} else {
				proof.Changed++
			}
			if len(proof.Samples) < world.MaxSamples {
				proof.Samples = append(proof.Samples, *d)
			}
			var h world.Hasher
			sum, err := h.Row(row)
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
		if _, null := errors.AsType[*world.NullKeyError](err); null { // it has come since: the world is named
			continue
		}
		if err != nil {
			return err
		}
	}
	// If a world was changed too, it cannot be told.
	proof.Others = len(proof.Worlds) == 0 && (left != world.Sum{} || rows != 0)
	return nil
}

// altered says how a table of the new database is not there with the columns that the merge gave it; "" if it is.
// [job.Run.Know] must have been called.
func altered(r *job.Run, t *plan.Table) string {
	switch l := r.Layouts[t.Name]; {
	case l == nil:
		return "the table was dropped or renamed after the merge created it"
	case !slices.Equal(slices.Sorted(slices.Values(l.Columns)), slices.Sorted(slices.Values(t.Columns))):
		return "its columns were altered after the merge created it"
	}
	return ""
}

// gone counts the rows that came to a table without a key and are not there, as they
// were copied: one of several equal rows is as good as another.
func gone(ctx context.Context, r *job.Run, t *plan.Table) (n int64, err error) {
	l, came := r.Layouts[t.Name], make(map[world.Sum]int64) // by the sum of a row
	var h world.Hasher
	for i, w := range r.Worlds {
		if t.Worlds[i].Rows == 0 {
			continue
		}
		var now world.Content
		change := r.Changes.Of(w.Name, l)
		err := world.Every(ctx, w, l, func(row []any) error {
			old, err := h.Row(row)
			if err == nil {
				_, err = change.Row(row)
			}
			if err != nil {
				return err
			}
			now.Add(old)
			is, err := h.Row(row)
			came[is]++
			return err
		})
		if want := t.Worlds[i]; err == nil && (now.Rows != want.Rows || now.Sum != want.Sum) {
			err = &record.ChangedError{Database: w.Name, Table: l.Table, Rows: now.Rows, Want: want.Rows}
		}
		if err != nil {
			return 0, err
		}
	}
	err = world.Every(ctx, r.New, l, func(row []any) error {
		is, err := h.Row(row)
		if came[is] > 0 {
			came[is]--
		}
		return err
	})
	for _, rows := range came {
		n += rows
	}
	return n, err
}
