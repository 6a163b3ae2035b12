package merge

// The code about databases that change while they are read.
const CodeNoSnapshot = "no-snapshot"

// snapshotRule reports the databases that are not read as of one moment.
func snapshotRule() rule {
	return rule{
		codes: []Code{{
			Code:       CodeNoSnapshot,
			Meaning:    "a database was not read as of one moment: rows may have moved from what was read to what was not",
			Unverified: "check once more when the game servers are stopped",
		}},
		catalog: judgeSnapshots,
	}
}

func judgeSnapshots(f *facts) []finding {
	r := Result{Code: CodeNoSnapshot, Message: "was not read as of one moment"}
	for _, db := range f.dbs {
		if db.catalog.NoSnapshot {
			r.Gaps = append(r.Gaps, Gap{db.name, "every table was read as of its own moment, because the operator wanted it so"})
		}
	}
	if len(r.Gaps) == 0 {
		return nil
	}
	return []finding{{Result: r}}
}
