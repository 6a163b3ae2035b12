package change_test

import (
	"strings"
	"testing"

	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// keylessWorlds have a log without a key: of kind 0 it is about heroes, of kind 1 about pets, of others about neither;
// by is a hero as a text, seen a list of heroes; two of its rows are the same.
func keylessWorlds(t *testing.T, e worldtest.Engine) (all []world.Database, opts func(more func(*rules.Options, *rules.Declarations)) planner.PlanOptions) {
	all = worldtest.KeyWorlds(t, e, 3, append(worldtest.Leavers,
		"CREATE TABLE log (kind INTEGER NOT NULL, what INTEGER, name VARCHAR(20), seen VARCHAR(20) NOT NULL, guild INTEGER, tag VARCHAR(20) NOT NULL)",
		"INSERT INTO log VALUES (0, 2, '5', '2 5', 1, 'w%d a'), (0, 2, '5', '2 5', 1, 'w%d a'), (0, 1, '2', '', 2, 'w%d b'), (1, 2, '3', '3', NULL, 'w%d c'), (1, 1, NULL, '', 2, 'w%d d'), (2, 1, '2', '', NULL, 'w%d e')")...)
	return all, func(more func(*rules.Options, *rules.Declarations)) planner.PlanOptions {
		return worldtest.LeaveOptions(func(o *rules.Options, d *rules.Declarations) { logOf(d); more(o, d) })
	}
}

func logOf(d *rules.Declarations) {
	d.Plain = append(d.Plain, "log.kind")
	kind := func(is string) *rules.When { return &rules.When{Column: "kind", Is: []string{is}} }
	d.References = append(d.References,
		rules.DeclaredReference{At: []string{"log.what"}, To: []string{"hero.guid"}, When: kind("0"), Gone: rules.GoneDrop},
		rules.DeclaredReference{At: []string{"log.what"}, To: []string{"pet.id"}, When: kind("1"), Gone: rules.GoneDrop, Others: "plain"},
		rules.DeclaredReference{At: []string{"log.seen"}, To: []string{"hero.guid"}, Format: "list sep=' ' every"},
		rules.DeclaredReference{At: []string{"log.guild"}, To: []string{"guild.id"}, Gone: rules.GoneNone})
}

// A table without a key takes part in all that references do: only some of its rows, texts, cells, and rows that stay
// behind. It is proved as a multiset, world by world.
func TestKeyless(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all, opts := keylessWorlds(t, e)
		const ask = "SELECT kind, what, name, seen, guild, tag FROM log ORDER BY tag, what"
		_, into := worldtest.Rekeyed(t, e, all, opts(func(_ *rules.Options, d *rules.Declarations) {
			d.References = append(d.References, rules.DeclaredReference{At: []string{"log.name"}, To: []string{"hero.guid"}})
		}))
		worldtest.Asked(t, into, ask, "0|2|5|2 5|1|w0 a", "0|2|5|2 5|1|w0 a", "0|1|2||2|w0 b", "1|2|3|3|<nil>|w0 c", "1|1|<nil>||2|w0 d", "2|1|2||<nil>|w0 e",
			"0|1002|1005|1002 1005|1001|w1 a", "0|1002|1005|1002 1005|1001|w1 a", "0|1001|1002||1002|w1 b", "1|1002|1003|1003|<nil>|w1 c", "1|1001|<nil>||1002|w1 d", "2|1|1002||<nil>|w1 e",
			"0|2002|2005|2002 2005|2001|w2 a", "0|2002|2005|2002 2005|2001|w2 a", "0|2001|2002||2002|w2 b", "1|2002|2003|2003|<nil>|w2 c", "1|2001|<nil>||2002|w2 d", "2|1|2002||<nil>|w2 e")

		leaving := opts(func(o *rules.Options, d *rules.Declarations) {
			d.Plain = append(d.Plain, "log.name")
			where("hero", "level < 20")(o, d)
		})
		p, into := worldtest.Rekeyed(t, e, all, leaving)
		worldtest.Asked(t, into, ask, "0|2|5|2 5|<nil>|w0 a", "0|2|5|2 5|<nil>|w0 a", "1|2|3|3|<nil>|w0 c", "2|1|2||<nil>|w0 e",
			"0|1002|5|1002 1005|<nil>|w1 a", "0|1002|5|1002 1005|<nil>|w1 a", "1|1002|3|1003|<nil>|w1 c", "2|1|2||<nil>|w1 e",
			"0|2002|5|2002 2005|<nil>|w2 a", "0|2002|5|2002 2005|<nil>|w2 a", "1|2002|3|2003|<nil>|w2 c", "2|1|2||<nil>|w2 e")
		for what, wrong := range map[string]string{
			"a stranger":   "UPDATE log SET what = 1003 WHERE tag = 'w1 a'",
			"a plain text": "UPDATE log SET name = '2' WHERE tag = 'w1 c'",
			"in a cell":    "UPDATE log SET seen = '1003' WHERE tag = 'w2 c'",
			"not cleared":  "UPDATE log SET guild = 1001 WHERE tag = 'w1 a'",
			"one too few":  "DELETE FROM log WHERE tag = 'w0 e'",
		} {
			other := worldtest.Clone(t, e, into)
			worldtest.Exec(t, other, wrong)
			other.Name = into.Name
			if proof, err := prove.Verify(t.Context(), p, other, all, job.Options{}); err != nil || proof.Verdict != verdict.Fail {
				t.Errorf("%s: %+v, %v", what, proof, err)
			}
		}
	})
}

