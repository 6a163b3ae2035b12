package check

import (
	"mergesafe/merge/verdict"
)

// replicaRule looks whether a world is on a replica: it may lack what its players did last, and change while it is read.
var replicaRule = Rule{
	Codes:   []string{verdict.CodeWorldReplica},
	Catalog: judgeReplicas,
}

// judgeReplicas says nothing of servers that follow no other, as far as their accounts may see.
func judgeReplicas(f *Facts) []finding {
	var behind []string
	var gaps []verdict.Gap
	for _, db := range f.DBs {
		switch {
		case db.Catalog.Replica == "":
		case db.Catalog.Behind:
			behind = append(behind, db.Name+": "+db.Catalog.Replica)
		default:
			gaps = append(gaps, verdict.Gap{World: db.Name, Reason: db.Catalog.Replica})
		}
	}
	return ofDatabases(f, verdict.CodeWorldReplica, behind, gaps, "no database is behind a primary")
}
