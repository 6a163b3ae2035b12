package change_test

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// The proof finds by statements of its own which rows are not among the best, and which groups became too small: a
// world in which others are now fails.
func TestLeaveGroupsProved(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, worldtest.Leavers...)
	worlds := worldtest.Clones(t, e, all)
	p, into := worldtest.PlanOf(t, e, worlds, worldtest.LeaveOptions(worldtest.BestTwo))
	if got := fmt.Sprint(p.KeysThatStay("w1", "hero").Len(), p.KeysThatStay("w1", "guild").Len()); got != "2 1" {
		t.Fatalf("stay %s, want 2 1", got)
	}
	worldtest.MustApply(t, p, into, worlds)
	worldtest.Proved(t, p, into, worlds)
	for change, want := range map[string]string{
		"UPDATE hero SET account = 8 WHERE guid = 2":             "it lists 1 too many", // no other row takes its place
		"UPDATE hero SET account = 1, level = 35 WHERE guid = 5": "the plan lacks 1",
		"UPDATE hero SET guild = NULL WHERE guid = 4":            "the plan lacks 1;",
	} {
		worldtest.Refill(t, all[1], worlds[1])
		worldtest.Exec(t, worlds[1], change)
		proof := worldtest.Verified(t, p, into, worlds)
		if got := fmt.Sprint(proof.Findings); proof.Verdict != verdict.Fail || !strings.Contains(got, want) {
			t.Errorf("%s: %s %s, want %q", change, proof.Verdict, got, want)
		}
	}
}

// The proof orders numbers with a fraction and times by itself. Of texts it takes the rows from the plan, and says so.
func TestLeaveGroupsFromPlan(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE hero (guid INTEGER NOT NULL PRIMARY KEY, account INTEGER NOT NULL, score DECIMAL(9,2) NOT NULL, seen DATETIME NOT NULL, name VARCHAR(9) NOT NULL)",
			"INSERT INTO hero VALUES (1, 1, 9.5, '2026-01-01 00:00:00', 'a'), (2, 1, 10.25, '2026-01-02 00:00:00', 'b'), (3, 1, -3.5, '2025-01-02 00:00:00', 'c')")
		for by, want := range map[string]string{"score desc": "[]", "seen desc": "[]",
			"name desc": "[hero: best 1 of account by name desc: its order is neither numeric nor by times of a single form]"} {
			opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
				o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"hero.guid"}})
				d.Plain, d.Shared = append(d.Plain, "hero.score", "hero.seen", "hero.name"), append(d.Shared, "hero.account")
				o.Leave = append(o.Leave, rules.Leave{Table: "hero", Best: &rules.Best{Of: "account", Keep: 1, By: []string{by}}})
			})
			worlds := worldtest.Clones(t, e, all)
			p, into := worldtest.MergeOf(t, e, worlds, opts)
			if proof := worldtest.Verified(t, p, into, worlds); proof.Verdict != verdict.Pass || fmt.Sprint(proof.FromPlan) != want {
				t.Errorf("%s: %s: %v %+v", by, proof.Verdict, proof.FromPlan, proof.Findings)
			}
		}
	})
}

// A row that is the same in every world comes, whatever is said: it is not judged by conditions.
func TestLeaveKept(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE hero (guid INTEGER NOT NULL PRIMARY KEY, level INTEGER)", "INSERT INTO hero VALUES (1, 5), (2, 6), (3, 50)")
	opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"hero.guid"}, Keep: "<2"})
		d.Plain = append(d.Plain, "hero.level")
		where("hero", "level < 20")(o, d)
	})
	p, into := worldtest.MergeOf(t, e, all, opts)
	worldtest.Asked(t, into, "SELECT guid, level FROM hero ORDER BY guid", "1|5", "3|50", "1003|50")
	worldtest.Proved(t, p, into, all)
}

// If all rows of a source stay behind, of which some were matched, the proof wants none of their table.
func TestLeaveAllMatched(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE account (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20))", "INSERT INTO account VALUES (1, 'ann'), (2, 'bob')")
	p, into := worldtest.PlanOf(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"account.id"}, Match: []string{"account.name"}})
		where("account", "id < 3")(o, d)
	}))
	worldtest.MustApply(t, p, into, all)
	if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass || proof.Keys[0].Matched == 0 {
		t.Errorf("%s: %+v %+v", proof.Verdict, proof.Keys, proof.Findings)
	}
}

