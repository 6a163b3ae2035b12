package build_test

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A row of any world may be longer than what the server takes at once, and so may what it is as SQL, with and without
// LOAD DATA. A single value may not: it is refused, in whichever world it is.
func TestLongRows(t *testing.T) {
	opts := planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}}
	server := servertest.Private(t, "--max-allowed-packet=4M")
	e := worldtest.Engine{Name: "private", Fresh: func(t testing.TB, name string) world.Database {
		dsn, err := server.Database(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return world.Database{Name: name, DSN: "mysql:" + dsn}
	}}
	worlds := func() []world.Database {
		all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
		for _, d := range all {
			worldtest.Exec(t, d, "CREATE TABLE maps (id INT PRIMARY KEY, cells LONGBLOB, note LONGTEXT)")
		}
		return all
	}
	all, long := worlds(), [][]world.Database{worlds(), worlds()}
	for i, d := range all {
		worldtest.Exec(t, d, fmt.Sprintf("INSERT INTO maps VALUES (%d, REPEAT(x'00ff', 750000), REPEAT('y\\'', 750000))", 10*i),
			fmt.Sprintf("INSERT INTO maps VALUES (%d, REPEAT('x', 1900000), NULL), (%d, 'x', 'y')", 10*i+1, 10*i+2))
	}
	for i, all := range long {
		worldtest.Exec(t, all[i], "INSERT INTO maps VALUES (1, REPEAT('x', 3000000), 'y')")
	}
	worldtest.Exec(t, all[0], "SET GLOBAL max_allowed_packet = 2 << 20")
	for _, load := range []string{"0", "1"} {
		worldtest.Exec(t, all[0], "SET GLOBAL local_infile = "+load)
		worldtest.MergedAndBack(t, e, all, opts)
	}
	for i, all := range long {
		p := worldtest.Planned(t, e.Fresh(t, "new"), all, opts)
		if got := worldtest.ReasonsOf(p); len(got) != 1 || !strings.Contains(got[0], fmt.Sprintf("refused-size: max_allowed_packet = 2097152: 1 row would be refused by s1 for its max_allowed_packet = 2097152: s%d: 1", i+1)) {
			t.Errorf("refused for %q", got)
		}
	}
}
