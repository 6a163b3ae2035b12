package change_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/worldtest"
)

// A plan shows what stays and what nearly did, what follows one row through all tables and circles, and money on
// both sides, also more than 64 bits of it.
func TestLeaveShown(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2,
		"CREATE TABLE hero (guid INTEGER NOT NULL PRIMARY KEY, level INTEGER, account INTEGER NOT NULL, guild INTEGER, gold BIGINT)",
		"INSERT INTO hero VALUES (1, 10, 1, 1, 9223372036854775807), (2, 10, 1, 1, 9223372036854775807), (3, 40, 1, NULL, NULL),"+
			" (4, NULL, 2, 2, -5), (5, 50, 3, 2, 7), (6, 60, 3, NULL, 8), (7, 10, 9, NULL, 1)",
		"CREATE TABLE guild (id INTEGER NOT NULL PRIMARY KEY, master INTEGER NOT NULL)",
		"INSERT INTO guild VALUES (1, 1), (2, 5)",
		"CREATE TABLE pet (id INTEGER NOT NULL PRIMARY KEY, owner INTEGER NOT NULL, mother INTEGER)",
		"INSERT INTO pet VALUES (1, 7, 2), (2, 1, 4), (3, 5, NULL), (4, 5, 2), (5, 6, NULL), (6, 5, 4), (7, 6, 1)", // 2 and 4 are a circle
		"CREATE TABLE vault (guild INTEGER NOT NULL, slot INTEGER NOT NULL, PRIMARY KEY (guild, slot))",
		"INSERT INTO vault VALUES (1, 1), (1, 2), (1, 3), (2, 1)")
	o := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		for _, key := range []string{"hero.guid", "guild.id", "pet.id"} {
			o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{key}})
		}
		d.Plain, d.Shared = append(d.Plain, "hero.level", "hero.gold", "vault.slot"), append(d.Shared, "hero.account")
		d.References = append(d.References,
			rules.DeclaredReference{At: []string{"hero.guild"}, To: []string{"guild.id"}, Gone: rules.GoneNone},
			rules.DeclaredReference{At: []string{"vault.guild"}, To: []string{"guild.id"}, Gone: rules.GoneDrop},
			rules.DeclaredReference{At: []string{"guild.master", "pet.owner"}, To: []string{"hero.guid"}, Gone: rules.GoneDrop},
			rules.DeclaredReference{At: []string{"pet.mother"}, To: []string{"pet.id"}, Gone: rules.GoneDrop})
		o.Leave = []rules.Leave{
			{Table: "hero", Where: "level < 20 AND account BETWEEN 1 AND 8 AND guid < :now"},
			{Table: "hero", Best: &rules.Best{Of: "account", Keep: 2, By: []string{"level desc"}}}}
	})
	p, _ := worldtest.PlanOf(t, e, all, o)
	where, best := "where "+o.Check.Leave[0].Where, o.Check.Leave[1].Best.String()
	want := new(verdict.Staying)
	for _, w := range []string{"w0", "w1"} { // each is the same: of account 3 the best hero of each comes
		want.Tables = append(want.Tables,
			verdict.StayingTable{World: w, Table: "hero", Stay: 3, Come: 4, Why: []verdict.StayingWhy{
				{Why: best, Rows: 1, SuchAs: []string{"5"}}, {Why: where, Rows: 2, SuchAs: []string{"1", "2"}}},
				Sums: []verdict.StayingSum{{Column: "gold", Stay: "18446744073709551621", Come: "4"}}},
			verdict.StayingTable{World: w, Table: "guild", Stay: 2, Why: []verdict.StayingWhy{{Why: "refers by master to hero", Rows: 2, SuchAs: []string{"1", "2"}}}},
			verdict.StayingTable{World: w, Table: "pet", Stay: 6, Come: 1, Why: []verdict.StayingWhy{
				{Why: "refers by mother to pet", Rows: 2, SuchAs: []string{"1", "7"}}, {Why: "refers by owner to hero", Rows: 4, SuchAs: []string{"2", "3", "4"}}}},
			verdict.StayingTable{World: w, Table: "vault", Stay: 4, Why: []verdict.StayingWhy{{Why: "refers by guild to guild", Rows: 4}}})
		want.Close = append(want.Close,
			verdict.CloseRows{World: w, Table: "hero", Why: "all of where except level < 20", Rows: 2, SuchAs: []string{"3", "6"}},
			verdict.CloseRows{World: w, Table: "hero", Why: "all of where except account BETWEEN 1 AND 8", Rows: 1, SuchAs: []string{"7"}},
			verdict.CloseRows{World: w, Table: "hero", Why: where + ": it is NULL", Rows: 1, SuchAs: []string{"4"}})
	}
	want.Close = append(want.Close, verdict.CloseRows{World: "w1", Table: "hero", Why: best + ": the last rows that are copied", Rows: 1, SuchAs: []string{"6"}})
	for _, w := range []string{"w0", "w1"} {
		want.Cascades = append(want.Cascades, verdict.Cascade{World: w, Table: "hero", Key: "1", Why: where, Rows: 7,
			Follow: []verdict.CascadeRows{{Table: "pet", Rows: 3}, {Table: "vault", Rows: 3}, {Table: "guild", Rows: 1}}})
	}
	for _, w := range []string{"w0", "w1"} {
		want.Cascades = append(want.Cascades, verdict.Cascade{World: w, Table: "hero", Key: "5", Why: best, Rows: 5,
			Follow: []verdict.CascadeRows{{Table: "pet", Rows: 3}, {Table: "guild", Rows: 1}, {Table: "vault", Rows: 1}}})
	}
	if diff := cmp.Diff(want, p.Leaving.Shown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
