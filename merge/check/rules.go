package check

// Rules lists all rules, most serious first: the order in which they read. Those of
// the caller, which never change the verdict, come when all others were judged.
func Rules(extra ...Rule) []Rule {
	return append([]Rule{
		TwiceRule,
		ServerRule,
		CopiedRule,
		ReplicaRule,
		unfinishedRule,
		SpaceRule,
		keyRule,
		idRule,
		uniqueRule,
		accountRule,
		counterRule,
		fullRule,
		WorldRule,
		sameRule,
		ReferenceRule,
		NoneRule,
		SeveredRule,
		UndeclaredRule,
		refusedRule,
		uncopyableRule,
		SchemaRule,
		migrationRule,
		DriftRule,
		outsideRule,
		opaqueRule,
		skippedRule,
		leftRule,
	}, extra...)
}
