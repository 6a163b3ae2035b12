// Package ruletest has databases that are only described, and compares what a rule finds of them, for tests of rules.
package ruletest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/declare"
)

// Facts makes facts of databases in which nothing was read, the first being
// the first world.
func Facts(dbs ...*declare.Database) *read.Facts {
	f := &read.Facts{Resolved: &declare.Resolved{Opts: declare.Options{}.WithDefaults(), DBs: dbs}, Established: read.NewEstablished()}
	f.Tables = declare.TablesOf(dbs)
	return f
}

// Described is a database that says this of itself.
func Described(name string, c catalog.Catalog, servers ...catalog.Server) *declare.Database {
	db := &declare.Database{Name: name, Catalog: &c, Servers: servers, Tables: make(map[string]*catalog.Table), Rows: make(map[string]int64)}
	for i := range c.Tables {
		db.Tables[c.Tables[i].Name] = &c.Tables[i]
	}
	return db
}

// counted are the conflicts of findings by code, table and subject; -1 if there are only gaps.
func counted(findings []rule.Finding) map[string]int64 {
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

// Expect compares the conflicts of findings with those that a test wants; see counted.
func Expect(t *testing.T, findings []rule.Finding, want map[string]int64) {
	t.Helper()
	if diff := cmp.Diff(want, counted(findings)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
