package merge

// The code about a target that accepts no writes.
const CodeTargetFrozen = "target-frozen"

// frozenRule reports a target whose server accepts no writes, or not from every
// account. It says nothing of one that does: whether an account may write is not
// known to a check that only reads.
func frozenRule() rule {
	return rule{
		codes: []Code{{
			Code:       CodeTargetFrozen,
			Meaning:    "the target's server accepts no writes at the moment",
			Unverified: "merge on the server that accepts writes; if this one is a copy made for the check, allow this",
		}},
		catalog: func(f *facts) (findings []finding) {
			if reason := f.target.catalog.Frozen; reason != "" {
				findings = append(findings, finding{Result: Result{
					Code: CodeTargetFrozen, Message: "rows could not be written at the moment", Gaps: []Gap{{f.target.name, reason}},
				}})
			}
			return findings
		},
	}
}
