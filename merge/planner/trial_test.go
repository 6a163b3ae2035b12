package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// changingGames are merges that write other values than they read, one for each way. Each has a table of which further
// columns and constraints are given.
var changingGames = map[string]func(t *testing.T, e worldtest.Engine, further string) ([]world.Database, planner.PlanOptions){
	"raised": func(t *testing.T, e worldtest.Engine, further string) ([]world.Database, planner.PlanOptions) {
		all, opts := worldtest.CountingGame(t, e)
		for _, d := range all {
			worldtest.Exec(t, d, "DROP TABLE seq", "CREATE TABLE seq (name VARCHAR(9) NOT NULL PRIMARY KEY, v INTEGER NOT NULL"+further+")",
				"INSERT INTO seq (name, v) VALUES ('item', 32), ('other', 33)")
		}
		opts.Check.Rekey.Counters = []rules.CounterRow{{At: "seq.v", Space: "items.id", When: &rules.When{Column: "name", Is: []string{"item"}}, Others: rules.OthersPlain}}
		if strings.Contains(further, "g BIGINT") {
			opts.Check.Rules[0].Plain = append(opts.Check.Rules[0].Plain, "seq.g")
		}
		if strings.Contains(further, "h BIGINT") {
			opts.Check.Rules[0].Plain = append(opts.Check.Rules[0].Plain, "seq.h")
		}
		return all, opts
	},
	"cleared": func(t *testing.T, e worldtest.Engine, further string) ([]world.Database, planner.PlanOptions) {
		all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE auction (id INTEGER NOT NULL PRIMARY KEY)", "INSERT INTO auction VALUES (5), (6)",
			"CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, v INTEGER NOT NULL"+further+")", "INSERT INTO mail (id, v) VALUES (1 + 2 * %d, 5 + 2 * %d), (2 + 2 * %d, 6 + 2 * %d)")
		return all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
			o.Tables = []rules.TablePolicy{{Tables: []string{"auction"}, Policy: rules.PolicySkip}}
			o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"mail.id"}})
			d.References = append(d.References, rules.DeclaredReference{At: []string{"mail.v"}, To: []string{"auction.id"}, None: []string{"0"}, Gone: rules.GoneNone})
		})
	},
	"cleared in bits": func(t *testing.T, e worldtest.Engine, further string) ([]world.Database, planner.PlanOptions) {
		all := worldtest.KeyWorlds(t, e, 2, append(worldtest.Leavers, "CREATE TABLE gear (id INTEGER NOT NULL PRIMARY KEY, v BIGINT NOT NULL"+further+")", "INSERT INTO gear (id, v) VALUES (1, 4294967303), (2, 8589934599)")...)
		return all, leavingIn("gear.v", "bits 32..63")
	},
	"cleared in words": func(t *testing.T, e worldtest.Engine, further string) ([]world.Database, planner.PlanOptions) {
		all := worldtest.KeyWorlds(t, e, 2, append(worldtest.Leavers, "CREATE TABLE gear (id INTEGER NOT NULL PRIMARY KEY, v INTEGER NOT NULL, w INTEGER NOT NULL"+further+")", "INSERT INTO gear (id, v, w) VALUES (1, 1, 0), (2, 2, 0)")...)
		return all, leavingIn("gear.v", "words [v, w]")
	},
	"set": func(t *testing.T, e worldtest.Engine, further string) (all []world.Database, opts planner.PlanOptions) {
		for i := range 2 {
			d := e.Fresh(t, fmt.Sprint("w", i))
			worldtest.Exec(t, d, "CREATE TABLE chars (guid INTEGER NOT NULL PRIMARY KEY, name VARCHAR(12) NOT NULL, v INTEGER NOT NULL, seen INTEGER, asked VARCHAR(9) NOT NULL"+further+")",
				fmt.Sprintf("INSERT INTO chars (guid, name, v, seen, asked) VALUES (1, 'Ann', 1%d, 10, '60'), (2, 'Bob', 2%[1]d, 10, '60'), (3, 'Cat%[1]d', 3%[1]d, 1, '60')", i))
			all = append(all, d)
		}
		opts = worldtest.Flagging("v", "| 64", "asked", "100")
		opts.Check.Rules[0].Plain = []string{"chars.v", "chars.asked", "chars.seen", "chars.name"}
		return all, opts
	},
	"combined": func(t *testing.T, e worldtest.Engine, further string) (all []world.Database, opts planner.PlanOptions) {
		for i := range 2 {
			d := e.Fresh(t, fmt.Sprint("w", i))
			worldtest.Exec(t, d, "CREATE TABLE purse (id INTEGER NOT NULL PRIMARY KEY, v INTEGER NOT NULL, asked VARCHAR(9) NOT NULL"+further+")",
				fmt.Sprintf("INSERT INTO purse (id, v, asked) VALUES (1, 30, '%d'), (2, 1, '4')", i+1))
			all = append(all, d)
		}
		return all, planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing, Tables: []rules.TablePolicy{
			{Tables: []string{"purse"}, Policy: rules.PolicyCombine, Columns: map[string]string{"v": "sum", "asked": "append 9"}}}}}
	},
	"moved": func(t *testing.T, e worldtest.Engine, further string) ([]world.Database, planner.PlanOptions) {
		all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE pets (v INTEGER NOT NULL PRIMARY KEY"+further+")", "INSERT INTO pets (v) VALUES (1), (2)")
		return all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"pets.v"}})
		})
	},
}

