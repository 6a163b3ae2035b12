package merge

import "testing"

// guildOf is the reference of a player to a guild.
var guildOf = reference{Reference: Reference{Columns: []string{"guild"}, ToTable: "guilds", ToColumns: []string{"id"}}}

func TestReferences(t *testing.T) {
	a, b := described("a", Catalog{}), described("b", Catalog{})
	a.rows["players"], b.rows["players"] = 100, 10
	read := &strayReading{sources: []strayRows{
		{db: a, dangling: 7, rebound: repeats{values: 2, rows: []int64{3, 2}}},
		{db: b, reboundGaps: []Gap{{"b", "column guild is TEXT, and INT in a: the values cannot be compared"}}},
	}}
	dangling, rebound := judgeDangling(new(facts), "players", guildOf, read), judgeRebound("players", guildOf, read)
	expect(t, found(dangling, rebound).findings, map[string]int64{
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
