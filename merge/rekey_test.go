package merge

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
)

// oldGame makes the databases of a game that counts its keys from 1 in every world: all
// have the same rows but for names, of which some lead nowhere.
func oldGame(t *testing.T, e engine, names ...string) (all []world.Database) {
	t.Helper()
	auto := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if e.name != "sqlite" {
		auto = "INT UNSIGNED AUTO_INCREMENT PRIMARY KEY"
	}
	for i, name := range names {
		d := e.fresh(t, name)
		exec(t, d,
			"CREATE TABLE chars (guid "+auto+", name VARCHAR(20) NOT NULL UNIQUE, level INT NOT NULL)",
			"CREATE TABLE stats (guid INT NOT NULL PRIMARY KEY, hp INT NOT NULL)",
			"CREATE TABLE items (id "+auto+", owner INT NOT NULL, prev INT)",
			"CREATE TABLE spells (guid INT NOT NULL, spell INT NOT NULL, PRIMARY KEY (guid, spell))",
			"CREATE TABLE log (guid INT NOT NULL, what VARCHAR(9) NOT NULL)",
			"INSERT INTO log VALUES (1, 'born'), (1, 'born'), (2, 'won'), (77, 'gone'), (0, 'start')",
			"CREATE TABLE mail (id "+auto+", kind INT NOT NULL, sender INT NOT NULL, receiver INT NOT NULL)",
		)
		for k := 1; k <= 5; k++ {
			exec(t, d, fmt.Sprintf("INSERT INTO chars (guid, name, level) VALUES (%d, 'n%c%c', %[1]d)", k, 'a'+i, 'a'+k),
				fmt.Sprintf("INSERT INTO stats VALUES (%d, %d)", k, 100*i+k),
				fmt.Sprintf("INSERT INTO spells VALUES (%d, 133), (%[1]d, %d)", k, k),
				fmt.Sprintf("INSERT INTO items (id, owner, prev) VALUES (%d, %d, NULL), (%d, %d, %d)", k, k, 10+k, 6-k, k),
				fmt.Sprintf("INSERT INTO mail (id, kind, sender, receiver) VALUES (%d, 0, %d, %d), (%d, 5, %d, %d)", k, k, 6-k, 10+k, k, k))
		}
		exec(t, d, "INSERT INTO items (id, owner, prev) VALUES (30, 0, 9), (31, 44, 30)", // nobody's, and of somebody who is gone
			"INSERT INTO stats VALUES (77, 1)", "INSERT INTO mail (id, kind, sender, receiver) VALUES (40, 0, 0, 3)")
		all = append(all, d)
	}
	return all
}

// oldRules say what the columns of that game are.
func oldRules() rules.Options {
	return rules.Options{
		Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"chars.guid"}}}, Auto: true},
		Rules: []rules.Declarations{{
			Plain: []string{"*.level", "*.hp", "*.kind"}, Shared: []string{"spells.spell"},
			References: []rules.DeclaredReference{
				{At: []string{"stats.guid", "spells.guid", "mail.receiver"}, To: []string{"chars.guid"}},
				{At: []string{"items.owner", "log.guid"}, To: []string{"chars.guid"}, None: []string{"0"}},
				{At: []string{"items.prev"}, To: []string{"items.id"}},
				{At: []string{"mail.sender"}, To: []string{"chars.guid"}, None: []string{"0"}, When: &rules.When{Column: "kind", Is: []string{"0"}}, Others: rules.OthersPlain},
			},
		}},
	}
}

