package merge

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// driftRule reports what a database has and the target has not, or not in the same
// way. The rows survive that; what the game relied on does not. What only the target
// has stays and is no finding: other rules try the rows against it.
func driftRule() rule {
	return rule{
		codes:   []string{CodeSchemaCheck, CodeSchemaReference, CodeSchemaRoutine, CodeSchemaCharset},
		catalog: judgeDrift,
	}
}

func judgeDrift(f *facts) (findings []finding) {
	add := func(r Result, of func(*database) map[string]string, lost string) {
		if r, any := drift(f, r, of, lost); any {
			findings = append(findings, finding{Result: r})
		}
	}
	for _, table := range f.tables {
		if f.target.tables[table] == nil {
			continue // schema-table reports it
		}
		add(Result{Code: CodeSchemaCheck, Table: table}, func(db *database) map[string]string { return db.tables[table].checks() },
			"after the merge nothing enforces it")
		add(Result{Code: CodeSchemaReference, Table: table}, func(db *database) map[string]string { return db.tables[table].foreignKeys() },
			"after the merge nothing enforces it")
	}
	add(Result{Code: CodeSchemaRoutine}, func(db *database) map[string]string {
		all := make(map[string]string)
		for _, r := range db.catalog.Routines {
			all[r.Kind+" "+r.Name] = r.Body
		}
		return all
	}, "it would be lost")
	add(Result{Code: CodeSchemaCharset}, func(db *database) map[string]string {
		if db.catalog.Collation == "" {
			return nil
		}
		return map[string]string{"default collation": db.catalog.Collation}
	}, "")
	return findings
}

// drift compares what the databases have, by name, with what the target has. any is
// false if none has anything.
func drift(f *facts, r Result, of func(*database) map[string]string, lost string) (result Result, any bool) {
	want := of(f.target)
	any = len(want) > 0
	only := make(map[string]bool) // of the target
	for _, db := range f.dbs {
		if r.Table != "" && db.tables[r.Table] == nil {
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
				r.Gaps = append(r.Gaps, Gap{db.name, name + " is not in " + f.target.name + ": " + lost})
			case is != have[name]:
				r.Gaps = append(r.Gaps, Gap{db.name, name + " is not the same as in " + f.target.name + shortly(have[name], is)})
			}
		}
	}
	switch {
	case len(r.Gaps) > 0:
		r.Message = "not the same in every database"
	case len(only) > 0:
		r.Message = "only in " + f.target.name + ", where it stays: " + few(slices.Sorted(maps.Keys(only)))
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

// checks are the CHECK constraints of a table. The text says which it is: many have
// a name that the database made up.
func (t *Table) checks() map[string]string {
	all := make(map[string]string)
	for _, c := range t.Conditions {
		if c.Kind == ConditionCheck && !c.Off {
			all["CHECK ("+c.Text+")"] = ""
		}
	}
	return all
}

// foreignKeys are the foreign keys of a table, with what they do.
func (t *Table) foreignKeys() map[string]string {
	all := make(map[string]string)
	for _, r := range t.References {
		var does []string
		if r.OnDelete != "" {
			does = append(does, "ON DELETE "+r.OnDelete)
		}
		if r.OnUpdate != "" {
			does = append(does, "ON UPDATE "+r.OnUpdate)
		}
		all["foreign key "+r.subject()] = cmp.Or(strings.Join(does, " "), "no action")
	}
	return all
}