// leavingIn are rules by which heroes stay behind that cells of a column name.
func leavingIn(at, format string) planner.PlanOptions {
	return worldtest.LeaveOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Allow = []string{verdict.CodeRefusedCheck} // of keys in cells
		o.Leave = append(o.Leave, rules.Leave{Table: "hero", Where: "level < 20"})
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"gear.id"}})
		d.References = append(d.References, rules.DeclaredReference{At: []string{at}, To: []string{"hero.guid"}, Format: format, None: []string{"0"}, Gone: rules.GoneNone})
	})
}

// A value that the merge makes, in whatever way, and that the new database would refuse, refuses the plan: by a CHECK,
// a generated column that is never NULL, or a UNIQUE index. One that it takes is merged.
func TestNewValuesAreTried(t *testing.T) {
	for name, game := range changingGames {
		least, most := 1, 63 // what the table takes before, and not after
		switch name {
		case "cleared in bits":
			least, most = 1<<32, 1<<40
		case "combined":
			most = 31
		}
		within := fmt.Sprintf("BETWEEN %d AND %d", least, most)
		made := ", g BIGINT AS (CASE WHEN v " + within + " THEN v END) STORED"
		for i, tt := range []struct{ what, further, of, kept string }{ // kept is where; of is the only game
			{"kept", ", CHECK (v > -5 AND v < 1000000000000000)", "", "sqlite mariadb mysql"},
			{"a made column, kept", made, "", "sqlite mariadb mysql"},
			{"a CHECK", ", CONSTRAINT small CHECK (v " + within + ")", "", ""},
			{"a CHECK of a made column", ", g BIGINT AS (v + 1) STORED, h BIGINT AS (g - 1) STORED, CONSTRAINT small CHECK (h " + within + ")", "", ""},
			{"a made column, never NULL", made + " NOT NULL", "", ""},
			{"a UNIQUE", ", UNIQUE (v)", "", map[bool]string{true: "sqlite mariadb mysql"}[name == "moved"]},
			{"a UNIQUE of a made column", ", g BIGINT AS (CASE WHEN v " + within + " THEN v ELSE 7 END) STORED, UNIQUE (g)", "", ""},
			// SQLite gives the other one the type of the column.
			{"a text and a number", ", CHECK (asked > 50)", "set", "mariadb mysql"},
			{"a text and a number, kept", ", CHECK (asked > 0)", "set", "sqlite mariadb mysql"},
			{"texts and a number", ", CHECK (asked < 9)", "combined", "sqlite"},
			{"a listed text, kept", ", e ENUM('a', 'B') NOT NULL DEFAULT 'B', CHECK (e = 'B' AND v > 0)", "set", "sqlite mariadb mysql"},
			{"a listed text", ", e ENUM('a', 'B') NOT NULL DEFAULT 'B', CHECK (e = 'a' OR v < 64)", "set", ""},
			{"a number and a text", ", CHECK (v < '900')", "moved", ""},
			{"a number and a text, kept", ", CHECK (v < '8589934600')", "moved", "sqlite mariadb mysql"},
		} {
			if tt.of != "" && tt.of != name {
				continue
			}
			if name != "set" && tt.of == "" && (i+len(name))%2 >= servertest.Scale(1, 2) {
				continue // each but one in every other way
			}
			t.Run(strings.ReplaceAll(name+"/"+tt.what, " ", "_"), func(t *testing.T) {
				on := worldtest.OnEachIfLong // rows are tried in one way, however they change
				switch notNull := strings.HasSuffix(tt.further, "NOT NULL"); {
				case name == "set" && (tt.of != "" || notNull):
					on = worldtest.OnEvery
				case name == "set" || tt.of != "":
					on = worldtest.OnEach
				}
				on(t, func(t *testing.T, e worldtest.Engine) {
					on := e.Name
					if strings.HasSuffix(t.Name(), servertest.MySQL) {
						on = servertest.MySQL
					}
					if on == servertest.MariaDB && strings.HasSuffix(tt.further, "NOT NULL") {
						t.Skip("it has no generated columns that are NOT NULL")
					}
					further := tt.further
					if on == "sqlite" {
						further = strings.Replace(further, "ENUM('a', 'B')", "TEXT", 1)
					}
					all, opts := game(t, e, further)
					into := e.Fresh(t, "new")
					p, err := planner.NewPlan(t.Context(), into, all, opts)
					unique := strings.Contains(tt.what, "UNIQUE")
					switch {
					case strings.Contains(tt.kept, on):
						if err != nil || len(p.Refusals) > 0 {
							t.Fatal(p, err)
						}
						worldtest.MustApply(t, p, into, all)
						if proof := worldtest.Verified(t, p, into, all); proof.Verdict == verdict.Fail {
							t.Errorf("%+v", proof)
						}
					case err != nil: // the rules cannot be so
						if !unique || !strings.Contains(err.Error(), "unique") && !strings.Contains(err.Error(), " a key") {
							t.Error(err)
						}
					case !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool {
						return r.Place == plan.PlaceValues || unique && r.Code == verdict.CodeUniqueCollision || name == "moved" && r.Code == verdict.CodeRefusedCheck
					}):
						t.Errorf("refused for %v", p.Refusals)
					}
				})
			})
		}
	}
}

