package transfer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/declare"
	"mergesafe/merge/verdict"
)

// A plan shows what stays and what nearly did, what follows one row through all tables and circles, and money on
// both sides, also more than 64 bits of it.
func TestLeaveShown(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := keyWorlds(t, e, 2,
			"CREATE TABLE hero (guid INTEGER NOT NULL PRIMARY KEY, level INTEGER, account INTEGER NOT NULL, guild INTEGER, gold BIGINT)",
			"INSERT INTO hero VALUES (1, 10, 1, 1, 9223372036854775807), (2, 10, 1, 1, 9223372036854775807), (3, 40, 1, NULL, NULL),"+
				" (4, NULL, 2, 2, -5), (5, 50, 3, 2, 7), (6, 60, 3, NULL, 8), (7, 10, 9, NULL, 1)",
			"CREATE TABLE guild (id INTEGER NOT NULL PRIMARY KEY, master INTEGER NOT NULL)",
			"INSERT INTO guild VALUES (1, 1), (2, 5)",
			"CREATE TABLE pet (id INTEGER NOT NULL PRIMARY KEY, owner INTEGER NOT NULL, mother INTEGER)",
			"INSERT INTO pet VALUES (1, 7, 2), (2, 1, 4), (3, 5, NULL), (4, 5, 2), (5, 6, NULL), (6, 5, 4), (7, 6, 1)", // 2 and 4 are a circle
			"CREATE TABLE vault (guild INTEGER NOT NULL, slot INTEGER NOT NULL, PRIMARY KEY (guild, slot))",
			"INSERT INTO vault VALUES (1, 1), (1, 2), (1, 3), (2, 1)")
		o := keyOptions(func(o *declare.Options, d *declare.Declarations) {
			for _, key := range []string{"hero.guid", "guild.id", "pet.id"} {
				o.Rekey.Spaces = append(o.Rekey.Spaces, declare.Space{Keys: []string{key}})
			}
			d.Plain, d.Shared = append(d.Plain, "hero.level", "hero.gold", "vault.slot"), append(d.Shared, "hero.account")
			d.References = append(d.References,
				declare.DeclaredReference{At: []string{"hero.guild"}, To: []string{"guild.id"}, Gone: declare.RowsNone},
				declare.DeclaredReference{At: []string{"vault.guild"}, To: []string{"guild.id"}, Gone: declare.RowsDrop},
				declare.DeclaredReference{At: []string{"guild.master", "pet.owner"}, To: []string{"hero.guid"}, Gone: declare.RowsDrop},
				declare.DeclaredReference{At: []string{"pet.mother"}, To: []string{"pet.id"}, Gone: declare.RowsDrop})
			o.Leave = []declare.Leave{
				{Table: "hero", Where: "level < 20 AND account BETWEEN 1 AND 8 AND guid < :now"},
				{Table: "hero", Best: &declare.Best{Of: "account", Keep: 2, By: []string{"level desc"}}}}
		})
		p := mustPlan(t, all[0], all[1:], o)
		where, best := "where "+o.Check.Leave[0].Where, o.Check.Leave[1].Best.String()
		want := &verdict.Staying{
			Tables: []verdict.StayingTable{
				{Source: "w1", Table: "hero", Stay: 5, Come: 2, Why: []verdict.StayingWhy{
					{Why: best, Rows: 3, SuchAs: []string{"3", "5", "6"}}, {Why: where, Rows: 2, SuchAs: []string{"1", "2"}}},
					Sums: []verdict.StayingSum{{Column: "gold", Stay: "18446744073709551629", Come: "-4"}}},
				{Source: "w1", Table: "guild", Stay: 2, Why: []verdict.StayingWhy{{Why: "refers by master to hero", Rows: 2, SuchAs: []string{"1", "2"}}}},
				{Source: "w1", Table: "pet", Stay: 7, Why: []verdict.StayingWhy{
					{Why: "refers by mother to pet", Rows: 1, SuchAs: []string{"1"}}, {Why: "refers by owner to hero", Rows: 6, SuchAs: []string{"2", "3", "4"}}}},
				{Source: "w1", Table: "vault", Stay: 4, Why: []verdict.StayingWhy{{Why: "refers by guild to guild", Rows: 4}}},
			},
			Close: []verdict.CloseRows{
				{Source: "w1", Table: "hero", Why: "all of where but account BETWEEN 1 AND 8", Rows: 1, SuchAs: []string{"7"}},
				{Source: "w1", Table: "hero", Why: where + ": it is NULL", Rows: 1, SuchAs: []string{"4"}},
			},
			Cascades: []verdict.Cascade{
				{Source: "w1", Table: "hero", Key: "1", Why: where, Rows: 6, Follow: []verdict.CascadeRows{{Table: "vault", Rows: 3}, {Table: "pet", Rows: 2}, {Table: "guild", Rows: 1}}},
				{Source: "w1", Table: "hero", Key: "5", Why: best, Rows: 5, Follow: []verdict.CascadeRows{{Table: "pet", Rows: 3}, {Table: "guild", Rows: 1}, {Table: "vault", Rows: 1}}},
				{Source: "w1", Table: "hero", Key: "6", Why: best, Rows: 2, Follow: []verdict.CascadeRows{{Table: "pet", Rows: 2}}},
			},
		}
		if diff := cmp.Diff(want, p.Leaving.Shown); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
