package prove

import (
	"context"
	"slices"
	"strings"

	"mergesafe/merge/change"
	"mergesafe/merge/evidence"
	"mergesafe/merge/job"
	"mergesafe/merge/record"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// proveKeys makes the parts of the proof that need what was read of the tables.
func proveKeys(ctx context.Context, p *change.Proving, found []tableRead) error {
	r := p.Run
	p.Parts = &evidence.KeyParts{Injective: evidence.KeyProof{Part: evidence.PartInjective, Of: "keys"}, Disjoint: evidence.KeyProof{Part: evidence.PartDisjoint, Of: "keys"},
		Images: evidence.KeyProof{Part: evidence.PartImages, Of: "rows"}, Own: evidence.KeyProof{Part: evidence.PartOwn, Of: "rows"},
		Sums: evidence.KeyProof{Part: evidence.PartSums, Of: "sums"}}
	disjoint, images, own := &p.Parts.Disjoint, &p.Parts.Images, &p.Parts.Own
	proveRanges(r, disjoint)
	for i := range r.Plan.Tables {
		t, read := &r.Plan.Tables[i], found[i]
		if t.Combine != nil {
			continue
		}
		now := read.now
		if now.Groups == nil { // nothing in it moves
			own.Checked += now.Rows
			if now.Rows != t.Merged() || now.Sum != read.should(t) {
				own.NoteWrong(1, "table %s", t.Name)
			}
			continue
		}
		for j, w := range r.Plan.Worlds {
			here := now.Groups[j]
			var of world.Content // its own, and those of others that have its keys, since they are matched, or none that move
			for _, read := range read.worlds {
				if read.Groups != nil {
					of.Rows, of.Sum = of.Rows+read.Groups[j].Rows, of.Sum.Add(read.Groups[j].Sum)
				}
			}
			same := here.Rows == of.Rows && here.Sum == of.Sum
			off := max(1, here.Rows-of.Rows, of.Rows-here.Rows)
			if j == 0 { // keys that stay
				if own.Checked += of.Rows; !same {
					own.NoteWrong(off, "table %s", t.Name)
				}
				continue
			}
			images.Checked += of.Rows
			if slices.ContainsFunc(r.Plan.Rekey.Columns, func(c verdict.RekeyedColumn) bool { return c.Key && c.Table == t.Name }) {
				disjoint.Checked += here.Rows
				if n := here.Rows - of.Rows; n != 0 {
					disjoint.NoteWrong(max(n, -n), "table %s: %s with keys of %s, want %d", t.Name, record.CountRows(here.Rows), w.Name, of.Rows)
				}
			}
			if !same {
				images.NoteWrong(off, "table %s: the rows of %s", t.Name, w.Name)
			}
		}
	}
	if err := change.Walk(ctx, func(c *change.Change) change.Do[*change.Proving] { return c.ProveKeys }, p); err != nil {
		return err
	}
	p.Proof.Keys = []evidence.KeyProof{p.Parts.Injective, *disjoint, *images, *own}
	return nil
}

// concluded gives the parts their verdicts.
func concluded(all []evidence.KeyProof) []evidence.KeyProof {
	for i := range all {
		all[i].Verdict = verdict.Pass
		if all[i].Wrong > 0 {
			all[i].Verdict = verdict.Fail
		}
	}
	return all
}

// proveRanges makes sure that no two worlds have numbers in one range.
func proveRanges(r *job.Run, p *evidence.KeyProof) {
	for _, s := range r.Plan.Rekey.Spaces {
		for i, of := range s.Worlds {
			for _, other := range s.Worlds[:i] {
				if of.New.Meets(other.New) {
					p.NoteWrong(1, "%s: the numbers of %s and of %s", s.Name, of.World, other.World)
				}
			}
		}
	}
}

// limitLine says what the proof does not cover.
func limitLine(plain int, columns []string) string {
	var b strings.Builder
	b.WriteString("Only declared references are covered: columns that are not declared as references were not followed")
	if plain > 0 {
		b.WriteString(", and " + verdict.PlainWithKeys(plain, columns))
	}
	return b.String()
}