// A UNIQUE index over some rows passes if no two of all rows are equal in it, with the values that they will have.
// Otherwise it is not verified: it can be allowed, and the new database decides.
func TestUniqueOfSomeRows(t *testing.T) {
	t.Parallel()
	e := worldtest.Engines()[0]
	for name, game := range changingGames {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			all, opts := game(t, e, "")
			for _, d := range all {
				for _, table := range worldtest.Rows(t, d, "SELECT tbl_name FROM sqlite_schema AS s, pragma_table_info(s.tbl_name) AS c WHERE s.type = 'table' AND c.name = 'v'") {
					worldtest.Exec(t, d, "CREATE UNIQUE INDEX some ON "+table[0]+" (v) WHERE v > 0")
				}
			}
			into := e.Fresh(t, "new")
			p, err := planner.NewPlan(t.Context(), into, all, opts)
			if err == nil && len(p.Refusals) == 0 {
				worldtest.MustApply(t, p, into, all)
			}
		})
	}
	for _, tt := range []struct {
		what, second string // a row of the second world
		index        string
		allow        bool
		refused      string
	}{
		{"apart", "'c', 0", "(name)", false, ""},
		{"equal", "'a', 0", "(name)", false, "it covers only some of the rows, and among all rows 1 value occurs more than once"},
		{"equal, and renamed", "'a', 0", "(name)", false, ""},
		{"equal, and allowed", "'a', 0", "(name)", true, ""},
		{"equal to the index alone", "'A', 0", "(name COLLATE NOCASE)", false, "it covers only some of the rows, and it compares name under NOCASE"},
		{"equal to the index alone, in its second column", "'A', 0", "(alive, name COLLATE NOCASE)", false, "it compares name under NOCASE"},
	} {
		t.Run(strings.ReplaceAll(tt.what, " ", "_"), func(t *testing.T) {
			var all []world.Database
			for i, row := range []string{"'a', 1", tt.second} {
				d := e.Fresh(t, fmt.Sprint("w", i))
				worldtest.Exec(t, d, "CREATE TABLE t (id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, alive INTEGER NOT NULL)",
					"CREATE UNIQUE INDEX living ON t "+tt.index+" WHERE alive = 1", fmt.Sprintf("INSERT INTO t VALUES ('k%d', %s)", i, row))
				all = append(all, d)
			}
			opts := planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}}
			if tt.allow {
				opts.Check.Allow = []string{verdict.CodeUniqueCollision + ":t"}
			}
			if tt.what == "equal, and renamed" {
				opts.Names = []plan.NamePolicy{{Table: "t", Column: "name", MaxLength: 9}}
			}
			into := e.Fresh(t, "new")
			p := worldtest.Planned(t, into, all, opts)
			if said := fmt.Sprint(p.Check.Resolved); strings.Contains(said, "one that it does not cover, such as of a deleted player, may keep the name") != (opts.Names != nil) {
				t.Error(said)
			}
			if tt.refused == "" && len(p.Refusals) == 0 {
				worldtest.MustApply(t, p, into, all)
			} else if len(p.Refusals) != 1 || !strings.Contains(p.Refusals[0].Reason, tt.refused) || tt.refused == "" {
				t.Errorf("%v", p.Refusals)
			}
		})
	}
}