// Names in a table without a key follow, in the rows that hold names, also in rows that are the same.
func TestKeylessNames(t *testing.T) {
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.KeyWorlds(t, e, 2,
			"CREATE TABLE player (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE)",
			"INSERT INTO player VALUES (1, 'bob'), (2, 'w%d only')",
			"CREATE TABLE clan (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE)",
			"INSERT INTO clan VALUES (1, 'bob'), (2, 'clan %d')",
			"CREATE TABLE chat (kind INTEGER NOT NULL, who VARCHAR(20), tag VARCHAR(20) NOT NULL, id INTEGER NOT NULL, beside VARCHAR(20) NOT NULL)",
			"INSERT INTO chat VALUES (0, 'bob', 'w%d a', 1, 'bob'), (0, 'bob', 'w%d a', 1, 'bob'), (0, 'w%d only', 'w%d b', 2, 'w%d only'), (0, NULL, 'w%d c', 2, 'bob'), (1, 'bob', 'w%d d', 1, 'bob')")
		names := func(others string, more ...rules.DeclaredReference) planner.PlanOptions {
			opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
				o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"player.id"}}, rules.Space{Keys: []string{"clan.id"}})
				d.Plain = append(d.Plain, "chat.kind", "player.name", "clan.name")
				d.References = append(d.References, rules.DeclaredReference{At: []string{"chat.who"}, To: []string{"player.name"},
					When: &rules.When{Column: "kind", Is: []string{"0"}}, Others: others})
				d.References = append(d.References, rules.DeclaredReference{At: []string{"chat.id"}, To: []string{"player.id"}})
				d.References = append(d.References, more...)
			})
			opts.Names = []plan.NamePolicy{{Table: "player", Column: "name", Template: "{name}.{source}"}, {Table: "clan", Column: "name", Template: "{name}.{source}"}}
			opts.Copies = []plan.NameCopy{{Table: "chat", Column: "beside", Key: "id", OfTable: "player", OfColumn: "name"}}
			return opts
		}
		worldtest.MergedAndBack(t, e, all, names(rules.OthersPlain))
		two := names("", rules.DeclaredReference{At: []string{"chat.who"}, To: []string{"clan.name"}, When: &rules.When{Column: "kind", Is: []string{"1"}}})
		if got := worldtest.RefusalsOf(t, e.Fresh(t, "new"), all, two); !strings.Contains(got, "the table has no key, and its column who has names of several kinds") {
			t.Errorf("refused for %s", got)
		}
		p, into := worldtest.Rekeyed(t, e, all, names(rules.OthersPlain))
		worldtest.Asked(t, into, "SELECT kind, who, tag, beside FROM chat ORDER BY tag, who", "0|bob|w0 a|bob", "0|bob|w0 a|bob", "0|w0 only|w0 b|w0 only", "0|<nil>|w0 c|bob", "1|bob|w0 d|bob",
			"0|bob.w1|w1 a|bob.w1", "0|bob.w1|w1 a|bob.w1", "0|w1 only|w1 b|w1 only", "0|<nil>|w1 c|bob", "1|bob|w1 d|bob.w1")
		worldtest.Exec(t, into, "UPDATE chat SET who = 'bob.w1' WHERE tag = 'w1 d'")
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Fail {
			t.Errorf("%+v", proof)
		}
	})
}

