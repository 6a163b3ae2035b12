package check

import (
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/verdict"
)

// snapshotRule reports the databases that are not read as of one moment.
var snapshotRule = rule.Rule{
	Codes:   []string{verdict.CodeNoSnapshot},
	Single:  true,
	Catalog: judgeSnapshots,
}

func judgeSnapshots(f *read.Facts) []rule.Finding {
	r := verdict.Result{Code: verdict.CodeNoSnapshot, Message: "was not read at one moment"}
	for _, db := range f.DBs {
		if db.Catalog.NoSnapshot {
			r.Gaps = append(r.Gaps, verdict.Gap{World: db.Name, Reason: "every table was read at its own moment, as the operator chose"})
		}
	}
	if len(r.Gaps) == 0 {
		return nil
	}
	return []rule.Finding{{Result: r}}
}
