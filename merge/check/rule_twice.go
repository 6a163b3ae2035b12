package check

import (
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
