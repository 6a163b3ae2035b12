package check

import (
	"mergesafe/merge/check/left"
	"mergesafe/merge/check/references"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/check/schemas"
	"mergesafe/merge/check/servers"
	"mergesafe/merge/check/spaces"
	"mergesafe/merge/check/undeclared"
)

// Rules lists all rules, most serious first: the order in which they read. Those of
// the caller, which never change the verdict, come when all others were judged.
func Rules(extra ...rule.Rule) []rule.Rule {
	return append([]rule.Rule{
		servers.TwiceRule,
		servers.ServerRule,
		servers.CopiedRule,
		servers.ReplicaRule,
		unfinishedRule,
		spaces.SpaceRule,
		keyRule,
		idRule,
		uniqueRule,
		accountRule,
		counterRule,
		fullRule,
		servers.WorldRule,
		sameRule,
		references.ReferenceRule,
		references.NoneRule,
		spaces.CellRule,
		left.SeveredRule,
		undeclared.UndeclaredRule,
		refusedRule,
		uncopyableRule,
		schemas.SchemaRule,
		migrationRule,
		schemas.DriftRule,
		outsideRule,
		opaqueRule,
		skippedRule,
		leftRule,
	}, extra...)
}
