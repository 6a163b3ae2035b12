package transfer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/rekey"
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
		n, err := intIn(c.v, "t.c")
		got := fmt.Sprint(n)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%T %v: %s, want %s", c.v, c.v, got, c.want)
		}
	}
	if n, err := keyIn(uint64(1<<63), "t.c"); err != nil || n != (rekey.Integer{Bits: 1 << 63}) {
		t.Errorf("%v, %v", n, err)
	}
}

// A number of the target's record that is none is an error that names it, and is never taken
// for 0. SQLite keeps any value in any column.
func TestRecordThatIsNoNumber(t *testing.T) {
	e := engines()[0]
	all := []Database{loginWorld(t, e, "s1", login{1, "ann"}, login{2, "bob"}), loginWorld(t, e, "s2", login{1, "bob"},
		login{2, "cat"})}
	for _, d := range all {
		exec(t, d, "UPDATE characters SET name = 'dan' WHERE guid = 1")
	}
	p := mustPlan(t, all[0], all[1:], PlanOptions{Check: loginRules(themes), Names: []NamePolicy{{Table: "characters",
		Column: "name"}}})
	half := clones(t, e, all)
	if _, err := applyWith(t.Context(), p, half[0], half[1:], Options{Parallel: 1}, killedAt("before commit",
		9)); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	if _, err := Apply(t.Context(), p, all[0], all[1:], Options{}); err != nil {
		t.Fatal(err)
	}
	steps := map[string]func(all []Database) error{
		"status": func(all []Database) error { _, err := LookUp(t.Context(), p, all[0], all[1:]); return err },
		"resume": func(all []Database) error { _, err := Apply(t.Context(), p, all[0], all[1:], Options{}); return err },
		"verify": func(all []Database) error {
			proof, err := Verify(t.Context(), p, all[0], all[1:], Options{})
			if err == nil && proof.Verdict == merge.Fail { // what is not as it was recorded is a finding
				err = fmt.Errorf("%+v", proof)
			}
			return err
		},
		"undo": func(all []Database) error { _, err := Undo(t.Context(), p, all[0], all[1:], UndoOptions{}); return err },
		"whois": func(all []Database) error {
			_, err := Whois(t.Context(), all[0], "accounts", rekey.Integer{Bits: 2})
			return err
		},
	}
	for column, read := range map[string][]string{ // by these steps
		ProgressTable + ".part":      {"status", "resume", "undo"},
		ProgressTable + ".done_rows": {"status", "resume", "undo"},
		ProgressTable + ".finished":  {"resume", "undo"},
		RenamesTable + ".n":          {"verify"},
		KeysTable + ".part":          {"verify", "whois"},
		KeysTable + ".shift":         {"verify", "whois"},
		KeysTable + ".low":           {"verify", "whois"},
		KeysTable + ".high":          {"verify", "whois"},
		KeysTable + ".undone":        {"verify", "whois"},
		KeysTable + ".first_key":     {"verify", "whois"},
		KeysTable + ".last_key":      {"verify", "whois"},
		MatchesTable + ".old_key":    {"verify", "whois"},
		MatchesTable + ".new_key":    {"verify"},
		MatchesTable + ".key_here":   {"verify"},
	} {
		table, name, _ := strings.Cut(column, ".")
		for _, step := range read {
			from := all
			if step == "resume" || table == ProgressTable {
				from = half
			}
			at := clones(t, e, from)
			exec(t, at[0], "UPDATE OR IGNORE "+table+" SET "+name+" = 'x'")
			before := dump(t, at[0])
			err := steps[step](at)
			if err == nil || !strings.Contains(err.Error(), table) || !strings.Contains(err.Error(), "nteger") &&
				!strings.Contains(err.Error(), `"x" is no whole number`) {
				t.Errorf("%s: %s: %v", column, step, err)
			}
			if dump(t, at[0]) != before {
				t.Errorf("%s: %s changed something", column, step)
			}
		}
	}
}
