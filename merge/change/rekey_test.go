package change_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/keys"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// Keys that collide get new values, together with all that refers to them, and nothing
// else changes. It is proved and remembered.
func TestRekey(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.OldGame(t, e, "s1", "s2", "s3")
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: worldtest.OldRules()})
		if got := fmt.Sprint(p.Rekey.Offset("chars.guid", "s2"), p.Rekey.Offset("items.id", "s2"), p.Rekey.Offset("chars.guid", "s3")); got != "1000 1000 2000" {
			t.Fatal(got)
		}
		worldtest.MustApply(t, p, into, all)
		worldtest.Says(t, into, map[string]string{
			"SELECT guid, level FROM chars WHERE name = 'nbe'":                             "[[1004 4]]",
			"SELECT owner, prev FROM items WHERE id IN (1011, 1030, 1031) ORDER BY id":     "[[1005 1001] [0 1009] [1044 1030]]",
			"SELECT sender, receiver FROM mail WHERE id IN (2003, 2013, 2040) ORDER BY id": "[[2003 2003] [3 2003] [0 2003]]",
			"SELECT hp FROM stats WHERE guid IN (1002, 2077) ORDER BY guid":                "[[102] [1]]",
			"SELECT spell FROM spells WHERE guid = 2004 ORDER BY spell":                    "[[4] [133]]",
			"SELECT guid, what FROM log ORDER BY guid, what":                               "[[0 start] [0 start] [0 start] [1 born] [1 born] [2 won] [77 gone] [1001 born] [1001 born] [1002 won] [1077 gone] [2001 born] [2001 born] [2002 won] [2077 gone]]",
			"SELECT COUNT(*) FROM items":                                                   "[[36]]",
		})
		proof := worldtest.Verified(t, p, into, all)
		if proof.Verdict != verdict.Pass || len(proof.Keys) != 6 {
			t.Fatalf("%s: %+v\n%+v", proof.Verdict, proof.Keys, proof.Findings)
		}
		worldtest.Exec(t, into, "INSERT INTO chars (name, level) VALUES ('later', 1)")
		later := worldtest.Number(t, into, "SELECT guid FROM chars WHERE name = 'later'")
		if later != 3000 {
			t.Errorf("the next key is %d, want 3000", later)
		}
		worldtest.Exec(t, into, "DELETE FROM chars WHERE name = 'later'")
		for _, c := range []struct {
			source, table string
			key           uint64
			want          string
		}{
			{"", "chars", 2004, "s3 4 2004"}, {"", "chars", 4, ""}, {"", "chars", 2006, ""}, {"", "chars", uint64(later), ""},
			{"s2", "items", 30, "s2 30 1030"}, {"s2", "items", 16, ""},
		} {
			var way []record.Origin
			var err error
			if c.source == "" {
				way, err = record.Whois(t.Context(), into, c.table, keys.Integer{Bits: c.key})
			} else {
				way, err = record.Whereis(t.Context(), into, c.source, c.table, keys.Integer{Bits: c.key})
			}
			got := ""
			for _, o := range way {
				got = strings.TrimSpace(fmt.Sprint(got, " ", o.Source, " ", o.Old, " ", o.New))
			}
			if err != nil || got != c.want {
				t.Errorf("%+v: %q, %v", c, got, err)
			}
		}
		for _, c := range []struct{ source, table, want string }{
			{"s1", "items", `a first world kept its keys`},
			{"", "char", `has no record of keys of a table "char", only of chars, items, mail`},
			{"s4", "chars", `has no record of keys of "s4" in the table "chars", only of s2, s3: use one of these as the WORLD`},
		} {
			_, err := record.Whois(t.Context(), into, c.table, keys.Integer{Bits: 4})
			if c.source != "" {
				_, err = record.Whereis(t.Context(), into, c.source, c.table, keys.Integer{Bits: 4})
			}
			if !errors.Is(err, record.ErrNoMerge) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %v", c, err)
			}
		}
		// What was given once is not given again, and after another merge a key is where that put it.
		worldtest.Opened(t, p, into, all)
		into.Name = "n1"
		worlds := []world.Database{into, worldtest.OldGame(t, e, "s4")[0]}
		worldtest.Exec(t, worlds[1], "UPDATE chars SET name = REPLACE(name, 'n', 'x')")
		rules := worldtest.OldRules()
		rules.Allow = []string{verdict.CodeWorldMerged} // they began with the same rows
		again, next := worldtest.PlanOf(t, e, worlds, planner.PlanOptions{Check: rules})
		if got := again.Rekey.Offset("chars.guid", "s4"); got < 3000 {
			t.Errorf("the offset %d was given before", got)
		}
		worldtest.MustApply(t, again, next, worlds)
	})
}

