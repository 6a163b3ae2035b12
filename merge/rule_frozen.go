package merge

// frozenRule reports a target whose server accepts no writes, or not from every
// account. It says nothing of one that does: whether an account may write is not
// known to a check that only reads.
func frozenRule() rule {
	return rule{
		codes: []string{CodeTargetFrozen},
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
