package check

import (
	"cmp"
	"maps"
	"slices"

	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// driftRule reports what a database has and the first world has not, or not in the same
// way. The rows survive that; what the game relied on does not. What only the first world
// has stays and is no finding: other rules try the rows against it.
var driftRule = Rule{
	Codes:   []string{verdict.CodeSchemaCheck, verdict.CodeSchemaReference, verdict.CodeSchemaRoutine, verdict.CodeSchemaCharset},
	Catalog: judgeDrift,
}

func judgeDrift(f *Facts) (findings []finding) {
	add := func(r verdict.Result, of func(*rules.Database) map[string]string, lost string) {
		if r, any := drift(f, r, of, lost); any {
			findings = append(findings, finding{Result: r})
		}
	}
	for _, table := range f.Tables {
		if f.Model().Tables[table] == nil {
			continue // schema-table reports it
		}
		add(verdict.Result{Code: verdict.CodeSchemaCheck, Table: table}, func(db *rules.Database) map[string]string { return db.Tables[table].Checks() },
			"after the merge nothing enforces it")
		add(verdict.Result{Code: verdict.CodeSchemaReference, Table: table}, func(db *rules.Database) map[string]string { return db.Tables[table].ForeignKeys() },
			"after the merge nothing enforces it")
	}
	add(verdict.Result{Code: verdict.CodeSchemaRoutine}, func(db *rules.Database) map[string]string {
		all := make(map[string]string)
		for _, r := range db.Catalog.Routines {
			all[r.Kind+" "+r.Name] = r.Body
		}
		return all
	}, "it would be lost")
	add(verdict.Result{Code: verdict.CodeSchemaCharset}, func(db *rules.Database) map[string]string {
		if db.Catalog.Collation == "" {
			return nil
		}
		return map[string]string{"default collation": db.Catalog.Collation}
	}, "")
	return findings
}

// drift compares what the databases have, by name, with what the first world has. any is
// false if none has anything.
func drift(f *Facts, r verdict.Result, of func(*rules.Database) map[string]string, lost string) (result verdict.Result, any bool) {
	want := of(f.Model())
	any = len(want) > 0
	only := make(map[string]bool) // of the first world
	for _, db := range f.DBs {
		if r.Table != "" && db.Tables[r.Table] == nil {
			continue
		}
		r.Read++
		have := of(db)
		any = any || len(have) > 0
		for name := range want {
			if _, ok := have[name]; !ok {
				only[name] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(have)) {
			is, ok := want[name]
			switch {
			case !ok:
				r.Gaps = append(r.Gaps, verdict.Gap{World: db.Name, Reason: name + " is not in " + f.Model().Name + ": " + lost})
			case is != have[name]:
				r.Gaps = append(r.Gaps, verdict.Gap{World: db.Name, Reason: name + " is not the same as in " + f.Model().Name + shortly(have[name], is)})
			}
		}
	}
	switch {
	case len(r.Gaps) > 0:
		r.Message = "not the same in every database"
	case len(only) > 0:
		r.Message = "only in " + f.Model().Name + ", and stays there: " + catalog.Few(slices.Sorted(maps.Keys(only)))
	default:
		r.Message = "the same in every database"
	}
	return r, any
}

// shortly shows what two databases have, if that is short.
func shortly(have, want string) string {
	const most = 60
	if len(have) > most || len(want) > most {
		return ""
	}
	return ": " + cmp.Or(have, "not shown") + ", and " + cmp.Or(want, "not shown")
}
