// Package evidence is what a merged database was found to be, as a document: after a merge, or after an undo.
package evidence

import (
	"fmt"

	"mergesafe/merge/plan"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// Proof is the result of [prove.Verify].
type Proof struct {
	// Verdict is [verdict.Pass] if every table holds exactly the rows of the worlds,
	// all as planned, it is made as the first world is, and the rules of package
	// merge find nothing in the result; [verdict.Fail] if not;
	// [verdict.NotVerified] if a rule could not check everything; and empty beside
	// an error.
	Verdict verdict.Verdict `json:"verdict"`

	Tables []TableProof `json:"tables"`

	// Differing is how it is made in another way than the first world.
	// Unseen is what could not be compared there.
	Differing []string       `json:"differing,omitempty"`
	Unseen    []plan.Refusal `json:"unseen,omitempty"`

	// Resets are the tables that are reset; none if the plan has none.
	Resets []ResetProof `json:"resets,omitempty"`

	// Combines are the tables that are combined; none if the plan has none.
	Combines []CombineProof `json:"combines,omitempty"`

	// Keys are the parts of the proof about keys with new values; none if all kept theirs.
	// Limit says what they do not cover.
	Keys  []KeyProof `json:"keys,omitempty"`
	Limit string     `json:"limit,omitempty"`

	// FromPlan are the statements of rows that stay behind of which the rows were taken from the plan, since no
	// statement of the proof gives them, and why.
	FromPlan []string `json:"from_plan,omitempty"`

	// Findings are the results of the rules of the check for the merged database, and
	// what is wrong with its record of new names.
	Findings []plan.Refusal `json:"findings,omitempty"`

	// Check is the whole report of these rules, on the new database alone, without the
	// tables that were left out.
	Check *verdict.Report `json:"-"`
}

// Verdicts are those of the parts. What could not be compared is not verified.
func (p *Proof) Verdicts() (all []verdict.Verdict) {
	for _, t := range p.Tables {
		all = append(all, t.Verdict)
	}
	for _, s := range p.Resets {
		all = append(all, s.Verdict)
	}
	for _, c := range p.Combines {
		all = append(all, c.Verdict)
	}
	for _, k := range p.Keys {
		all = append(all, k.Verdict)
	}
	if len(p.Unseen) > 0 {
		all = append(all, verdict.NotVerified)
	}
	if len(p.Differing) > 0 {
		all = append(all, verdict.Fail)
	}
	return all
}

// TableProof is the result of [prove.Verify] for one table.
type TableProof struct {
	Table   string          `json:"table"`
	Verdict verdict.Verdict `json:"verdict"` // PASS or FAIL
	Rows    int64           `json:"rows"`    // in the new database
	Want    int64           `json:"want"`    // as planned

	// Missing and Changed are the rows of the worlds that the new database does not
	// have, or has with other values. They are counted if the sums differ.
	Missing int64 `json:"missing"`
	Changed int64 `json:"changed"`

	// Others says that it has rows that come from no world.
	Others bool `json:"others"`

	// Worlds are those whose rows were changed since they were copied.
	Worlds []string `json:"worlds,omitempty"`

	Samples []Difference `json:"samples,omitempty"` // the first of Missing and Changed
}

// ResetProof is the result of [prove.Verify] for a table that is reset.
type ResetProof struct {
	Table   string          `json:"table"`
	Verdict verdict.Verdict `json:"verdict"` // PASS or FAIL
	Rows    int64           `json:"rows"`    // that it has; none are planned
}

// CombineProof is the result of [prove.Verify] for a table that is combined.
type CombineProof struct {
	Table   string          `json:"table"`
	Verdict verdict.Verdict `json:"verdict"` // PASS or FAIL
	Keys    int64           `json:"keys"`    // with rows of several worlds; each column was compared with its formula
	Copied  int64           `json:"copied"`  // rows that came as they were
	Wrong   int64           `json:"wrong"`   // keys whose row is not as planned

	Columns []ColumnProof `json:"columns"`
	Sums    []SumProof    `json:"sums,omitempty"`
	Details []string      `json:"details,omitempty"` // the first problems
}

// ColumnProof is one column of it.
type ColumnProof struct {
	Column  string        `json:"column"`
	Formula rules.Formula `json:"formula"`
	Wrong   int64         `json:"wrong"` // keys with another value
}

// SumProof is the sum of one column.
type SumProof struct {
	Column  string          `json:"column"`
	Verdict verdict.Verdict `json:"verdict"`
	Worlds  []string        `json:"worlds"` // of each world, in their order
	After   string          `json:"after"`  // of the new database
}

// Detail notes what is wrong: the first problems.
func (p *CombineProof) Detail(format string, args ...any) {
	if len(p.Details) < world.MaxSamples {
		p.Details = append(p.Details, fmt.Sprintf(format, args...))
	}
}
