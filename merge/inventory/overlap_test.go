package inventory

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge"
)

// Values that several worlds have are counted exactly, each world once, as the first world
// compares them.
func TestOverlaps(t *testing.T) {
	onEach(t, func(t *testing.T, create func(string, ...string) Database) {
		collation := "COLLATE utf8mb4_general_ci"
		if t.Name() == "TestOverlaps/sqlite" {
			collation = "COLLATE NOCASE"
		}
		schema := "CREATE TABLE p (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(24) " + collation + ", account BIGINT)"
		worlds := []merge.Database{
			create("w1", schema, "INSERT INTO p VALUES (1, 'Anna', 7), (2, 'Bert', 7), (3, '', 8), (4, NULL, NULL)").Database,
			create("w2", schema, "INSERT INTO p VALUES (1, 'ANNA', 7), (2, 'anna', 9), (3, '', 10), (4, NULL, 10)").Database,
			create("w3", schema, "INSERT INTO p VALUES (1, 'aNNa', 8), (2, 'Carl', 8), (3, NULL, NULL)").Database,
		}
		got, err := Count(t.Context(), worlds, []Column{{"p", "name"}, {"p", "account"}, {"p", "nick"}})
		if err != nil {
			t.Fatal(err)
		}
		want := []Overlap{
			{Column: "p.name", Values: 3, Shared: 1, Extra: 2}, // Anna in three worlds
			{Column: "p.account", Values: 4, Shared: 2, Extra: 2},
			{Column: "p.nick", Problem: "w1 has no column p.nick"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// With little memory the worlds are read in parts, and the numbers are the same. The numbers are
// compared with those of maps of texts.
func TestOverlapsInParts(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 3))
	var all []merge.Database
	worlds := make(map[string]map[int]bool)
	for n := range 4 {
		var rows []string
		for id := range 500 + 100*n {
			name := fmt.Sprintf("n%d", random.IntN(2000))
			if worlds[name] == nil {
				worlds[name] = make(map[int]bool)
			}
			worlds[name][n] = true
			rows = append(rows, fmt.Sprintf("(%d, '%s')", id, name))
		}
		all = append(all, sqlite(t, fmt.Sprintf("w%d", n), "CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT)", "INSERT INTO p VALUES "+strings.Join(rows, ", ")).Database)
	}
	want := Overlap{Column: "p.name", Values: int64(len(worlds))}
	for _, in := range worlds {
		if len(in) > 1 {
			want.Shared++
			want.Extra += int64(len(in) - 1)
		}
	}
	if _, err := inParts(t.Context(), all, []Column{{"p", "name"}}, 1000, 1); !errors.Is(err, errTooMany) {
		t.Errorf("more values than there is memory for: got %v", err)
	}
	for _, most := range []int{mostValues, 1000, 200} {
		got, err := overlaps(t.Context(), all, []Column{{"p", "name"}}, most)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Overlap{want}, got); diff != "" {
			t.Errorf("%d values at a time (-want +got):\n%s", most, diff)
		}
	}
}

func TestParseColumn(t *testing.T) {
	if c, err := ParseColumn("characters.name"); c != (Column{"characters", "name"}) || err != nil {
		t.Errorf("got %v, %v", c, err)
	}
	for _, text := range []string{"", "name", ".name", "characters.", "a.b.c"} {
		if c, err := ParseColumn(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, c)
		}
	}
}
