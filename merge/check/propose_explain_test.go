package check_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/propose"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// littleWorld makes a world that counts from 1 and lost nothing, so that its accounts and
// items look like those of any other. Bags are lists of items.
func littleWorld(t *testing.T, name string, seed uint64) catalog.Source {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	exec := func(query string, args ...any) {
		if _, err := tx.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	for _, schema := range []string{
		"accounts (id INT NOT NULL PRIMARY KEY, login TEXT NOT NULL)",
		"players (id INT NOT NULL PRIMARY KEY, account_id INT NOT NULL, name TEXT NOT NULL, bag TEXT NOT NULL, motto TEXT NOT NULL)",
		"items (id INT NOT NULL PRIMARY KEY, template INT NOT NULL)",
		"logins (account_id INT NOT NULL, day INT NOT NULL, PRIMARY KEY (account_id, day))",
	} {
		exec("CREATE TABLE " + schema)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	const players, items = 40, 120
	for id := range items {
		exec("INSERT INTO items VALUES (?, 9001)", id+1)
	}
	for id := range players {
		var bag []string
		for range 4 {
			bag = append(bag, fmt.Sprint(1+random.IntN(items)))
		}
		exec("INSERT INTO accounts VALUES (?, ?)", id+1, fmt.Sprintf("user%c%c", 'a'+id/26, 'a'+id%26))
		exec("INSERT INTO players VALUES (?, ?, ?, ?, ?)", id+1, id+1, fmt.Sprintf("%s%c%c", name, 'a'+id/26, 'a'+id%26), strings.Join(bag, " "), fmt.Sprintf("best of %d", 2000+random.IntN(9)))
		exec("INSERT INTO logins VALUES (?, ?)", id+1, 20_000+random.IntN(9))
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	source, err := world.Open(t.Context(), name, "sqlite:"+file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Close() })
	return source
}

// decidedWhereExplainDoubts lists the columns that a proposal decides though what Explain
// says of the same column leaves it to a person.
func decidedWhereExplainDoubts(t *testing.T, worlds []catalog.Source, proposed *verdict.Proposed) (all []string) {
	t.Helper()
	for _, c := range proposed.Columns {
		if c.Class != verdict.ClassPlain && c.Class != verdict.ClassShared {
			continue
		}
		e, err := propose.Explain(t.Context(), worlds, rules.Options{}, c.Table, c.Column)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range e.Proposed {
			if p.Class == verdict.ClassUndecided {
				all = append(all, fmt.Sprintf("%s.%s: %s (%s), and explained: %s", c.Table, c.Column, c.Class, c.Evidence, p.Evidence))
			}
		}
	}
	return all
}

// Young worlds look alike: a proposal must not take their accounts for the game's own
// data, nor lists of keys for texts.
func TestProposalsLeaveOpenWhatExplainDoubts(t *testing.T) {
	worlds := []catalog.Source{littleWorld(t, "north", 1), littleWorld(t, "south", 2)}
	r := proposalsOf(t, worlds, rules.Options{})
	if found := decidedWhereExplainDoubts(t, worlds, r.Proposed); len(found) > 0 {
		t.Errorf("decided:\n%s", strings.Join(found, "\n"))
	}
	for at, want := range map[string]verdict.ColumnClass{
		"players.bag": verdict.ClassUndecided, "players.account_id": verdict.ClassUndecided, "logins.account_id": verdict.ClassUndecided,
		"accounts.id": verdict.ClassUndecided, "items.id": verdict.ClassUndecided,
		"players.motto": verdict.ClassPlain, "players.name": verdict.ClassPlain, "items.template": verdict.ClassPlain,
	} {
		i := slices.IndexFunc(r.Proposed.Columns, func(c verdict.ProposedColumn) bool { return c.Table+"."+c.Column == at })
		if c := r.Proposed.Columns[i]; c.Class != want {
			t.Errorf("%s is %s (%s), want %s", at, c.Class, c.Evidence, want)
		}
	}
}