// Names in a table without a key become unique like others, with or without a UNIQUE index; columns that are set with a name
// and references to it change too.
func TestKeylessOwnNames(t *testing.T) {
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		for _, index := range []string{"", " UNIQUE"} {
			foreign := ""
			if index != "" {
				foreign = ", FOREIGN KEY (sender) REFERENCES player (name) ON UPDATE CASCADE"
			}
			all := worldtest.KeyWorlds(t, e, 3,
				"CREATE TABLE player (name VARCHAR(20)"+index+", seen INTEGER NOT NULL, flags INTEGER NOT NULL, owner INTEGER NOT NULL)",
				"INSERT INTO player VALUES ('bob', 9 - %d, 4, 1), ('w%d only', 1, 4, 2), (NULL, 1, 4, 3), (NULL, 1, 4, 3)",
				"CREATE TABLE chat (who VARCHAR(20), tag VARCHAR(20) NOT NULL)",
				"INSERT INTO chat VALUES ('bob', 'w%d a'), ('bob', 'w%d a'), ('w%d only', 'w%d b'), (NULL, 'w%d c')",
				"CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, sender VARCHAR(20), tag VARCHAR(20) NOT NULL"+foreign+")",
				"INSERT INTO mail VALUES (1, 'w%d only', 'w%d a'), (2, 'bob', 'w%d b')")
			opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
				o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"mail.id"}})
				d.Plain = append(d.Plain, "player.name", "player.seen", "player.flags")
				d.References = append(d.References, rules.DeclaredReference{At: []string{"chat.who", "mail.sender"}, To: []string{"player.name"}},
					rules.DeclaredReference{At: []string{"player.owner"}, To: []string{"chars.guid"}})
			})
			opts.Names = []plan.NamePolicy{{Table: "player", Column: "name", Template: "{name}.{source}", Keep: plan.KeepOlder, By: "seen",
				Set: []rules.Setting{{Column: "flags", Bits: 1}}}}
			worldtest.MergedAndBack(t, e, all, opts)
			p, into := worldtest.Rekeyed(t, e, all, opts)
			if names, _, cells := p.Renamed(); names != 2 || cells != 6 {
				t.Errorf("the plan has %d new names and %d cells that change with them", names, cells)
			}
			worldtest.Asked(t, into, "SELECT name, seen, flags, owner FROM player WHERE name IS NOT NULL ORDER BY owner, name",
				"bob.w0|9|5|1", "w0 only|1|4|2", "bob.w1|8|5|1001", "w1 only|1|4|1002", "bob|7|4|2001", "w2 only|1|4|2002")
			worldtest.Asked(t, into, "SELECT who, tag FROM chat WHERE who LIKE 'bob%' ORDER BY tag, who",
				"bob.w0|w0 a", "bob.w0|w0 a", "bob.w1|w1 a", "bob.w1|w1 a", "bob|w2 a", "bob|w2 a")
			worldtest.Asked(t, into, "SELECT id, sender FROM mail ORDER BY id", "1|w0 only", "2|bob.w0", "1001|w1 only", "1002|bob.w1", "2001|w2 only", "2002|bob")
			for what, wrong := range map[string]string{
				"a new name":   "UPDATE player SET name = 'bob.w9' WHERE name = 'bob.w1'",
				"one that won": "UPDATE player SET name = 'rob' WHERE name = 'bob'",
				"not set":      "UPDATE player SET flags = 4 WHERE name = 'bob.w0'",
				"a follower":   "UPDATE chat SET who = 'bob' WHERE tag = 'w1 a'",
				"one of two":   "DELETE FROM player WHERE owner = 1003",
			} {
				other := worldtest.Clone(t, e, into)
				worldtest.Exec(t, other, wrong)
				other.Name = into.Name
				if proof, err := prove.Verify(t.Context(), p, other, all, job.Options{}); err != nil || proof.Verdict != verdict.Fail {
					t.Errorf("%s: %+v, %v", what, proof, err)
				}
			}
			worldtest.Opened(t, p, into, all)
			if index == "" {
				worldtest.Exec(t, all[1], "INSERT INTO player VALUES ('bob', 7, 4, 3)")
				const want = `several rows of w1 have the name "bob", and the table has no key that tells them apart`
				if got := worldtest.RefusalsOf(t, e.Fresh(t, "new"), all, opts); !strings.Contains(got, want) {
					t.Errorf("refused for %s", got)
				}
			}
		}
	})
}
