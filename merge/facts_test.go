package merge

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// factsOf makes facts of databases in which nothing was read, the first being
// the target.
func factsOf(dbs ...*database) *facts {
	f := &facts{resolved: &resolved{opts: Options{}.withDefaults(), dbs: dbs, target: dbs[0]}, established: newEstablished()}
	f.tables = tablesOf(dbs)
	return f
}

// described is a database that says this of itself.
func described(name string, c Catalog, servers ...Server) *database {
	db := &database{name: name, catalog: &c, servers: servers, tables: make(map[string]*Table), rows: make(map[string]int64)}
	for i := range c.Tables {
		db.tables[c.Tables[i].Name] = &c.Tables[i]
	}
	return db
}

// counted are the conflicts of findings by code, table and subject; -1 if there
// are only gaps.
func counted(findings []finding) map[string]int64 {
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

func expect(t *testing.T, findings []finding, want map[string]int64) {
	t.Helper()
	if diff := cmp.Diff(want, counted(findings)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Lists of columns are told apart even if their names have commas and quotes.
func TestIDOfColumns(t *testing.T) {
	lists := [][]string{{"a", "b"}, {"a,b"}, {"a, b"}, {`a" "b`}, {`a" "`, "b"}, {"b", "a"}, {"(a, b)"}, {}, {""}}
	seen := make(map[columnsID]bool)
	for _, columns := range lists {
		if id := idOf("t", columns...); seen[id] {
			t.Errorf("%q is taken for another list", columns)
		} else {
			seen[id] = true
		}
	}
}