// Keys that collide get new values, together with all that refers to them, and nothing
// else changes. It is proved and remembered.
func TestRekey(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := oldGame(t, e, "s1", "s2", "s3")
		p, into := planOf(t, e, all, planner.PlanOptions{Check: oldRules()})
		if got := fmt.Sprint(p.Rekey.Offset("chars.guid", "s2"), p.Rekey.Offset("items.id", "s2"), p.Rekey.Offset("chars.guid", "s3")); got != "1000 1000 2000" {
			t.Fatal(got)
		}
		mustApply(t, p, into, all)
		db := pool(t, into)
		defer db.Close()
		for query, want := range map[string]string{
			"SELECT guid, level FROM chars WHERE name = 'nbe'":                             "[[1004 4]]",
			"SELECT owner, prev FROM items WHERE id IN (1011, 1030, 1031) ORDER BY id":     "[[1005 1001] [0 1009] [1044 1030]]",
			"SELECT sender, receiver FROM mail WHERE id IN (2003, 2013, 2040) ORDER BY id": "[[2003 2003] [3 2003] [0 2003]]",
			"SELECT hp FROM stats WHERE guid IN (1002, 2077) ORDER BY guid":                "[[102] [1]]",
			"SELECT spell FROM spells WHERE guid = 2004 ORDER BY spell":                    "[[4] [133]]",
			"SELECT guid, what FROM log ORDER BY guid, what":                               "[[0 start] [0 start] [0 start] [1 born] [1 born] [2 won] [77 gone] [1001 born] [1001 born] [1002 won] [1077 gone] [2001 born] [2001 born] [2002 won] [2077 gone]]",
			"SELECT COUNT(*) FROM items":                                                   "[[36]]",
		} {
			if got := fmt.Sprint(readCell(t, db, query)); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		proof := verified(t, p, into, all)
		if proof.Verdict != verdict.Pass || len(proof.Keys) != 6 {
			t.Fatalf("%s: %+v\n%+v", proof.Verdict, proof.Keys, proof.Findings)
		}
		exec(t, into, "INSERT INTO chars (name, level) VALUES ('later', 1)")
		later := number(t, into, "SELECT guid FROM chars WHERE name = 'later'")
		if later != 3000 {
			t.Errorf("the next key is %d, want 3000", later)
		}
		exec(t, into, "DELETE FROM chars WHERE name = 'later'")
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
			{"s4", "chars", `has no record of keys of "s4" in the table "chars", only of s2, s3: name one of these as the WORLD`},
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
		opened(t, p, into, all)
		into.Name = "n1"
		worlds := []world.Database{into, oldGame(t, e, "s4")[0]}
		exec(t, worlds[1], "UPDATE chars SET name = REPLACE(name, 'n', 'x')")
		rules := oldRules()
		rules.Allow = []string{verdict.CodeWorldMerged} // they began with the same rows
		again, next := planOf(t, e, worlds, planner.PlanOptions{Check: rules})
		if got := again.Rekey.Offset("chars.guid", "s4"); got < 3000 {
			t.Errorf("the offset %d was given before", got)
		}
		mustApply(t, again, next, worlds)
	})
}

// A merged database hands on what it remembers: a key that moved twice is
// traced to its first world, and forward to where it is now.
func TestKeysTravel(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := oldGame(t, e, "s1", "s2", "s3")
		merged := func(name string, worlds ...world.Database) world.Database {
			p, into := mergeOf(t, e, worlds, planner.PlanOptions{Check: oldRules()})
			opened(t, p, into, worlds)
			return world.Database{Name: name, DSN: into.DSN}
		}
		n1 := merged("n1", all[1], all[2]) // 5 of s3 becomes 1005
		n2 := merged("n2", all[0], n1)     // and that 11005, or so
		there, err := record.Whereis(t.Context(), n2, "s3", "chars", keys.Signed(5))
		if err != nil || len(there) != 2 || there[0].Source != "s3" || there[0].New != there[1].Old || there[1].Source != "n1" {
			t.Fatalf("%+v, %v", there, err)
		}
		db := pool(t, n2)
		defer db.Close()
		if got := fmt.Sprint(readCell(t, db, "SELECT name FROM chars WHERE guid = "+there[1].New.String())); got != "[[ncf]]" {
			t.Errorf("%v is %s", there[1].New, got)
		}
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
	})
}

