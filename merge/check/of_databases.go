package check

import (
	"mergesafe/merge/catalog"

	"mergesafe/merge/verdict"
)

// ofDatabases is what a rule about whole databases found, and could not tell; nil if that is nothing.
func ofDatabases(f *Facts, code string, found []string, gaps []verdict.Gap, without string) []finding {
	if len(found)+len(gaps) == 0 {
		return nil
	}
	r := verdict.Result{Code: code, Read: int64(len(f.DBs)), Count: int64(len(found)), Message: catalog.Few(found), Gaps: gaps}
	if len(found) == 0 {
		r.Without(without)
	}
	return []finding{{Result: r}}
}
