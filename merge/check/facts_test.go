package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/declare"
)

// factsOf makes facts of databases in which nothing was read, the first being
// the target.
func factsOf(dbs ...*declare.Database) *read.Facts {
	f := &read.Facts{Resolved: &declare.Resolved{Opts: declare.Options{}.WithDefaults(), DBs: dbs, Target: dbs[0]}, Established: read.NewEstablished()}
	f.Tables = declare.TablesOf(dbs)
	return f
}

// described is a database that says this of itself.
func described(name string, c catalog.Catalog, servers ...catalog.Server) *declare.Database {
	db := &declare.Database{Name: name, Catalog: &c, Servers: servers, Tables: make(map[string]*catalog.Table), Rows: make(map[string]int64)}
	for i := range c.Tables {
		db.Tables[c.Tables[i].Name] = &c.Tables[i]
	}
	return db
}

// counted are the conflicts of findings by code, table and subject; -1 if there
// are only gaps.
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

func expect(t *testing.T, findings []rule.Finding, want map[string]int64) {
	t.Helper()
	if diff := cmp.Diff(want, counted(findings)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Lists of columns are told apart even if their names have commas and quotes.
func TestIDOfColumns(t *testing.T) {
	lists := [][]string{{"a", "b"}, {"a,b"}, {"a, b"}, {`a" "b`}, {`a" "`, "b"}, {"b", "a"}, {"(a, b)"}, {}, {""}}
	seen := make(map[declare.ColumnsID]bool)
	for _, columns := range lists {
		if id := declare.IDOf("t", columns...); seen[id] {
			t.Errorf("%q is taken for another list", columns)
		} else {
			seen[id] = true
		}
	}
}
