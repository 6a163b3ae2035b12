package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
)

// factsOf makes facts of databases in which nothing was read, the first being
// the first world.
func factsOf(dbs ...*rules.Database) *Facts {
	f := newFacts(&rules.Resolved{Opts: rules.Options{}.WithDefaults(), DBs: dbs})
	f.Tables = rules.TablesOf(dbs)
	return f
}

// describedAs is a database that says this of itself.
func describedAs(name string, c catalog.Catalog, servers ...catalog.Server) *rules.Database {
	db := &rules.Database{Name: name, Catalog: &c, Servers: servers, Tables: make(map[string]*catalog.Table), Rows: make(map[string]int64)}
	for i := range c.Tables {
		db.Tables[c.Tables[i].Name] = &c.Tables[i]
	}
	return db
}

// conflictsOf are the conflicts of findings by code, table and subject; -1 if there are only gaps.
func conflictsOf(findings []finding) map[string]int64 {
	all := make(map[string]int64)
	for _, f := range findings {
		n := f.Count
		if n == 0 && len(f.Gaps) > 0 {
			n = -1
		}
		all[f.Code+" "+f.Table+" "+f.Subject] = n
	}
	return all
}

// expect compares the conflicts of findings with those that a test wants; see conflictsOf.
func expect(t *testing.T, findings []finding, want map[string]int64) {
	t.Helper()
	if diff := cmp.Diff(want, conflictsOf(findings)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
