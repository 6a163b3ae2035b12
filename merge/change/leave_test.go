package change_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

func where(table, condition string) func(o *rules.Options, d *rules.Declarations) {
	return func(o *rules.Options, _ *rules.Declarations) {
		o.Leave = append(o.Leave, rules.Leave{Table: table, Where: condition})
	}
}

// Rows for which a condition holds stay behind, and what refers to them follows or is cleared, as its reference says.
func TestLeave(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.KeyWorlds(t, e, 3, worldtest.Leavers...)
		p, into := worldtest.MergeOf(t, e, all, worldtest.LeaveOptions(where("hero", "level < 20")))
		worldtest.Asked(t, into, "SELECT guid, level, guild, tag FROM hero WHERE guid < 2000 ORDER BY guid", "2|30|<nil>|w0 h2", "3|40|<nil>|w0 h3", "4|<nil>|2|w0 h4", "5|50|2|w0 h5",
			"1002|30|<nil>|w1 h2", "1003|40|<nil>|w1 h3", "1004|<nil>|1002|w1 h4", "1005|50|1002|w1 h5")
		worldtest.Asked(t, into, "SELECT id, master, tag FROM guild ORDER BY id", "2|5|w0 g2", "1002|1005|w1 g2", "2002|2005|w2 g2")
		worldtest.Asked(t, into, "SELECT id, owner, tag FROM pet ORDER BY id", "2|2|w0 p2", "1002|1002|w1 p2", "2002|2002|w2 p2")
		worldtest.Asked(t, into, "SELECT guid, spell FROM spell ORDER BY guid", "2|7", "5|9", "1002|7", "1005|9", "2002|7", "2005|9")
		worldtest.Proved(t, p, into, all)
		worldtest.MustDrop(t, p, into, all)
		worldtest.Dropped(t, into)
		worldtest.Asked(t, all[0], "SELECT COUNT(*) FROM hero", "5")
	})
}

// Rows of tables that are in no snapshot stay behind in the same way. What changes after the plan is noticed.
func TestLeaveWithoutSnapshot(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		e := worldtest.Engines()[1]
		all := worldtest.KeyWorlds(t, e, 2, worldtest.Leavers...)
		for _, d := range all {
			worldtest.Exec(t, d, "ALTER TABLE hero ENGINE=MyISAM", "ALTER TABLE spell ENGINE=MEMORY")
		}
		opts := worldtest.LeaveOptions(func(o *rules.Options, d *rules.Declarations) {
			o.Engine = rules.InnoDB
			where("hero", "level < 20")(o, d)
		})
		before := []string{worldtest.Dump(t, all[0]), worldtest.Dump(t, all[1])}
		p, into := worldtest.MergeOf(t, e, all, opts)
		worldtest.Asked(t, into, "SELECT guid FROM hero ORDER BY guid", "2", "3", "4", "5", "1002", "1003", "1004", "1005")
		worldtest.Asked(t, into, "SELECT guid, spell FROM spell ORDER BY guid", "2|7", "5|9", "1002|7", "1005|9")
		worldtest.Proved(t, p, into, all)
		for _, change := range []string{"UPDATE hero SET account = 7 WHERE guid = 1", "UPDATE hero SET level = 19 WHERE guid = 5", "INSERT INTO spell VALUES (1, 99)"} {
			worlds := worldtest.Clones(t, e, all)
			worldtest.Exec(t, worlds[0], change)
			if _, err := build.Apply(t.Context(), p, e.Fresh(t, "new"), worlds, job.Options{}); err == nil || !strings.Contains(err.Error(), "plan again") {
				t.Errorf("%s: %v", change, err)
			}
		}
		worldtest.Exec(t, all[0], "UPDATE hero SET level = 19 WHERE guid = 5")
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Fail {
			t.Errorf("%+v", proof)
		}
		worldtest.Exec(t, all[0], "UPDATE hero SET level = 50 WHERE guid = 5")
		worldtest.MustDrop(t, p, into, all)
		if !slices.Equal(before, []string{worldtest.Dump(t, all[0]), worldtest.Dump(t, all[1])}) {
			t.Error("a world was changed")
		}
	})
}

