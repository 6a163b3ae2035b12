package check

import (
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/verdict"
)

// frozenRule reports a target whose server accepts no writes, or not from every
// account. It says nothing of one that does: whether an account may write is not
// known to a check that only reads.
var frozenRule = rule.Rule{
	Codes:  []string{verdict.CodeTargetFrozen},
	Single: true,
	Catalog: func(f *read.Facts) (findings []rule.Finding) {
		if reason := f.Target.Catalog.Frozen; reason != "" {
			findings = append(findings, rule.Finding{Result: verdict.Result{
				Code: verdict.CodeTargetFrozen, Message: "rows could not be written at the moment", Gaps: []verdict.Gap{{Source: f.Target.Name, Reason: reason}},
			}})
		}
		return findings
	},
}
