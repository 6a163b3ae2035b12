package servers

import (
	"mergesafe/merge/catalog"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/verdict"
)

// TwiceRule looks whether two of the names lead to one database. It reads what both ends of the connections say
// of where they are: see [catalog.Placed].
var TwiceRule = rule.Rule{
	Codes:   []string{verdict.CodeWorldTwice},
	Catalog: judgeTwins,
}

// judgeTwins says nothing of databases that are certainly apart, which are nearly all.
func judgeTwins(f *read.Facts) []rule.Finding {
	r := verdict.Result{Code: verdict.CodeWorldTwice, Read: int64(len(f.DBs))}
	var parts []string
	for _, t := range f.Twins {
		if t.Unclear != "" {
			r.Gaps = append(r.Gaps, verdict.Gap{World: t.B.Name, Reason: "it may be the database of " + t.A.Name + ": " + t.Unclear})
			continue
		}
		r.Count++
		parts = append(parts, t.A.Name+" and "+t.B.Name+" are one database")
	}
	if r.Count == 0 && len(r.Gaps) == 0 {
		return nil
	}
	if r.Message = catalog.Few(parts); r.Count == 0 {
		r.Without("each name leads to a database of its own")
	}
	return []rule.Finding{{Result: r}}
}
