package world_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

func TestIntIn(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{int64(7), "7"}, {int64(-7), "-7"}, {[]byte("12"), "12"}, {"12", "12"}, {uint64(3), "3"},
		{nil, "t.c is NULL: want an integer"}, {"x", `t.c is "x": want an integer`}, {"", `t.c is "": want an integer`},
		{[]byte("7 "), `t.c is "7 ": want an integer`}, {1.5, `t.c is "1.5": want an integer`},
		{uint64(1 << 63), `t.c is "9223372036854775808": want an integer`}, {true, `t.c is "true": want an integer`},
	} {
		n, err := world.IntIn(c.v, "t.c")
		got := fmt.Sprint(n)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%T %v: %s, want %s", c.v, c.v, got, c.want)
		}
	}
	if n, err := world.KeyIn(uint64(1<<63), "t.c"); err != nil || n != (keys.Integer{Bits: 1 << 63}) {
		t.Errorf("%v, %v", n, err)
	}
}

// A number of the new database's record that is none is an error that names it, and is never taken
// for 0. SQLite keeps any value in any column.
func TestRecordThatIsNoNumber(t *testing.T) {
	e := worldtest.Engines()[0]
	all := []world.Database{worldtest.LoginWorld(t, e, "s1", worldtest.Login{ID: 1, Name: "ann"}, worldtest.Login{ID: 2, Name: "bob"}), worldtest.LoginWorld(t, e, "s2", worldtest.Login{ID: 1, Name: "bob"},
		worldtest.Login{ID: 2, Name: "cat"})}
	for _, d := range all {
		worldtest.Exec(t, d, "UPDATE characters SET name = 'dan' WHERE guid = 1")
	}
	opts := planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes), Names: []plan.NamePolicy{{Table: "characters", Column: "name"}}}
	p, half := worldtest.PlanOf(t, e, all, opts)
	if _, err := build.ApplyWith(t.Context(), p, half, all, job.Options{Parallel: 1}, worldtest.KilledAt("before commit", 9)); !errors.Is(err, worldtest.ErrKilled) {
		t.Fatal(err)
	}
	whole := e.Fresh(t, "new")
	worldtest.MustApply(t, p, whole, all)
	steps := map[string]func(into world.Database) error{
		"status": func(into world.Database) error { _, err := build.LookUp(t.Context(), p, into, all); return err },
		"resume": func(into world.Database) error {
			_, err := build.Apply(t.Context(), p, into, all, job.Options{})
			return err
		},
		"verify": func(into world.Database) error {
			proof, err := prove.Verify(t.Context(), p, into, all, job.Options{})
			if err == nil && proof.Verdict == verdict.Fail { // what is not as it was recorded is a finding
				err = fmt.Errorf("%+v", proof)
			}
			return err
		},
		"whois": func(into world.Database) error {
			_, err := record.Whois(t.Context(), into, "accounts", keys.Integer{Bits: 2})
			return err
		},
	}
	for column, read := range map[string][]string{ // by these steps
		record.ProgressTable + ".part":      {"status", "resume"},
		record.ProgressTable + ".done_rows": {"status", "resume"},
		record.ProgressTable + ".finished":  {"resume"},
		record.RenamesTable + ".n":          {"verify"},
		record.KeysTable + ".part":          {"verify", "whois"},
		record.KeysTable + ".shift":         {"verify", "whois"},
		record.KeysTable + ".low":           {"verify", "whois"},
		record.KeysTable + ".high":          {"verify", "whois"},
		record.KeysTable + ".first_key":     {"verify", "whois"},
		record.KeysTable + ".last_key":      {"verify", "whois"},
		record.MatchesTable + ".old_key":    {"verify", "whois"},
		record.MatchesTable + ".new_key":    {"verify"},
		record.MatchesTable + ".key_here":   {"verify"},
	} {
		table, name, _ := strings.Cut(column, ".")
		for _, step := range read {
			from := whole
			if table == record.ProgressTable {
				from = half
			}
			into := worldtest.Clone(t, e, from)
			worldtest.Exec(t, into, "UPDATE OR IGNORE "+table+" SET "+name+" = 'x'")
			before := worldtest.Dump(t, into)
			err := steps[step](into)
			if err == nil || !strings.Contains(err.Error(), table) || !strings.Contains(err.Error(), "nteger") &&
				!strings.Contains(err.Error(), `"x" is no whole number`) {
				t.Errorf("%s: %s: %v", column, step, err)
			}
			if worldtest.Dump(t, into) != before {
				t.Errorf("%s: %s changed something", column, step)
			}
		}
	}
}