// A merge of which rows stay behind can be interrupted at any moment, resumed and undone.
func TestLeaveInterrupted(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.KeyWorlds(t, e, 2, worldtest.Leavers...)
		p, _ := worldtest.PlanOf(t, e, all, worldtest.LeaveOptions(where("hero", "level < 20")))
		worldtest.InterruptedAnywhere(t, e, p, all, map[bool]int{true: 45, false: 190}[e.Name == "sqlite"])
	})
}

// A world that changed after the plan is noticed before the first write: a row that stays, a row that would stay now,
// and a condition that flips by a row of another table. So it is by the proof.
func TestLeaveChanged(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.KeyWorlds(t, e, 2, append(worldtest.Leavers, "CREATE TABLE vip (who INTEGER NOT NULL PRIMARY KEY)", "INSERT INTO vip VALUES (3)")...)
		p, made := worldtest.PlanOf(t, e, all, worldtest.LeaveOptions(func(o *rules.Options, d *rules.Declarations) {
			where("hero", "level < 50 AND guid NOT IN (SELECT who FROM vip)")(o, d)
			o.Tables = append(o.Tables, rules.TablePolicy{Tables: []string{"vip"}, Policy: rules.PolicySkip})
			d.Plain = append(d.Plain, "vip.who")
		}))
		merged := worldtest.Clones(t, e, all)
		worldtest.MustApply(t, p, made, merged)
		for change, want := range map[string]string{
			"UPDATE hero SET account = 7 WHERE guid = 1": "rows that stay behind are not the same", // who logged in
			"UPDATE hero SET level = 49 WHERE guid = 5":  "selects different rows",                 // who came
			"INSERT INTO vip VALUES (1)":                 "selects different rows",                 // of a table that is not read
			"UPDATE spell SET spell = 3 WHERE spell = 8": "rows that stay behind are not the same", // of what follows
			"INSERT INTO pet VALUES (9, 1, 'new')":       "1 row would be copied, but none when",
			"INSERT INTO spell VALUES (1, 99)":           "rows that stay behind are not the same",
			"DELETE FROM guild WHERE id = 1":             "rows that stay behind are not the same",
		} {
			worlds, into := worldtest.Clones(t, e, all), e.Fresh(t, "new")
			worldtest.Exec(t, worlds[1], change)
			unwritten := worldtest.Watched(t, into, worlds)
			if _, err := build.Apply(t.Context(), p, into, worlds, job.Options{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "plan again") {
				t.Errorf("%s: %v, want %q", change, err, want)
			}
			unwritten(change)
		}
		worldtest.Proved(t, p, made, merged)
		for change, want := range map[string]string{
			"INSERT INTO pet VALUES (9, 1, 'new')":      "the plan lacks 1",
			"INSERT INTO spell VALUES (1, 99)":          "4 rows stayed behind, but the plan lists 3",
			"UPDATE hero SET level = 49 WHERE guid = 5": "the plan lacks 1",
			"DELETE FROM vip":                           "the plan lacks 1",
			"INSERT INTO vip VALUES (1)":                "lists 1 too many",
			"UPDATE guild SET master = 5 WHERE id = 1":  "lists 1 too many",
		} {
			worldtest.Refill(t, all[1], merged[1])
			worldtest.Exec(t, merged[1], change)
			if proof := worldtest.Verified(t, p, made, merged); proof.Verdict != verdict.Fail || !strings.Contains(fmt.Sprint(proof.Findings), want) {
				t.Errorf("%s: %s %v, want %q", change, proof.Verdict, proof.Findings, want)
			}
		}
		worldtest.Refill(t, all[1], merged[1])
		worldtest.Exec(t, made, "UPDATE spell SET guid = 1001 WHERE guid = 5") // of the first world, to a key that came to nobody
		if proof := worldtest.Verified(t, p, made, merged); !strings.Contains(fmt.Sprint(proof.Findings), "references by guid to rows of hero of w1 that stayed behind: 1") {
			t.Errorf("%s %v", proof.Verdict, proof.Findings)
		}
	})
}

