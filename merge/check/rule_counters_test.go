package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Counters whose ranges lie apart pass; others are not verified even where no
// key collides yet, and what would separate them is said.
func TestCounters(t *testing.T) {
	for name, test := range map[string]struct {
		plant   func(a, b, c *mergetest.Database)
		verdict verdict.Verdict
		message string
		gap     string
		next    []string
	}{
		"apart": {
			func(a, b, c *mergetest.Database) {}, verdict.Pass,
			"the ranges are disjoint: a 1 to 10, next 11; b 101 to 110, next 111; c 201 to 210, next 211", "", nil,
		},
		"touching": {
			func(a, b, c *mergetest.Database) { b.Rows["characters"][9]["guid"] = int64(200) }, verdict.Pass,
			"the ranges are disjoint: a 1 to 10, next 11; b 101 to 200, next 111; c 201 to 210, next 211", "", nil,
		},
		"interleaved": {
			func(a, b, c *mergetest.Database) { b.Rows["characters"][9]["guid"] = int64(999) }, verdict.NotVerified,
			"the ranges overlap: a 1 to 10, next 11; b 101 to 999, next 111; c 201 to 210, next 211", "b, c use the same range of numbers",
			[]string{"c: there is no room: an offset of 800 for characters.guid would reach 1,010, but the type ends at 1,000; give the column a larger type first"},
		},
		"empty": {
			func(a, b, c *mergetest.Database) {
				b.Rows["characters"] = nil
				b.Schema.Tables[0].AutoIncrement.Next = 1
			}, verdict.Pass,
			"the ranges are disjoint: a 1 to 10, next 11; b none, next 1; c 201 to 210, next 211", "", nil,
		},
		"one number in common": {
			func(a, b, c *mergetest.Database) { b.Rows["characters"][0]["guid"] = int64(10) }, verdict.NotVerified,
			"the ranges overlap: a 1 to 10, next 11; b 10 to 110, next 111; c 201 to 210, next 211", "a, b use the same range of numbers",
			[]string{"b: add 1 to characters.guid and to the columns that refer to it: pets.owner; then the largest is 111 of 1,000"},
		},
		"the same": {
			func(a, b, c *mergetest.Database) {
				for n := range 10 {
					b.Rows["characters"][n]["guid"] = int64(n + 1)
				}
			}, verdict.NotVerified,
			"the ranges overlap: a 1 to 10, next 11; b 1 to 10, next 111; c 201 to 210, next 211", "a, b use the same range of numbers",
			[]string{
				"b: add 10 to characters.guid and to the columns that refer to it: pets.owner; then the largest is 20 of 1,000",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, c := game("a", 1, 10), game("b", 101, 10), game("c", 201, 10)
			test.plant(a, b, c)
			opts := rules.Options{Rules: []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"pets.owner"}, To: []string{"characters.guid"}}}}}}
			r := find(mustCheck(t, opts, a, b, c), verdict.CodeAutoIncrement, "characters", "guid")[0]
			if r.Verdict != test.verdict || r.Message != test.message || r.Count != 0 {
				t.Errorf("%s: %s", r.Verdict, r.Message)
			}
			var gap string
			for _, g := range r.Gaps {
				gap += g.Reason
			}
			if gap != test.gap {
				t.Errorf("gap %q, want %q", gap, test.gap)
			}
			if len(test.next) > 0 {
				if diff := cmp.Diff(test.next, r.Next[:len(test.next)]); diff != "" {
					t.Errorf("next steps (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// Advice to add to keys names the columns that may hold them without a reference,
// and is silent if there are none.
func TestOffsetCaveat(t *testing.T) {
	to := func(table, column string) rules.DeclaredReference {
		return rules.DeclaredReference{At: []string{table + "." + column}, To: []string{"characters.guid"}}
	}
	advice := func(refs ...rules.DeclaredReference) string {
		report := mustCheck(t, rules.Options{Rules: []rules.Declarations{{References: refs}}}, game("a", 1, 10), game("b", 5, 10))
		return strings.Join(find(report, verdict.CodeAutoIncrement, "characters", "")[0].Next, "\n")
	}
	const caveat = "before you add anything: 3 columns without a declared reference could also hold these numbers (characters.guild_id, guild.id, guild.leader); " +
		"such a column, left unchanged, would refer to other rows"
	if got := advice(to("pets", "owner")); !strings.Contains(got, caveat) {
		t.Errorf("got %s\nwant %s", got, caveat)
	}
	if got := advice(to("pets", "owner"), to("characters", "guild_id"), to("guild", "id"), to("guild", "leader")); strings.Contains(got, "before you") || !strings.Contains(got, "add ") {
		t.Errorf("all is declared, and yet: %s", got)
	}
}

// What an offset proposes does separate the counters.
func TestOffsetsSeparate(t *testing.T) {
	a, b, c := game("a", 1, 10), game("b", 5, 10), game("c", 1, 7)
	for i, target := range []string{"a", "b", "c"} {
		worlds := []*mergetest.Database{a, b, c}
		worlds[0], worlds[i] = worlds[i], worlds[0]
		r := find(mustCheck(t, rules.Options{}, worlds...), verdict.CodeAutoIncrement, "characters", "")[0]
		moved := make(map[string]int64)
		for _, step := range r.Next {
			name, rest, ok := strings.Cut(step, ": add ")
			var n int64
			if _, err := fmt.Sscanf(rest, "%d", &n); ok && err == nil {
				moved[name] = n
			}
		}
		shifted := []*mergetest.Database{game("a", 1+int(moved["a"]), 10), game("b", 5+int(moved["b"]), 10), game("c", 1+int(moved["c"]), 7)}
		shifted[0], shifted[i] = shifted[i], shifted[0]
		if moved[target] != 0 || len(moved) != 2 {
			t.Errorf("%s first: %v", target, moved)
		}
		if r := find(mustCheck(t, rules.Options{}, shifted...), verdict.CodeAutoIncrement, "characters", "")[0]; r.Verdict != verdict.Pass {
			t.Errorf("%s first, moved by %v: %s", target, moved, r.Message)
		}
	}
}

// A number that is counted within an account, in a key with the account, is declared shared: nothing
// collides by it, so no -allow is needed. A key of that number alone stays not verified.
func TestCounterWithinAnotherKey(t *testing.T) {
	for _, c := range []struct {
		key  []string
		want verdict.Verdict
	}{{[]string{"id", "account"}, verdict.Pass}, {[]string{"account", "id"}, verdict.Pass}, {[]string{"id"}, verdict.NotVerified}} {
		var dbs []*mergetest.Database
		for w := range int64(2) {
			db := &mergetest.Database{Label: fmt.Sprintf("w%d", w)}
			db.Schema.Engine, db.Schema.Tables = "memory", []catalog.Table{{Name: "vipgroups", Columns: []catalog.Column{number("id"), number("account")},
				Primary: c.key, AutoIncrement: &catalog.AutoIncrement{Column: "id", Next: 9, Max: 1<<31 - 1}}}
			db.Rows = map[string][]mergetest.Row{"vipgroups": {{"id": 1 + w, "account": 100 * w}, {"id": 5 + w, "account": 100 * w}}}
			dbs = append(dbs, db)
		}
		r := find(mustCheck(t, rules.Options{Rules: []rules.Declarations{{Shared: []string{"vipgroups.id"}}}}, dbs...), verdict.CodeAutoIncrement, "vipgroups", "")
		if len(r) != 1 || r[0].Verdict != c.want {
			t.Errorf("key %v: %+v, want %s", c.key, r, c.want)
		}
	}
}