// A UNIQUE index may cover only some rows, and the plan does not know which. A counter that is raised may add its row to them.
func TestCounterInUniqueOfSomeRows(t *testing.T) {
	for _, index := range []string{"(w) WHERE v > 40", "((v > 40), name, w)"} {
		all, opts := changingGames["raised"](t, worldtest.Engines()[0], ", w INTEGER DEFAULT 1")
		for _, d := range all {
			worldtest.Exec(t, d, "CREATE UNIQUE INDEX i ON seq "+index)
		}
		opts.Check.Rules[0].Plain = append(opts.Check.Rules[0].Plain, "seq.w")
		opts.Check.Allow = []string{verdict.CodeUniqueCollision}
		p, err := planner.NewPlan(t.Context(), worldtest.Engines()[0].Fresh(t, "new"), all, opts)
		if err != nil || !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool {
			return r.Place == plan.PlaceValues && strings.Contains(r.Reason, "several rows could have the same one")
		}) {
			t.Errorf("%s: %v, %v", index, p.Refusals, err)
		}
	}
}

// The expressions of an index are computed for each row that is written; where they cannot be, the plan is refused. Rows
// of the first world are not asked again, unless they change.
func TestIndexesAreComputed(t *testing.T) {
	const json = "json_extract(CASE WHEN v < 900 THEN '{}' ELSE '{' END, '$.a')"
	const ofCat = "json_extract(CASE WHEN name = 'Cat1' THEN '{' ELSE '{}' END, '$.a')"
	for name, tt := range map[string]struct{ game, index, lite string }{ // lite is the index of SQLite alone
		"raised":                {"raised", "(" + json + ")", ""},
		"cleared":               {"cleared", "id, (" + strings.Replace(json, "v < 900", "v > 0", 1) + ") DESC", ""},
		"moved":                 {"moved", "(" + json + ")", ""},
		"of the first world":    {"set", "(" + ofCat + ")", ""},
		"of other rows, kept":   {"set", "", "(" + ofCat + ")) WHERE (NOT name = 'Cat1'"},
		"an operator":           {"set", "", "(CASE WHEN name = 'Cat1' THEN '{' END -> '$.a')"},
		"a condition":           {"set", "", "name) WHERE (" + ofCat + " = 1"},
		"of values asked, kept": {"set", "(upper(asked)), (json_quote(name)) DESC", ""},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			worldtest.OnEvery(t, func(t *testing.T, e worldtest.Engine) {
				on := t.Name()[strings.LastIndex(t.Name(), "/")+1:]
				index := tt.lite
				switch {
				case on == servertest.MariaDB || on == servertest.MySQL && tt.lite != "":
					t.Skip("it has no such indexes")
				case on == servertest.MySQL:
					index = strings.NewReplacer("(json_", "(CAST(json_", "'$.a'))", "'$.a') AS CHAR(9)))", "quote(name))", "quote(name) AS CHAR(9)))").Replace(tt.index)
				case index == "":
					index = tt.index
				}
				all, opts := changingGames[tt.game](t, e, "")
				if tt.game == "raised" { // so that it is
					for _, d := range all {
						worldtest.Exec(t, d, "UPDATE seq SET v = 899")
					}
					worldtest.Exec(t, all[1], "UPDATE items SET id = 899 WHERE id = 32")
				}
				table := map[string]string{"raised": "seq", "cleared": "mail", "moved": "pets", "set": "chars"}[tt.game]
				with := all
				if tt.game == "set" {
					with = all[:1]
				}
				for _, d := range with {
					worldtest.Exec(t, d, "CREATE INDEX computed ON "+table+" ("+index+")")
				}
				into := e.Fresh(t, "new")
				p := worldtest.Planned(t, into, all, opts)
				switch {
				case strings.HasSuffix(name, "kept"):
					if len(p.Refusals) > 0 {
						t.Fatal(p.Refusals)
					}
					worldtest.MustApply(t, p, into, all)
				case !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool {
					return r.Place == plan.PlaceValues || r.Code == verdict.CodeRefusedCheck
				}):
					t.Errorf("refused for %v", p.Refusals)
				}
			})
		})
	}
}
