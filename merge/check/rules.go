package check

// Rules lists all rules, most serious first: the order in which they read. Those of
// the caller, which never change the verdict, come when all others were judged.
func Rules(extra ...Rule) []Rule {
	return append([]Rule{
		twiceRule,
		serverRule,
		copiedRule,
		replicaRule,
		unfinishedRule,
		spaceRule,
		keyRule,
		idRule,
		uniqueRule,
		accountRule,
		counterRule,
		fullRule,
		worldRule,
		sameRule,
		ReferenceRule,
		noneRule,
		severedRule,
		undeclaredRule,
		refusedRule,
		uncopyableRule,
		schemaRule,
		migrationRule,
		driftRule,
		outsideRule,
		opaqueRule,
		skippedRule,
		leftRule,
	}, extra...)
}