// A group is judged once: one that becomes too small when another one is gone comes.
func TestLeaveGroupsOnce(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE guild (id INTEGER NOT NULL PRIMARY KEY, ally INTEGER)", "INSERT INTO guild VALUES (1, NULL), (2, NULL)",
		"CREATE TABLE hero (guid INTEGER NOT NULL PRIMARY KEY, guild INTEGER NOT NULL, friend INTEGER)",
		"INSERT INTO hero VALUES (1, 1, NULL), (2, 2, 1), (3, 2, NULL)") // guild 1 goes, with hero 1 and so hero 2: guild 2 has one
	p, into := worldtest.PlanOf(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"guild.id"}}, rules.Space{Keys: []string{"hero.guid"}})
		d.Plain = append(d.Plain, "guild.ally")
		d.References = append(d.References, rules.DeclaredReference{At: []string{"hero.guild"}, To: []string{"guild.id"}, Gone: rules.GoneDrop},
			rules.DeclaredReference{At: []string{"hero.friend"}, To: []string{"hero.guid"}, Gone: rules.GoneDrop})
		o.Leave = append(o.Leave, rules.Leave{Table: "guild", Fewer: &rules.Fewer{Of: "hero.guild", Than: 2}})
	}))
	worldtest.MustApply(t, p, into, all)
	worldtest.Asked(t, into, "SELECT guid, guild FROM hero ORDER BY guid", "3|2", "1003|1002")
	worldtest.Asked(t, into, "SELECT id FROM guild ORDER BY id", "2", "1002")
	worldtest.Proved(t, p, into, all)
	worldtest.MustDrop(t, p, into, all)
	worldtest.Dropped(t, into)
}

// The report counts the rows that come since their condition is NULL.
func TestLeaveNulls(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all, said := worldtest.KeyWorlds(t, e, 3, worldtest.Leavers...), ""
	opts := worldtest.LeaveOptions(where("hero", "level < 20"))
	opts.Report = func(r *verdict.Report) {
		for _, one := range r.Results {
			if one.Code == verdict.CodeRowsLeft && one.Table == "hero" {
				said += one.Message
			}
		}
	}
	worldtest.PlanOf(t, e, all, opts)
	if want := "rows that stay behind, as declared: w0: 1; w1: 1; w2: 1; rows that are copied because their condition is NULL: w0: 1; w1: 1; w2: 1"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
}

// A player who logs in between the plan and its merge ends it before the first write, with this message.
func TestLeaveLoggedIn(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, worldtest.Leavers...)
	p, into := worldtest.PlanOf(t, e, all, worldtest.LeaveOptions(where("hero", "level < 20")))
	const refused = `merge: apply refused: database "w1": table "hero": `
	for change, want := range map[string]string{
		"UPDATE hero SET account = 7 WHERE guid = 1": refused + `rows that stay behind are not the same as when the plan was made (1, and 1 then): plan again`,
		"UPDATE hero SET level = 21 WHERE guid = 1":  refused + `rows that stay behind are not the same as when the plan was made (1, and 1 then): plan again; database "w1": table "hero": the condition "level < 20" selects different rows than when the plan was made: plan again`,
	} {
		worlds := worldtest.Clones(t, e, all)
		worldtest.Exec(t, worlds[1], change)
		unwritten := worldtest.Watched(t, into, worlds)
		if _, err := build.Apply(t.Context(), p, into, worlds, job.Options{}); fmt.Sprint(err) != want {
			t.Errorf("%s: %v, want %s", change, err, want)
		}
		unwritten(change)
	}
}

// Rows that are told by IDs of this project stay behind as others do, with what refers to them.
func TestLeaveIDs(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "w0", 10, 12, "a"), worldtest.GameWorld(t, e, "w1", 20, 12, "b")}
	var d rules.Declarations
	for at, to := range map[string]string{"items.owner_id": "players.id", "guild_members.player_id": "players.id", "guilds.leader_id": "players.id", "guild_members.guild_id": "guilds.id"} {
		d.References = append(d.References, rules.DeclaredReference{At: []string{at}, To: []string{to}, Gone: rules.GoneDrop})
	}
	opts := planner.PlanOptions{Check: rules.Options{Rules: []rules.Declarations{d}, Leave: []rules.Leave{{Table: "players", Where: "gold % 3 = 0"}}}}
	p, into := worldtest.MergeOf(t, e, all, opts)
	const stay = 8
	for query, want := range map[string]int64{"SELECT COUNT(*) FROM players": 24 - stay, "SELECT COUNT(*) FROM items": 3 * (24 - stay),
		"SELECT COUNT(*) FROM items WHERE owner_id NOT IN (SELECT id FROM players)": 0} {
		if got := worldtest.Number(t, into, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	worldtest.Proved(t, p, into, all)
	worldtest.MustDrop(t, p, into, all)
	worldtest.Dropped(t, into)
	if got := worldtest.Number(t, all[0], "SELECT COUNT(*) FROM items") + worldtest.Number(t, all[1], "SELECT COUNT(*) FROM items"); got != 72 {
		t.Errorf("the undo left %d items in the worlds", got)
	}
}