// A reference that says nothing blocks the plan if a row that comes refers to one that stays, and the plan shows the
// line to write and to which rows most refer. Without such a row it does not.
func TestLeaveSilent(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, worldtest.Leavers...)
	silent := func(o *rules.Options, d *rules.Declarations) {
		d.References[2].At = []string{"guild.master", "spell.guid"}
		d.References = append(d.References, rules.DeclaredReference{At: []string{"pet.owner"}, To: []string{"hero.guid"}})
	}
	both := func(condition string) planner.PlanOptions {
		return worldtest.LeaveOptions(func(o *rules.Options, d *rules.Declarations) { silent(o, d); where("hero", condition)(o, d) })
	}
	worldtest.Refuses(t, e.Fresh(t, "new"), all, both("level < 20"), "rows refer to rows of hero that stay behind, and no rule says what happens to them: w0: 2; w1: 2; most refer to guid 1 of w0: 2 rows, guid 1 of w1: 2 rows")
	worldtest.PlanOf(t, e, all, both("level = 40"))
}

// If no row meets the condition, all rows come.
func TestLeaveNoRow(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, worldtest.Leavers...)
	p, into := worldtest.PlanOf(t, e, all, worldtest.LeaveOptions(where("hero", "level > 1000")))
	worldtest.MustApply(t, p, into, all)
	worldtest.Proved(t, p, into, all)
	worldtest.Asked(t, into, "SELECT COUNT(*) FROM hero", "10")
}

// What a plan cannot follow or carry out is refused by name.
func TestLeaveRefused(t *testing.T) {
	e := worldtest.Engines()[0]
	all := worldtest.KeyWorlds(t, e, 2, append(worldtest.Leavers, "CREATE TABLE bag (id INTEGER NOT NULL PRIMARY KEY, heroes VARCHAR(20), name VARCHAR(20))", "CREATE TABLE log (hero INTEGER, n INTEGER)", "INSERT INTO log VALUES (1, 1)")...)
	inCells := func(gone rules.Gone, at, format string, none ...string) func(o *rules.Options, d *rules.Declarations) {
		return func(_ *rules.Options, d *rules.Declarations) {
			d.Plain = slices.DeleteFunc(d.Plain, func(s string) bool { return s == at })
			d.References = append(d.References, rules.DeclaredReference{At: []string{at}, To: []string{"hero.guid"}, Format: format, None: none, Gone: gone})
		}
	}
	more := func(f func(o *rules.Options, d *rules.Declarations)) planner.PlanOptions {
		return worldtest.LeaveOptions(func(o *rules.Options, d *rules.Declarations) {
			where("hero", "level < 20")(o, d)
			o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"bag.id"}})
			d.Plain = append(d.Plain, "bag.name", "log.n", "log.hero", "bag.heroes")
			f(o, d)
		})
	}
	for want, f := range map[string]func(o *rules.Options, d *rules.Declarations){
		"log does not have a key in every world, so the rows that stay": where("log", "n = 7"),
		"no world has a table \"heros\"":                                where("heros", "1 = 1"),
		"leave hero in rules.toml:7: where: \"lvl\" is not a column": func(o *rules.Options, _ *rules.Declarations) {
			o.Leave = []rules.Leave{{Table: "hero", Where: "lvl < 3", File: "rules.toml", Line: 7}}
		},
		"leave hero in rules.toml:7: where: w0 says: ": func(o *rules.Options, _ *rules.Declarations) {
			o.Leave = []rules.Leave{{Table: "hero", Where: "level < < 3", File: "rules.toml", Line: 7}}
		},
		"would differ with new values": func(o *rules.Options, d *rules.Declarations) {
			where("bag", "id = 1")(o, d)
			o.Tables = append(o.Tables, rules.TablePolicy{Tables: []string{"bag"}, Policy: rules.PolicySame})
		},
		"the rows of its tables stay behind": func(o *rules.Options, d *rules.Declarations) {
			where("bag", "id = 1")(o, d)
			o.Tables = append(o.Tables, rules.TablePolicy{Tables: []string{"bag"}, Policy: rules.PolicyReset})
		},
		"declared to refer to guild": func(o *rules.Options, _ *rules.Declarations) {
			o.Leave = append(o.Leave, rules.Leave{Table: "guild", Fewer: &rules.Fewer{Of: "pet.owner", Than: 2}})
		},
		"whether a value of hero.tag means the same in all worlds": func(o *rules.Options, _ *rules.Declarations) {
			o.Leave = append(o.Leave, rules.Leave{Table: "hero", Best: &rules.Best{Of: "tag", Keep: 2, By: []string{"level"}}})
		},
		"so it is unclear which one to clear": func(o *rules.Options, d *rules.Declarations) {
			where("spell", "spell = 7")(o, d)
			d.References = append(d.References, rules.DeclaredReference{Table: "log", Columns: []string{"hero", "n"}, ToTable: "spell", ToColumns: []string{"guid", "spell"}, Gone: rules.GoneNone})
			d.Plain = slices.DeleteFunc(d.Plain, func(s string) bool { return strings.HasPrefix(s, "log.") })
		},
		"spell does not identify rows of spell ((guid, spell) does)": func(o *rules.Options, d *rules.Declarations) {
			where("spell", "spell = 7")(o, d)
			d.Plain = slices.DeleteFunc(d.Plain, func(s string) bool { return s == "log.n" })
			d.References = append(d.References, rules.DeclaredReference{At: []string{"log.n"}, To: []string{"spell.spell"}})
		},
		`gone = "none", and the keys are inside cells: none of these are followed`: inCells(rules.GoneNone, "bag.heroes", "list sep=' ' every", "0"),
		`gone = "drop", and the keys are inside cells: none of these are followed`: inCells(rules.GoneDrop, "log.hero", "bits 0..31", "0"),
		"no value of the keys inside its cells means no row: declare one":          inCells(rules.GoneNone, "log.hero", "bits 0..31"),
		"new value 70000: does not fit into the bits 0..15":                        inCells(rules.GoneNone, "log.hero", "bits 0..15", "70000"),
		"the column allows no NULL, and none of its values means no row":           func(o *rules.Options, d *rules.Declarations) { d.References[2].Gone = rules.GoneNone },
	} {
		_, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, more(f))
		if err == nil || !strings.Contains(ofEither(err), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, reasons := range []struct {
		f    func(o *rules.Options, d *rules.Declarations)
		want []string
	}{
		{func(o *rules.Options, d *rules.Declarations) {
			where("heros", "1 = 1")(o, d)
			where("hero", "lvl < 3")(o, d)
		}, []string{"no world has a table \"heros\"", "\"lvl\" is not a column"}},
		{func(o *rules.Options, d *rules.Declarations) {
			d.References[2].Gone = rules.GoneNone
			o.Leave = append(o.Leave, rules.Leave{Table: "guild", Fewer: &rules.Fewer{Of: "hero.account", Than: 2}})
		}, []string{"guild.master → hero.guid: rows of hero stay behind: the column allows no NULL", "pet.owner → hero.guid: rows of hero stay behind", "spell.guid → hero.guid: rows of hero stay behind", "leave guild: fewer: "}},
	} {
		_, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, more(reasons.f))
		for _, want := range reasons.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want all of %q", err, reasons.want)
			}
		}
	}
}

