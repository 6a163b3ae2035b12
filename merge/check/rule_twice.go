package check

import (
	"mergesafe/merge/catalog"
	"mergesafe/merge/verdict"
)

// twiceRule looks whether two of the names lead to one database. It reads what both ends of the connections say
// of where they are: see [catalog.Placed].
var twiceRule = Rule{
	Codes:   []string{verdict.CodeWorldTwice},
	Catalog: judgeTwins,
}

// judgeTwins says nothing of databases that are certainly apart, which are nearly all.
func judgeTwins(f *Facts) []finding {
	var twins []string
	var gaps []verdict.Gap
	for _, t := range f.Twins {
		if t.Unclear != "" {
			gaps = append(gaps, verdict.Gap{World: t.B.Name, Reason: "it may be the database of " + t.A.Name + ": " + t.Unclear})
			continue
		}
		twins = append(twins, t.A.Name+" and "+t.B.Name+" are one database")
	}
	return ofDatabases(f, verdict.CodeWorldTwice, twins, gaps, "each name leads to a different database")
}

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
