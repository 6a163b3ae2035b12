package references

import (
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/check/rule/ruletest"
	"mergesafe/merge/declare"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// guildOf is the reference of a player to a guild.
var guildOf = declare.Ref{Reference: catalog.Reference{Columns: []string{"guild"}, ToTable: "guilds", ToColumns: []string{"id"}}}

func TestReferences(t *testing.T) {
	a, b := ruletest.Described("a", catalog.Catalog{}), ruletest.Described("b", catalog.Catalog{})
	a.Rows["players"], b.Rows["players"] = 100, 10
	got := &read.StrayReading{Worlds: []read.StrayRows{
		{DB: a, Dangling: 7, Rebound: stream.Repeats{Values: 2, Rows: []int64{3, 2}}},
		{DB: b, ReboundGaps: []verdict.Gap{{World: "b", Reason: "column guild is TEXT, and INT in a: the values cannot be compared"}}},
	}}
	dangling, rebound := judgeDangling(new(read.Facts), "players", guildOf, got), judgeRebound("players", guildOf, got)
	ruletest.Expect(t, rule.Found(dangling, rebound).Findings, map[string]int64{
		"reference-dangling players guild → guilds.id": 7,
		"reference-rebind players guild → guilds.id":   3,
	})
	if dangling.Read != 110 || len(dangling.Gaps) != 0 || len(dangling.Next) != 1 {
		t.Errorf("dangling: %+v", dangling)
	}
	if rebound.Read != 110 || rebound.Rows != 5 || len(rebound.Gaps) != 1 {
		t.Errorf("rebound: %+v", rebound)
	}
}