// Texts name a row letter by letter: a reference that only the collation takes for the same refuses the plan, which says
// where. Of a table whose key of several columns nothing names, the unique column tells the rows.
func TestLeaveTexts(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		collate := map[bool]string{true: " COLLATE NOCASE", false: ""}[e.Name == "sqlite"]
		all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE clan (name VARCHAR(20)"+collate+" NOT NULL PRIMARY KEY, level INTEGER NOT NULL)", "INSERT INTO clan VALUES ('red w%d', 1), ('Blue w%d', 2)",
			"CREATE TABLE fort (clan VARCHAR(20)"+collate+" NOT NULL, n INTEGER NOT NULL, id INTEGER NOT NULL UNIQUE, PRIMARY KEY (clan, n))", "INSERT INTO fort VALUES ('red w%d', 1, 5), ('Blue w%d', 1, 6)",
			"CREATE TABLE wall (id INTEGER NOT NULL PRIMARY KEY, fort INTEGER NOT NULL)", "INSERT INTO wall VALUES (1, 5), (2, 6)")
		opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
			where("clan", "level = 1")(o, d)
			o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"fort.id"}}, rules.Space{Keys: []string{"wall.id"}})
			d.Plain = append(d.Plain, "clan.*", "fort.n")
			d.References = append(d.References, rules.DeclaredReference{At: []string{"fort.clan"}, To: []string{"clan.name"}, Gone: rules.GoneDrop},
				rules.DeclaredReference{At: []string{"wall.fort"}, To: []string{"fort.id"}, Gone: rules.GoneDrop})
		})
		worlds := worldtest.Clones(t, e, all)
		p, into := worldtest.MergeOf(t, e, worlds, opts)
		worldtest.Asked(t, into, "SELECT fort.clan, wall.id FROM wall JOIN fort ON fort.id = wall.fort ORDER BY wall.id", "Blue w0|2", "Blue w1|1002")
		worldtest.Proved(t, p, into, worlds)
		for key, want := range map[[2]string]string{{"clan", "red w1"}: "where level = 1", {"clan", "Blue w1"}: "Blue w1", {"clan", "1"}: "1",
			{"fort", "5"}: "refers by clan to clan", {"fort", "6"}: "", {"wall", "1"}: "refers by fort to fort"} {
			if got, err := record.ByPlan(t.Context(), into, "w1", key[0], key[1], nil); err != nil || (got == nil) != (want == "") || got != nil && got[0].Stays+got[0].New != want {
				t.Errorf("%q: %+v, %v, want %s", key, got, err, want)
			}
		}
		worldtest.Exec(t, all[1], "UPDATE fort SET clan = 'RED w1' WHERE id = 5")
		const want = "fort.clan of w1: 1 row refers by texts that differ in case, accents or spaces from those that they refer to"
		worldtest.NoPlan(t, e.Fresh(t, "new"), all, opts, want)
	})
}

