package change_test

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/gameid"
	"mergesafe/merge/planner"
	"mergesafe/merge/propose"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/storetest"
)

// bigintWorld is a game with BIGINT keys of a server.
func bigintWorld(t testing.TB, e worldtest.Engine, name string, server gameid.ServerID, form gameid.KeyForm) world.Database {
	t.Helper()
	d := e.Fresh(t, name)
	db, err := store.Open(t.Context(), d.DSN)
	storetest.Must(t, err)
	defer db.Close()
	storetest.Must(t, db.CreateRegistry(t.Context()))
	storetest.Must(t, numbers.Create(t.Context(), db.Registry()))
	node, err := db.OpenNode(t.Context(), server, storetest.NodeOptions)
	storetest.Must(t, err)
	defer node.Close()
	worldtest.Exec(t, d,
		"CREATE TABLE heroes (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL)",
		"CREATE TABLE items (id BIGINT NOT NULL PRIMARY KEY, owner BIGINT NOT NULL, level INT NOT NULL)")
	var statements []string
	for i, k := range worldtest.NewKeys(t, db, server, 40, numbers.KeyOptions{Form: form, Columns: []string{"heroes.id"}}) {
		statements = append(statements, fmt.Sprintf("INSERT INTO heroes VALUES (%d, '%s %d')", k, name, i),
			fmt.Sprintf("INSERT INTO items VALUES (%d, %d, %d)", k+1000, k, i))
	}
	worldtest.Exec(t, d, statements...)
	return d
}

// proposing is a check of worlds that proposes.
func proposing(t testing.TB, all []world.Database, o rules.Options) *verdict.Report {
	t.Helper()
	o.Propose = true
	r, err := worldtest.Checked(t.Context(), all, o)
	storetest.Must(t, err)
	return r
}

// Worlds with integer keys of numbers.Keys merge as they are: no key gets a new value. The check
// proposes how their keys carry the server, and names servers that two worlds have.
func TestIntegerKeys(t *testing.T) {
	e := worldtest.OnSQLite(t)
	worst := func(r *verdict.Report) (all []string) {
		for _, found := range r.Results {
			if found.Verdict != verdict.Pass {
				all = append(all, found.Code+": "+found.Message)
			}
		}
		return all
	}
	for form, by := range map[gameid.KeyForm]string{gameid.Wide: "id >> 43", gameid.Narrow: "id >> 33"} {
		all := []world.Database{bigintWorld(t, e, "s7", 7, form), bigintWorld(t, e, "s9", 9, form)}
		r := proposing(t, all, rules.Options{})
		var file strings.Builder
		storetest.Must(t, propose.WriteRules(r, &file))
		if want := "[[check.world]]\nat = \"heroes.id\"\nby = \"" + by + "\"\n"; r.Verdict != verdict.Pass || !strings.Contains(file.String(), want) || strings.Contains(file.String(), "keys = [") {
			t.Errorf("%v, and it proposes:\n%s", worst(r), file.String())
		}
		r = proposing(t, all, rules.Options{Worlds: r.Proposed.Worlds})
		if n := len(r.Proposed.Worlds); r.Verdict != verdict.Pass || n != 0 {
			t.Errorf("with what it proposes: %v, and %d more", worst(r), n)
		}
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
		if p.Rekey != nil {
			t.Errorf("keys get new values: %+v", p.Rekey)
		}
		worldtest.MustApply(t, p, into, all)
		worldtest.Opened(t, p, into, all)
		if n := worldtest.Number(t, into, "SELECT COUNT(*) FROM heroes JOIN items ON items.owner = heroes.id"); n != 80 {
			t.Errorf("%d items of heroes, want 80", n)
		}
		db, err := store.Open(t.Context(), into.DSN)
		storetest.Must(t, err)
		defer db.Close()
		last := worldtest.Number(t, into, fmt.Sprint("SELECT MAX(id) FROM heroes WHERE id < ", form.Join(9, 0)))
		if next := worldtest.NewKeys(t, db, 7, 1, numbers.KeyOptions{Form: form})[0]; next <= last {
			t.Errorf("the new database gives %d, and its greatest key is %d", next, last)
		}
	}
	twice := []world.Database{bigintWorld(t, e, "a", 7, gameid.Wide), bigintWorld(t, e, "b", 7, gameid.Wide)}
	var found []string
	for _, r := range proposing(t, twice, rules.Options{}).Results {
		if r.Verdict == verdict.Fail {
			found = append(found, r.Code)
		}
	}
	if got := strings.Join(found, " "); !strings.Contains(got, verdict.CodeServerConflict) || !strings.Contains(got, verdict.CodeKeyCollision) {
		t.Errorf("two worlds of server 7: %s", got)
	}
}
