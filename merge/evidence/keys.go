package evidence

import (
	"fmt"

	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// KeyProof is one part of the proof that a merge with new keys changed nothing else:
// together they say that the new database, restricted to the rows of one world and with their
// old keys, is that world.
type KeyProof struct {
	Part    string          `json:"part"`
	Verdict verdict.Verdict `json:"verdict"` // PASS or FAIL
	Checked int64           `json:"checked"` // the number of things that Of names
	Of      string          `json:"of"`      // "keys", "rows", "references"
	Wrong   int64           `json:"wrong"`
	Details []string        `json:"details,omitempty"` // the first problems

	// Matched is how many keys became those of the same things in other worlds; see
	// [rules.Space.Match]. Each was compared with the record of the new database, and by its
	// natural key.
	Matched int64 `json:"matched,omitempty"`
}

// The parts, in their order.
const (
	PartInjective  = "no two keys of a world became the same"
	PartDisjoint   = "new keys collide with no other key"
	PartImages     = "mapped back to old keys, all rows equal the originals"
	PartOwn        = "rows that kept their keys are as they were"
	PartReferences = "references point to the same row as before, or to none as before"
	PartSums       = "declared sums are the same"
)

// wrongParts notes what is wrong.
func (p *KeyProof) NoteWrong(n int64, format string, args ...any) {
	p.Wrong += n
	if len(p.Details) < world.MaxSamples {
		p.Details = append(p.Details, fmt.Sprintf(format, args...))
	}
}

// KeyParts are the parts of the proof about new keys, while it is made.
type KeyParts struct{ Injective, Disjoint, Images, Own, Sums KeyProof }