// References may name another key than the one by which the rows of their table are told: rows follow by it, or block.
func TestLeaveOtherKey(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE clan (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, level INTEGER NOT NULL, realm INTEGER NOT NULL, slot INTEGER NOT NULL, UNIQUE (slot, realm))", "INSERT INTO clan VALUES (1, 'red w%d', 1, %d, 7), (2, 'Blue w%d', 2, %d, 8)",
		"CREATE TABLE tower (id INTEGER NOT NULL PRIMARY KEY, realm INTEGER, slot INTEGER)", "INSERT INTO tower VALUES (1, %d, 7), (2, %d, 8), (3, %d, NULL), (4, 9, 7)",
		"CREATE TABLE fort (clan VARCHAR(20) NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (clan, n))", "INSERT INTO fort VALUES ('red w%d', 1), ('Blue w%d', 1), ('', 7)",
		"CREATE TABLE guard (id INTEGER NOT NULL PRIMARY KEY, clan INTEGER NOT NULL)", "INSERT INTO guard VALUES (1, 1), (2, 2), (3, 2)")
	options := func(gone rules.Gone, more func(o *rules.Options, d *rules.Declarations)) planner.PlanOptions {
		return worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
			where("clan", "level = 1")(o, d)
			o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"clan.id"}}, rules.Space{Keys: []string{"guard.id"}}, rules.Space{Keys: []string{"tower.id"}})
			d.Plain = append(d.Plain, "clan.*", "fort.n")
			d.References = append(d.References, rules.DeclaredReference{Table: "tower", Columns: []string{"realm", "slot"}, ToTable: "clan", ToColumns: []string{"realm", "slot"}, Gone: rules.GoneDrop})
			o.Allow = []string{verdict.CodeReferenceDangle}
			d.References = append(d.References, rules.DeclaredReference{At: []string{"fort.clan"}, To: []string{"clan.name"}, None: []string{""}, Gone: gone},
				rules.DeclaredReference{At: []string{"guard.clan"}, To: []string{"clan.id"}, Gone: rules.GoneDrop})
			more(o, d)
		})
	}
	worldtest.Exec(t, all[1], "DELETE FROM fort WHERE n = 7")
	none := func(*rules.Options, *rules.Declarations) {}
	worlds := worldtest.Clones(t, e, all)
	p, into := worldtest.MergeOf(t, e, worlds, options(rules.GoneDrop, none))
	worldtest.Asked(t, into, "SELECT clan FROM fort ORDER BY clan = '', clan", "Blue w0", "Blue w1", "")
	worldtest.Asked(t, into, "SELECT COUNT(*) FROM guard", "4")
	worldtest.Asked(t, into, "SELECT id FROM tower ORDER BY id", "2", "3", "4", "1002", "1003", "1004")
	worldtest.Proved(t, p, into, worlds)
	skipped := options("", func(o *rules.Options, _ *rules.Declarations) {
		o.Tables = append(o.Tables, rules.TablePolicy{Tables: []string{"fort"}, Policy: rules.PolicySkip})
	})
	for want, opts := range map[string]planner.PlanOptions{
		"no rule says what happens to them: w0: 1; w1: 1; most refer to name red w0 of w0: 1 row, name red w1 of w1: 1 row": options("", none),
		"the first world's rows of fort are copied (policy skip) and refer to rows of clan that stay behind: w0: 1":         skipped,
	} {
		worldtest.Refuses(t, e.Fresh(t, "new"), all, opts, want)
	}
	for want, opts := range map[string]planner.PlanOptions{
		"id identifies the rows, and gone = \"none\" is only for references to that key": options(rules.GoneNone, none),
		"of = \"fort.clan\" refers to a key of clan other than the one that identifies its rows (id)": options(rules.GoneDrop, func(o *rules.Options, _ *rules.Declarations) {
			o.Leave = append(o.Leave, rules.Leave{Table: "clan", Fewer: &rules.Fewer{Of: "fort.clan", Than: 2}})
		}),
	} {
		worldtest.NoPlan(t, e.Fresh(t, "new"), all, opts, want)
	}
}

