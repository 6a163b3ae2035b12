package servers

import (
	"mergesafe/merge/catalog"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/verdict"
)

// ReplicaRule looks whether a world is on a replica: it may lack what its players did last, and change while it is read.
var ReplicaRule = rule.Rule{
	Codes:   []string{verdict.CodeWorldReplica},
	Catalog: judgeReplicas,
}

// judgeReplicas says nothing of servers that follow no other, as far as their accounts may see.
func judgeReplicas(f *read.Facts) []rule.Finding {
	r := verdict.Result{Code: verdict.CodeWorldReplica, Read: int64(len(f.DBs))}
	var parts []string
	for _, db := range f.DBs {
		switch {
		case db.Catalog.Replica == "":
		case db.Catalog.Behind:
			r.Count++
			parts = append(parts, db.Name+": "+db.Catalog.Replica)
		default:
			r.Gaps = append(r.Gaps, verdict.Gap{World: db.Name, Reason: db.Catalog.Replica})
		}
	}
	if r.Count == 0 && len(r.Gaps) == 0 {
		return nil
	}
	if r.Message = catalog.Few(parts); r.Count == 0 {
		r.Without("no database is behind a primary")
	}
	return []rule.Finding{{Result: r}}
}
