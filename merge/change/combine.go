package change

// combineChange returns the policy combine. The head of merge/plan/combine.go says how it works.
func combineChange() Change {
	return Change{Plan: planCombine, Measure: measureCombine, Bring: bringCombined, Prove: proveCombine, ProveKeys: proveCombinedKeys}
}