// A reference inside cells blocks if a row that comes names a row that stays, and says so; otherwise its rows come.
func TestLeaveInCells(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, append(worldtest.Leavers, "CREATE TABLE bag (id INTEGER NOT NULL PRIMARY KEY, owner INTEGER NOT NULL, kind INTEGER NOT NULL, heroes VARCHAR(20))",
		"INSERT INTO bag VALUES (1, 1, 1, '1'), (2, 2, 1, '2 3'), (3, 2, 0, '1')")...)
	options := worldtest.LeaveOptions(func(o *rules.Options, d *rules.Declarations) {
		where("hero", "level < 20")(o, d)
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"bag.id"}})
		d.Plain = append(d.Plain, "bag.kind")
		d.References = append(d.References, rules.DeclaredReference{At: []string{"bag.owner"}, To: []string{"hero.guid"}, Gone: rules.GoneDrop},
			rules.DeclaredReference{At: []string{"bag.heroes"}, To: []string{"hero.guid"}, Format: "list sep=' ' every", When: &rules.When{Column: "kind", Is: []string{"1"}}, Others: rules.OthersPlain})
	})
	worlds := worldtest.Clones(t, e, all)
	p, into := worldtest.MergeOf(t, e, worlds, options)
	worldtest.Asked(t, into, "SELECT id, heroes FROM bag ORDER BY id", "2|2 3", "3|1", "1002|1002 1003", "1003|1")
	worldtest.Proved(t, p, into, worlds)
	worldtest.Exec(t, all[1], "INSERT INTO bag VALUES (4, 5, 1, '3 1'), (5, 1, 1, '1')")
	worldtest.Refuses(t, e.Fresh(t, "new"), all, options, "rows refer inside cells to rows of hero that stay behind: w1: 1; most refer to guid 1 of w1: 1 row")
}

