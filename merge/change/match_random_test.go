package change_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/planner"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// randomLogins are some of a few people, with any numbers, and in any letters.
func randomLogins(rnd *rand.Rand) (all []worldtest.Login) {
	names, ids := strings.Fields("ann bob carl dora eve frida gus hugo"), rnd.Perm(30)
	rnd.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	for i, name := range names[:1+rnd.IntN(len(names))] {
		switch rnd.IntN(8) {
		case 0, 1:
			name = strings.ToUpper(name)
		case 2:
			name = []string{"", "NULL"}[rnd.IntN(2)]
		}
		all = append(all, worldtest.Login{ID: 1 + ids[i], Name: name})
	}
	return all
}

// firsts are what the first world that has an account says of it, by its name: its address, and
// its theme. Accounts without a name are the same as no other.
func firsts(t testing.TB, worlds ...world.Database) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, d := range worlds {
		db := worldtest.Pool(t, d)
		for _, row := range worldtest.ReadCell(t, db, "SELECT LOWER(a.name), a.email FROM accounts AS a WHERE a.name <> ''") {
			if name := "email of " + fmt.Sprint(row[0]); all[name] == "" {
				all[name] = fmt.Sprint(row[1])
			}
		}
		for _, row := range worldtest.ReadCell(t, db, "SELECT LOWER(a.name), s.theme FROM accounts AS a JOIN settings AS s ON s.account = a.id WHERE a.name <> ''") {
			if name := "theme of " + fmt.Sprint(row[0]); all[name] == "" {
				all[name] = fmt.Sprint(row[1])
			}
		}
		db.Close()
	}
	return all
}

// clubs are the members of clubs by their names.
func clubs(t testing.TB, worlds ...world.Database) (all []string) {
	t.Helper()
	for _, d := range worlds {
		db := worldtest.Pool(t, d)
		names := make(map[string]string)
		for _, row := range worldtest.ReadCell(t, db, "SELECT id, LOWER(COALESCE(name, '')) FROM accounts") {
			names[fmt.Sprint(row[0])] = fmt.Sprint(row[1])
		}
		for _, row := range worldtest.ReadCell(t, db, "SELECT members FROM clubs") {
			var members []string
			for _, id := range strings.Fields(fmt.Sprint(row[0])) {
				name, there := names[id]
				members = append(members, fmt.Sprint(name, there))
			}
			all = append(all, strings.Join(members, ", "))
		}
		db.Close()
	}
	slices.Sort(all)
	return all
}

// Worlds that share some of their people, at random, say the same after the merge as before it
// if no number of an account is looked at: who has which characters, bans, entries of the log and
// clubs. What there may be one of is that of the first world that has it. It is proved. What is expected
// is read in SQL, by names alone.
func TestMatchedWorldsStayAsTheyWere(t *testing.T) {
	servertest.NotShort(t)
	e, n := worldtest.Engines()[0], 6
	if *worldtest.Long {
		n = 400
	}
	t.Run("sqlite", func(t *testing.T) {
		matched := 0
		for seed := range n {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(uint64(seed), 17))
				var all []world.Database
				for i := range 2 + rnd.IntN(3) {
					all = append(all, worldtest.LoginWorld(t, e, fmt.Sprint("s", i+1), randomLogins(rnd)...))
				}
				var before [][]string
				for _, d := range all {
					before = append(before, byName(t, d))
				}
				rows, first, members := worldsTogether(before...), firsts(t, all...), clubs(t, all...)
				p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes)})
				for _, of := range p.Rekey.Space("accounts.id").Worlds {
					matched += of.Matched.Len()
				}
				worldtest.MustApply(t, p, into, all)
				if diff := cmp.Diff(rows, byName(t, into)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(members, clubs(t, into)); diff != "" {
					t.Errorf("clubs (-want +got):\n%s", diff)
				}
				if now := firsts(t, into); !maps.Equal(first, now) {
					t.Errorf("%s", cmp.Diff(first, now))
				}
				if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass {
					t.Errorf("%s: %+v\n%+v\n%+v", proof.Verdict, proof.Keys, proof.Combines, proof.Findings)
				}
				if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
					t.Fatal(err)
				}
				worldtest.Dropped(t, into)
			})
		}
		if matched < n {
			t.Errorf("%d keys were matched in %d merges: these worlds show little", matched, n)
		}
	})
}
