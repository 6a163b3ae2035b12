package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// What the operator declares is checked as if the schema had declared it.
func TestDeclared(t *testing.T) {
	type found = map[string]int64
	owner := rules.DeclaredReference{At: []string{"pets.owner"}, To: []string{"characters.guid"}}
	guild := rules.DeclaredReference{At: []string{"characters.guild_id"}, To: []string{"guild.id"}}
	guildOrNone := guild
	guildOrNone.None = []string{"0"}
	name := rules.DeclaredUnique{Table: "characters", Columns: []string{"name"}, Name: "character name"}
	for test, tt := range map[string]struct {
		opts  rules.Options
		plant func(a, b *mergetest.Database)
		want  found
	}{
		"nothing": {rules.Options{}, func(a, b *mergetest.Database) { b.Rows["characters"][0]["name"] = "A-0" }, found{}},
		"unique": {
			rules.Options{Uniques: []rules.DeclaredUnique{name}},
			func(a, b *mergetest.Database) { b.Rows["characters"][0]["name"] = "A-0" }, found{"unique-collision|characters|name": 1},
		},
		"unique within one database": {
			rules.Options{Uniques: []rules.DeclaredUnique{name}},
			func(a, b *mergetest.Database) { b.Rows["characters"][0]["name"] = "b-1" }, found{"unique-collision|characters|name": 1},
		},
		"reference": {
			rules.Options{Rules: []rules.Declarations{{References: []rules.DeclaredReference{owner}}}},
			func(a, b *mergetest.Database) {
				b.Rows["pets"][0]["owner"] = int64(999)
				b.Rows["pets"][1]["owner"] = int64(3)
			},
			found{"reference-dangling|pets|owner → characters.guid": 2, "reference-rebind|pets|owner → characters.guid": 1},
		},
		"reference to a key that collides": {
			rules.Options{Rules: []rules.Declarations{{References: []rules.DeclaredReference{owner}}}},
			func(a, b *mergetest.Database) {
				b.Rows["characters"][0]["guid"] = int64(3) // 3 is in both; two of a's pets and one of b's mean it
				a.Rows["pets"][0]["owner"] = int64(3)
				b.Rows["pets"][0]["owner"] = int64(3)
			},
			found{"key-collision|characters|guid": 1, "reference-ambiguous|pets|owner → characters.guid": 3},
		},
		"0 is a value": {
			rules.Options{Rules: []rules.Declarations{{References: []rules.DeclaredReference{guild}}}}, func(a, b *mergetest.Database) {},
			found{"reference-dangling|characters|guild_id → guild.id": 18},
		},
		"0 is none": {
			rules.Options{Rules: []rules.Declarations{{References: []rules.DeclaredReference{guildOrNone}}}}, func(a, b *mergetest.Database) {}, found{},
		},
		"0 is none though another database has it": {
			rules.Options{Rules: []rules.Declarations{{References: []rules.DeclaredReference{guildOrNone}}}},
			func(a, b *mergetest.Database) {
				b.Rows["guild"] = append(b.Rows["guild"], mergetest.Row{"id": int64(0), "name": "none", "leader": int64(101)})
				a.Rows["characters"][5]["guild_id"] = int64(77)
			},
			found{"reference-dangling|characters|guild_id → guild.id": 1},
		},
	} {
		t.Run(test, func(t *testing.T) {
			a, b := game("a", 1, 10), game("b", 101, 10)
			tt.plant(a, b)
			tt.opts.Rules = append(tt.opts.Rules, rules.Declarations{Plain: []string{"characters.account", "characters.name"}})
			if diff := cmp.Diff(tt.want, findings(mustCheck(t, tt.opts, a, b))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}

	// The first world takes no two of the guilds for equal, but what finds its own
	// guild at home, in any case, would find the other's in the first world.
	t.Run("ambiguous only to the target", func(t *testing.T) {
		a, b := settled(1), settled(2)
		ref := rules.DeclaredReference{At: []string{"players.mail"}, To: []string{"guilds.name"}}
		a.Schema.Tables[0].Columns[1].Collation = mergetest.Binary
		a.Rows["guilds"][0]["name"], b.Rows["guilds"][0]["name"] = "Owls", "OWLS"
		b.Rows["players"][0]["mail"] = "Owls"
		want := found{"schema-column|guilds|name": 1, "reference-ambiguous|players|mail → guilds.name": 1}
		if diff := cmp.Diff(want, findings(mustCheck(t, rules.Options{Rules: []rules.Declarations{{References: []rules.DeclaredReference{ref}}}}, a, b))); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
	})

	t.Run("ambiguous is shown from all sides", func(t *testing.T) {
		a, b := game("a", 1, 10), game("b", 10, 10)
		r := find(mustCheck(t, rules.Options{Rules: []rules.Declarations{{References: []rules.DeclaredReference{owner}}}}, a, b), verdict.CodeReferenceAmbiguous, "pets", "")[0]
		if r.Count != 2 || len(r.Samples) != 2 {
			t.Fatalf("%d rows, %d samples: %+v", r.Count, len(r.Samples), r)
		}
		var rows []string
		for _, row := range r.Samples[0].Rows {
			rows = append(rows, row.World+" "+row.Table+" "+row.Fields[0].Value)
		}
		if diff := cmp.Diff([]string{"a  10", "a characters 10", "b characters 10"}, rows); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}