// Keys in words and in bits that name a row that stays are cleared, and other bits and other rows stay. Without it the
// plan is refused, and says how. A cell that still names such a row is what the proof finds, by SQL.
func TestLeaveClearsCells(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.KeyWorlds(t, e, 2, append(worldtest.Leavers,
			"CREATE TABLE gear (id INTEGER NOT NULL PRIMARY KEY, kind INTEGER NOT NULL, card1 INTEGER NOT NULL, card2 INTEGER NOT NULL, made BIGINT NOT NULL)",
			"INSERT INTO gear VALUES (1, 254, 1, 0, 4294967303), (2, 254, 2, 0, 8589934599), (3, 7, 1, 0, 0), (4, 254, 0, 0, 9), (5, 254, 1, 1, 4294967296), (6, 254, 1, 0, 12884901890)")...)
		options := func(gone rules.Gone) planner.PlanOptions {
			return worldtest.LeaveOptions(func(o *rules.Options, d *rules.Declarations) {
				where("hero", "level < 20")(o, d)
				o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"gear.id"}})
				d.Plain = append(d.Plain, "gear.kind")
				d.References = append(d.References,
					rules.DeclaredReference{At: []string{"gear.card1"}, To: []string{"hero.guid"}, Format: "words [card1, card2]", None: []string{"0"}, Gone: gone,
						When: &rules.When{Column: "kind", Is: []string{"254"}}, Others: rules.OthersPlain},
					rules.DeclaredReference{At: []string{"gear.made"}, To: []string{"hero.guid"}, Format: "bits 32..63", None: []string{"0"}, Gone: gone})
			})
		}
		silent, said := options(""), ""
		silent.Report = func(r *verdict.Report) { said = fmt.Sprint(r.Results) }
		if p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, silent); err != nil || len(p.Refusals) != 2 {
			t.Fatalf("%+v, %v", p, err)
		}
		for _, want := range []string{"in the [[check.reference]] of gear.card1, whose none replaces them",
			"rows refer inside cells to rows of hero that stay behind: w0: 2; w1: 2; most refer to guid 1 of w0: 2 rows"} {
			if !strings.Contains(said, want) {
				t.Errorf("no %q in %s", want, said)
			}
		}
		worldtest.MergedAndBack(t, e, all, options(rules.GoneNone))
		p, into := worldtest.MergeOf(t, e, all, options(rules.GoneNone))
		if len(p.Severed) != 3 || fmt.Sprint(p.Severed[1].Counts, p.Severed[2].Counts) != "[2 2] [2 2]" {
			t.Errorf("%+v", p.Severed)
		}
		const query = "SELECT id, kind, card1, card2, made FROM gear ORDER BY id"
		want := []string{"1|254|0|0|7", "2|254|2|0|8589934599", "3|7|1|0|0", "4|254|0|0|9", "5|254|1|1|0", "6|254|0|0|12884901890",
			"100001|254|0|0|7", "100002|254|34466|1|429505319534599", "100003|7|1|0|0", "100004|254|0|0|9", "100005|254|34465|2|0", "100006|254|0|0|429509614501890"}
		worldtest.Asked(t, into, query, want...)
		for what, there := range map[string]string{
			"card1 = 1 WHERE id = 1":                     "references by card1 to rows of hero of w0 that stayed behind: 1",
			"card1 = 34465, card2 = 1 WHERE id = 100006": "references by card1 to rows of hero of w1 that stayed behind: 1",
			"made = 429501024567303 WHERE id = 100001":   "references by made to rows of hero of w1 that stayed behind: 1",
		} {
			worldtest.Exec(t, into, "UPDATE gear SET "+what)
			if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Fail || len(proof.Findings) != 1 || proof.Findings[0].Reason != there {
				t.Errorf("%s: %s: %+v", what, proof.Verdict, proof.Findings)
			}
			worldtest.Exec(t, into, "UPDATE gear SET card1 = 0, card2 = 0 WHERE id IN (1, 100006)", "UPDATE gear SET made = 7 WHERE id = 100001")
		}
		worldtest.Proved(t, p, into, all)
		worldtest.Opened(t, p, into, all)
		worldtest.Asked(t, into, query, want...)
		worldtest.MustDrop(t, p, into, all)
	})
}

// Keys that are disjoint already stay as they are. A column that nobody declared is open if a value of it would name
// a row that stays behind; and a row that is only there since its row is gone is no reason.
func TestLeaveUndeclared(t *testing.T) {
	e := worldtest.OnSQLite(t)
	var all []world.Database
	for w := range 2 {
		d := e.Fresh(t, fmt.Sprint("w", w))
		worldtest.Exec(t, d, "CREATE TABLE hero (guid INTEGER NOT NULL PRIMARY KEY, level INTEGER NOT NULL)", "CREATE TABLE note (id INTEGER NOT NULL PRIMARY KEY, about INTEGER)",
			fmt.Sprintf("INSERT INTO hero VALUES (%d1, 10), (%[1]d2, 20), (%[1]d3, 30)", w+1), fmt.Sprintf("INSERT INTO note VALUES (9%d1, %[1]d2), (9%[1]d2, 3)", w+1))
		all = append(all, d)
	}
	for condition, want := range map[string]string{"level < 15": "", "level = 20": "reference-undeclared"} {
		o := planner.PlanOptions{Check: rules.Options{Leave: []rules.Leave{{Table: "hero", Where: condition}}, Rules: []rules.Declarations{{Plain: []string{"hero.level"}}}}}
		p := worldtest.Planned(t, e.Fresh(t, "new"), all, o)
		codes := ""
		for _, r := range p.Refusals {
			codes += r.Code
		}
		if codes != want {
			t.Errorf("%s: %v, want %q", condition, p.Refusals, want)
		}
	}
}