// A merged database hands on what it remembers: a key that moved twice is
// traced to its first world, and forward to where it is now.
func TestKeysTravel(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.OldGame(t, e, "s1", "s2", "s3")
	merged := func(name string, worlds ...world.Database) world.Database {
		p, into := worldtest.MergeOf(t, e, worlds, planner.PlanOptions{Check: worldtest.OldRules()})
		worldtest.Opened(t, p, into, worlds)
		return world.Database{Name: name, DSN: into.DSN}
	}
	n1 := merged("n1", all[1], all[2]) // 5 of s3 becomes 1005
	n2 := merged("n2", all[0], n1)     // and that 11005, or so
	there, err := record.Whereis(t.Context(), n2, "s3", "chars", keys.Signed(5))
	if err != nil || len(there) != 2 || there[0].Source != "s3" || there[0].New != there[1].Old || there[1].Source != "n1" {
		t.Fatalf("%+v, %v", there, err)
	}
	worldtest.Says(t, n2, map[string]string{"SELECT name FROM chars WHERE guid = " + there[1].New.String(): "[[ncf]]"})
	back, err := record.Whois(t.Context(), n2, "chars", there[1].New)
	slices.Reverse(back)
	if err != nil || !slices.Equal(back, there) {
		t.Errorf("back %+v, there %+v, %v", back, there, err)
	}
	// 5 of s2, which kept its keys, moved once.
	own, err := record.Whois(t.Context(), n2, "chars", keys.Signed(5+int64(there[1].New.Bits-there[1].Old.Bits)))
	if err != nil || len(own) != 1 || own[0].Source != "n1" || own[0].Old != keys.Signed(5) {
		t.Errorf("%+v, %v", own, err)
	}
}

// Worlds whose keys lie apart keep them, also what leads nowhere.
func TestRekeyOfWorldsApart(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.OldGame(t, e, "s1", "s2")
	for table, columns := range map[string]string{"chars": "guid", "stats": "guid", "spells": "guid", "log": "guid", "items": "id owner prev", "mail": "id sender receiver"} {
		for _, c := range strings.Fields(columns) {
			where := c + " > 0"
			if c == "sender" {
				where += " AND kind = 0"
			}
			worldtest.Exec(t, all[1], fmt.Sprintf("UPDATE %s SET %s = %[2]s + 10000 WHERE %s", table, c, where))
		}
	}
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: worldtest.OldRules()})
	if p.Rekey == nil || p.Rekey.Moves() {
		t.Fatalf("%+v", p.Rekey)
	}
	worldtest.MustApply(t, p, into, all)
	worldtest.Proved(t, p, into, all)
}

// A value that moves from below 2^63 to above is the same number to the plan, to the copy and
// to the proof: drivers deliver the two in different types.
func TestKeysMoveBeyondInt64(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
	for _, d := range all {
		worldtest.Exec(t, d, "CREATE TABLE chars (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, spouse BIGINT UNSIGNED NOT NULL)")
	}
	worldtest.Exec(t, all[0], "INSERT INTO chars VALUES (9223372036854775826, 9223372036854775826)")
	worldtest.Exec(t, all[1], "INSERT INTO chars VALUES (9223372036854775827, 9223372036854775827), (9223372036854775828, 874)") // 874 is gone
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: rules.Options{
		Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"chars.id"}}}},
		Rules: []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"chars.spouse"}, To: []string{"chars.id"}}}}},
	}})
	worldtest.MustApply(t, p, into, all)
	if n := worldtest.Number(t, into, "SELECT COUNT(*) FROM chars WHERE spouse > 9223372036854775807"); n != 3 {
		t.Errorf("%d values lie beyond int64, want 3", n)
	}
	worldtest.Proved(t, p, into, all)
}
