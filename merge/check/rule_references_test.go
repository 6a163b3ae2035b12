package check

import (
	"testing"

	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// guildOf is the reference of a player to a guild.
var guildOf = rules.Ref{Table: "players", Reference: catalog.Reference{Columns: []string{"guild"}, ToTable: "guilds", ToColumns: []string{"id"}}}

func TestReferences(t *testing.T) {
	a, b := describedAs("a", catalog.Catalog{}), describedAs("b", catalog.Catalog{})
	a.Rows["players"], b.Rows["players"] = 100, 10
	got := &strayReading{Worlds: []strayRows{
		{DB: a, Dangling: 7, Rebound: stream.Repeats{Values: 2, Rows: []int64{3, 2}}},
		{DB: b, ReboundGaps: []verdict.Gap{{World: "b", Reason: "column guild is TEXT, and INT in a: the values cannot be compared"}}},
	}}
	dangling, rebound := judgeDangling(new(Facts), guildOf, got), judgeRebound(guildOf, got)
	expect(t, Found(dangling, rebound).Findings, map[string]int64{
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
