package change

// namesChange returns the new names. Rows get them on their way: see [change.Renamer].
func namesChange() Change { return Change{Plan: planNames, Prove: proveNames} }