// Rows of the first world in a table that is skipped come as they are: if one names a row that stays, the plan says so,
// unless the column is said to name nothing.
func TestLeaveFirstWorldSkipped(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, append(worldtest.Leavers, "CREATE TABLE log (id INTEGER NOT NULL PRIMARY KEY, hero INTEGER NOT NULL)", "INSERT INTO log VALUES (1, 1), (2, 2), (3, 0)")...)
	for _, plain := range []bool{false, true} {
		opts := worldtest.LeaveOptions(func(o *rules.Options, d *rules.Declarations) {
			where("hero", "level < 20")(o, d)
			o.Tables = append(o.Tables, rules.TablePolicy{Tables: []string{"log"}, Policy: rules.PolicySkip})
			if d.Plain = append(d.Plain, "log.hero"); !plain {
				d.Plain = d.Plain[:len(d.Plain)-1]
				d.References = append(d.References, rules.DeclaredReference{At: []string{"log.hero"}, To: []string{"hero.guid"}, None: []string{"0"}})
			}
		})
		p := worldtest.Planned(t, e.Fresh(t, "new"), all, opts)
		want := "the first world's rows of log are copied (policy skip) and refer to rows of hero that stay behind: w0: 1"
		if got := fmt.Sprint(p.Refusals); strings.Contains(got, want) == plain || len(p.Refusals) > 0 == plain {
			t.Errorf("plain %v: %s", plain, got)
		}
	}
}

// gone of a reference says too what becomes of rows that refer to a table which is skipped.
func TestGoneOfSkipped(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE auction (id INTEGER NOT NULL PRIMARY KEY)", "INSERT INTO auction VALUES (1)",
		"CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, auction INTEGER, other INTEGER)", "INSERT INTO mail VALUES (1, 1, NULL), (2, NULL, 1), (3, NULL, NULL)")
	p, into := worldtest.PlanOf(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Tables = append(o.Tables, rules.TablePolicy{Tables: []string{"auction"}, Policy: rules.PolicySkip})
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"mail.id"}})
		d.References = append(d.References, rules.DeclaredReference{At: []string{"mail.auction"}, To: []string{"auction.id"}, Gone: rules.GoneDrop},
			rules.DeclaredReference{At: []string{"mail.other"}, To: []string{"auction.id"}, Gone: rules.GoneNone})
	}))
	worldtest.MustApply(t, p, into, all)
	worldtest.Asked(t, into, "SELECT id, auction, other FROM mail ORDER BY id", "1|1|<nil>", "2|<nil>|1", "3|<nil>|<nil>", "1002|<nil>|<nil>", "1003|<nil>|<nil>")
	worldtest.Proved(t, p, into, all)
}

// A foreign key to a row that stays behind does not lead to a row that was never there.
func TestLeaveWithForeignKey(t *testing.T) {
	e := worldtest.Engines()[0]
	all := worldtest.KeyWorlds(t, e, 2, append(worldtest.Leavers, "CREATE TABLE bag (id INTEGER NOT NULL PRIMARY KEY, hero INTEGER NOT NULL REFERENCES hero (guid))", "INSERT INTO bag VALUES (1, 1), (2, 2)")...)
	p := worldtest.Planned(t, e.Fresh(t, "new"), all, worldtest.LeaveOptions(func(o *rules.Options, d *rules.Declarations) {
		where("hero", "level < 20")(o, d)
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"bag.id"}})
	}))
	const want = "2 rows reference a row that does not exist or stays behind: w0: 1; w1: 1"
	if reasons := worldtest.ReasonsOf(p); !slices.ContainsFunc(reasons, func(r string) bool { return strings.Contains(r, want) }) {
		t.Errorf("%q, want %q", reasons, want)
	}
}
