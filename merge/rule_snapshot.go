package merge

// snapshotRule reports the databases that are not read as of one moment.
func snapshotRule() rule {
	return rule{
		codes:   []string{CodeNoSnapshot},
		catalog: judgeSnapshots,
	}
}

func judgeSnapshots(f *facts) []finding {
	r := Result{Code: CodeNoSnapshot, Message: "was not read at one moment"}
	for _, db := range f.dbs {
		if db.catalog.NoSnapshot {
			r.Gaps = append(r.Gaps, Gap{db.name, "every table was read at its own moment, as the operator chose"})
		}
	}
	if len(r.Gaps) == 0 {
		return nil
	}
	return []finding{{Result: r}}
}
