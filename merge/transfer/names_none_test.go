package transfer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge"
)

// A value that is no name stays in all rows that have it, and what holds it names nobody. It
// does not matter which statement about the column says so.
func TestNamesNone(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := flagged(t, e)
		for _, d := range all {
			exec(t, d, "INSERT INTO chars VALUES (5, '', 0, 'no', 5), (6, '', 0, 'no', 6)", "CREATE TABLE letters (id INTEGER NOT NULL PRIMARY KEY, writer VARCHAR(12))",
				"INSERT INTO letters VALUES (1, ''), (2, 'Bob')")
		}
		plan := func(name, unique []string) *Plan {
			o := flagging()
			o.Names[0].None = name
			o.Check.Uniques = []merge.DeclaredUnique{{Table: "chars", Columns: []string{"name"}, None: unique}}
			o.Check.Rules[0].Plain = []string{"chars.at_login", "chars.asked", "chars.seen"}
			o.Check.Rules[0].References = []merge.DeclaredReference{{At: []string{"letters.writer"}, To: []string{"chars.name"}}}
			o.Check.Rekey.Spaces = append(o.Check.Rekey.Spaces, merge.Space{Keys: []string{"letters.id"}})
			p, err := NewPlan(t.Context(), all[0], all[1:], o)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		if p := plan(nil, nil); !strings.Contains(fmt.Sprint(p.Refusals), `the column writer names ""`) {
			t.Errorf("without it: %v", p.Refusals)
		}
		for _, p := range []*Plan{plan([]string{""}, nil), plan(nil, []string{""}), plan([]string{""}, []string{""})} {
			var got []string
			for _, r := range p.Renames {
				got = append(got, fmt.Sprintf("%s %s %s>%s", r.Source, r.Table, r.Old, r.New))
			}
			if got, want := strings.Join(got, "; "), "s1 chars Ann>Ann.; s2 chars Bob>Bob.; s1 chars Cat>Cat.; s2 letters Bob>Bob."; got != want || len(p.Refusals) > 0 {
				t.Fatalf("planned: %s, want %s; refused: %v", got, want, p.Refusals)
			}
		}
		p := plan([]string{""}, nil)
		if _, err := Apply(t.Context(), p, all[0], all[1:], Options{}); err != nil {
			t.Fatal(err)
		}
		asked(t, all[0], "SELECT COUNT(*) FROM chars WHERE name = ''", "4")
		asked(t, all[0], "SELECT id, writer FROM letters ORDER BY id", "1|", "2|Bob", "1001|", "1002|Bob.")
		if proof := verified(t, p, all[0], all[1:]); proof.Verdict != merge.Pass {
			t.Errorf("%+v", proof)
		}

		// What a database itself keeps unique cannot be no name.
		taken := flagged(t, e)
		for _, d := range taken {
			exec(t, d, "CREATE UNIQUE INDEX names ON chars (name)")
		}
		for _, o := range []PlanOptions{
			{Names: []NamePolicy{{Table: "chars", Column: "name", None: []string{""}}}},
			{Check: merge.Options{Uniques: []merge.DeclaredUnique{{Table: "chars", Columns: []string{"name"}, None: []string{""}}}}},
		} {
			if _, err := NewPlan(t.Context(), taken[0], taken[1:], o); !errors.Is(err, merge.ErrOptions) || !strings.Contains(err.Error(), `may have such a value in chars.name, and the UNIQUE index names of s1 lets only one have it`) {
				t.Errorf("%v", err)
			}
		}
	})
}