// Worlds whose keys lie apart keep them, also what leads nowhere.
func TestRekeyOfWorldsApart(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := oldGame(t, e, "s1", "s2")
		for table, columns := range map[string]string{"chars": "guid", "stats": "guid", "spells": "guid", "log": "guid", "items": "id owner prev", "mail": "id sender receiver"} {
			for _, c := range strings.Fields(columns) {
				where := c + " > 0"
				if c == "sender" {
					where += " AND kind = 0"
				}
				exec(t, all[1], fmt.Sprintf("UPDATE %s SET %s = %[2]s + 10000 WHERE %s", table, c, where))
			}
		}
		p, into := planOf(t, e, all, planner.PlanOptions{Check: oldRules()})
		if p.Rekey == nil || p.Rekey.Moves() {
			t.Fatalf("%+v", p.Rekey)
		}
		mustApply(t, p, into, all)
		if proof := verified(t, p, into, all); proof.Verdict != verdict.Pass {
			t.Errorf("%s: %v", proof.Verdict, proof.Findings)
		}
	})
}

// In a table without a key all values of a column move or none, and the plan says how to
// leave it behind. If a column has no room, that is the first reason.
func TestRekeyWithoutKey(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := oldGame(t, e, "s1", "s2")
		for _, d := range all {
			exec(t, d, "CREATE TABLE loot (item INT NOT NULL, kind INT NOT NULL)", "INSERT INTO loot VALUES (3, 1), (3, 1)")
		}
		opts := planner.PlanOptions{Check: oldRules()}
		opts.Check.Rules[0].References = append(opts.Check.Rules[0].References, rules.DeclaredReference{At: []string{"loot.item"}, To: []string{"items.id"},
			When: &rules.When{Column: "kind", Is: []string{"1"}}, Others: rules.OthersPlain})
		opts.Check.Rules[0].Plain = append(opts.Check.Rules[0].Plain, "loot.kind")
		reasons := func() []string {
			p, err := planner.NewPlan(t.Context(), e.fresh(t, "new"), all, opts)
			if err != nil {
				t.Fatal(err)
			}
			var reasons []string
			for _, r := range p.Refusals {
				reasons = append(reasons, r.String())
			}
			return reasons
		}
		if got := reasons(); len(got) != 1 || !strings.HasSuffix(got[0], `[[merge.table]] tables = ["loot"], policy = "skip"`) {
			t.Errorf("%q", got)
		}
		opts.Check.Rekey.Spaces[0].Max = 100
		if got := reasons(); len(got) == 0 || !strings.Contains(got[0], "there is no room") {
			t.Errorf("%q", got)
		}
	})
}

// withoutCounters is a dump without what the server tells of AUTO_INCREMENT.
func withoutCounters(text string) string {
	words := strings.Fields(text)
	words = slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "AUTO_INCREMENT=") })
	return strings.Join(words, " ")
}

// A value that moves from below 2^63 to above is the same number to the plan, to the copy and
// to the proof: drivers deliver the two in different types.
func TestKeysMoveBeyondInt64(t *testing.T) {
	e := engines()[1]
	all := []world.Database{e.fresh(t, "s1"), e.fresh(t, "s2")}
	for _, d := range all {
		exec(t, d, "CREATE TABLE chars (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, spouse BIGINT UNSIGNED NOT NULL)")
	}
	exec(t, all[0], "INSERT INTO chars VALUES (9223372036854775826, 9223372036854775826)")
	exec(t, all[1], "INSERT INTO chars VALUES (9223372036854775827, 9223372036854775827), (9223372036854775828, 874)") // 874 is gone
	p, into := planOf(t, e, all, planner.PlanOptions{Check: rules.Options{
		Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"chars.id"}}}},
		Rules: []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"chars.spouse"}, To: []string{"chars.id"}}}}},
	}})
	mustApply(t, p, into, all)
	if n := number(t, into, "SELECT COUNT(*) FROM chars WHERE spouse > 9223372036854775807"); n != 3 {
		t.Errorf("%d values lie beyond int64, want 3", n)
	}
	if proof := verified(t, p, into, all); proof.Verdict != verdict.Pass {
		t.Errorf("%s: %+v", proof.Verdict, proof)
	}
}
