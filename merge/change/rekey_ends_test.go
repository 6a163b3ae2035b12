package change_test

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A counter goes on above all that came where its column ends soon, too: the game makes
// rows afterwards.
func TestRekeyCountersOfNarrowColumns(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		if e.Name == "sqlite" {
			return // its integers have one size
		}
		all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE big (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO big VALUES (1), (1500000)",
			"CREATE TABLE guild (id SMALLINT UNSIGNED AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO guild VALUES (1), (7)",
			"CREATE TABLE tiny (id TINYINT AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO tiny VALUES (1), (60)",
			"CREATE TABLE few (id INT AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO few VALUES (1), (200)",
			"CREATE TABLE seq (name VARCHAR(9) PRIMARY KEY, next SMALLINT)", "INSERT INTO seq VALUES ('guild', 8)")
		p, into := worldtest.Rekeyed(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"big.id"}}, rules.Space{Keys: []string{"guild.id"}}, rules.Space{Keys: []string{"tiny.id"}}, rules.Space{Keys: []string{"few.id"}, Max: 450})
			o.Tables = []rules.TablePolicy{{Tables: []string{"seq"}, Policy: rules.PolicySkip}}
			o.Rekey.Counters = []rules.CounterRow{{At: "seq.next", Space: "guild.id"}}
			o.Allow = append(o.Allow, verdict.CodeCounterFull) // few numbers are left
		}))
		worldtest.Exec(t, into, "INSERT INTO guild () VALUES ()", "INSERT INTO tiny () VALUES ()", "INSERT INTO few () VALUES ()")
		for table, most := range map[string]string{"guild": "65535", "tiny": "127", "few": "450"} {
			worldtest.Asked(t, into, "SELECT COUNT(*), MAX(id) <= "+most+" FROM "+table, "5|1")
		}
		worldtest.Asked(t, into, "SELECT next > (SELECT MAX(id) - 1 FROM guild) - 1 AND next <= 32767 FROM seq", "1")
		if p.Rekey.Offset("guild.id", "w1") == 0 {
			t.Error("no key got a new value")
		}
	})
}

// If a column of integers holds a text, as SQLite allows, the plan says that it could not read that column.
func TestRekeyBesideAColumnOfOddValues(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE odd (id INTEGER PRIMARY KEY, n INT)", "INSERT INTO odd VALUES (1, 5), (2, 'zz')")
	opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"odd.id"}})
	})
	worldtest.Refuses(t, e.Fresh(t, "new"), all, opts, `n: could not be read: w0: table "odd", column "n": a value is text, want an integer`)
}

// A reference to a row that is gone gets a new value as well. The counter of its table goes on above that, also if no row of
// that table comes: a new row of the game would get what belonged to the old one.
func TestRekeyCounterOfATableWithoutRowsToCome(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		auto := "INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY"
		if e.Name == "sqlite" {
			auto = "INTEGER PRIMARY KEY AUTOINCREMENT"
		}
		for _, of := range []string{"deleted", "staying"} {
			all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE pets (id "+auto+", tag VARCHAR(20) NOT NULL)", "INSERT INTO pets VALUES (3, 'w%d'), (7, 'w%d')",
				"CREATE TABLE toys (pet INTEGER NOT NULL PRIMARY KEY)", "INSERT INTO toys VALUES (7), (8)")
			if of == "deleted" {
				worldtest.Exec(t, all[1], "DELETE FROM pets")
			}
			_, into := worldtest.MergeOf(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
				o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"pets.id"}})
				d.Plain = append(d.Plain, "pets.tag")
				d.References = append(d.References, rules.DeclaredReference{At: []string{"toys.pet"}, To: []string{"pets.id"}})
				if of == "staying" {
					d.References[len(d.References)-1].Gone = rules.GoneDrop
					o.Leave = append(o.Leave, rules.Leave{Table: "pets", Where: "id > 0"})
				}
			}))
			worldtest.Exec(t, into, "INSERT INTO pets (tag) VALUES ('new')")
			worldtest.Asked(t, into, "SELECT (SELECT MAX(id) FROM pets) > (SELECT MAX(pet) FROM toys), (SELECT MAX(pet) FROM toys) > 8", "1|1")
		}
	})
}

// Merges in a row use up no space by rounding: neither does a counter of AUTO_INCREMENT or in a
// row jump to the end of a narrow space, nor do the large keys of one space move the counter of
// another one. Each time the next account is the one after the last, and the next party, of
// which a world has less than a thousand, one of the next thousand.
func TestRekeyCountersOfMergesInARow(t *testing.T) {
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		auto, narrow := "INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY", "SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY"
		if e.Name == "sqlite" {
			auto = "INTEGER PRIMARY KEY AUTOINCREMENT"
			narrow = auto
		}
		merges := servertest.Scale(3, 5)
		all := worldtest.KeyWorlds(t, e, merges+1, "CREATE TABLE accounts (id "+auto+", tag VARCHAR(20))", "INSERT INTO accounts VALUES (1, 'w%d'), (2000021, 'w%d')",
			"CREATE TABLE parties (id "+narrow+", tag VARCHAR(20))", "INSERT INTO parties VALUES (1, 'w%d'), (700, 'w%d')",
			"CREATE TABLE loot (id "+auto+", tag VARCHAR(20))", "INSERT INTO loot VALUES (1, 'w%d')",
			"CREATE TABLE seq (name VARCHAR(9) NOT NULL PRIMARY KEY, next INTEGER NOT NULL)", "INSERT INTO seq VALUES ('account', 2000022)")
		worldtest.Exec(t, all[2], "INSERT INTO loot VALUES (60000000, 'far')")
		opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"accounts.id"}, Max: 100_000_000}, rules.Space{Keys: []string{"parties.id"}}, rules.Space{Keys: []string{"loot.id"}})
			o.Tables = []rules.TablePolicy{{Tables: []string{"seq"}, Policy: rules.PolicySkip}}
			o.Rekey.Counters = []rules.CounterRow{{At: "seq.next", Space: "accounts.id"}}
		})
		first := all[0]
		for i, w := range all[1:] {
			p, into := worldtest.Rekeyed(t, e, []world.Database{first, w}, opts)
			worldtest.Opened(t, p, into, []world.Database{first, w})
			first = world.Database{Name: fmt.Sprint("n", i+1), DSN: into.DSN}
			for _, table := range []string{"accounts", "parties"} {
				last := worldtest.Number(t, first, "SELECT MAX(id) FROM "+table)
				worldtest.Exec(t, first, "INSERT INTO "+table+" (tag) VALUES ('new')")
				next := worldtest.Number(t, first, "SELECT MAX(id) FROM "+table)
				if next > last+1 && (table == "accounts" || next > last+1000) {
					t.Errorf("merge %d: the key after %d of %s is %d", i+1, last, table, next)
				}
				if counted := worldtest.Number(t, first, "SELECT next FROM seq"); table == "accounts" && counted != next {
					t.Errorf("merge %d: the next account is %d, and the counter in the row is at %d", i+1, next, counted)
				}
			}
			if far := p.Rekey.Space("loot.id").Worlds[1]; (i == 1) != (far.Keys.High.Bits == 60_000_000) {
				t.Errorf("merge %d: %+v", i+1, far)
			}
		}
	})
}

// A counter in a row that has no room for what came is a refusal.
func TestRekeyCounterWithoutRoom(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		if e.Name == "sqlite" {
			return // its integers have one size
		}
		all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE guild (id INT PRIMARY KEY)", "INSERT INTO guild VALUES (1), (32000)",
			"CREATE TABLE seq (name VARCHAR(9) PRIMARY KEY, next SMALLINT)", "INSERT INTO seq VALUES ('guild', 32001)")
		worldtest.Refuses(t, e.Fresh(t, "new"), all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"guild.id"}})
			o.Tables = []rules.TablePolicy{{Tables: []string{"seq"}, Policy: rules.PolicySkip}}
			o.Rekey.Counters = []rules.CounterRow{{At: "seq.next", Space: "guild.id"}}
		}), "ends at 32767")
	})
}

// A space that is full after the merge, up to what clients take, refuses the plan: the game
// could make no more rows. So does one with fewer numbers left than the worlds have given.
func TestRekeyFullSpace(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		auto := "INT AUTO_INCREMENT PRIMARY KEY"
		if e.Name == "sqlite" {
			auto = "INTEGER PRIMARY KEY AUTOINCREMENT"
		}
		all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE few (id "+auto+", tag VARCHAR(20))", "INSERT INTO few VALUES (1, 'w%d'), (200, 'w%d')")
		for most, want := range map[uint64]string{400: "would continue at 401 but ends at 400, so the game could not create any more rows", 401: "numbers left: 1; used by the worlds so far: 400", 799: "numbers left: 399;", 800: ""} {
			p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
				o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"few.id"}, Max: most})
			}))
			if err != nil || (len(p.Refusals) > 0) != (want != "") || want != "" && (len(p.Refusals) != 1 || p.Refusals[0].Code != verdict.CodeCounterFull || !strings.Contains(p.Refusals[0].Reason, want)) {
				t.Errorf("up to %d: %v, refused for %v", most, err, p.Refusals)
			}
		}
	})
}

// A plan without new keys is refused as well if a table could get no more rows: the INSERT in such a new
// database fails, but where SQLite looks for a number that is free.
func TestFullCounter(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		most := "2147483647"
		tables := map[string]string{"full": "INT AUTO_INCREMENT PRIMARY KEY"}
		if e.Name == "sqlite" {
			most = "9223372036854775807"
			tables = map[string]string{"full": "INTEGER PRIMARY KEY AUTOINCREMENT", "endless": "INTEGER PRIMARY KEY"}
		}
		all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
		for table, id := range tables {
			for i, rows := range []string{"(1), (2)", "(100), (" + most + ")"} {
				worldtest.Exec(t, all[i], "CREATE TABLE "+table+" (id "+id+", n INT)", "INSERT INTO "+table+" (id) VALUES "+rows)
			}
		}
		options := planner.PlanOptions{Check: rules.Options{Allow: []string{verdict.CodeAutoIncrement}}}
		refused, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, options)
		if err != nil || len(refused.Refusals) != 1 || refused.Refusals[0].Code != verdict.CodeCounterFull || refused.Refusals[0].Table != "full" {
			t.Fatalf("%v, refused for %v", err, refused.Refusals)
		}
		options.Check.Allow = append(options.Check.Allow, verdict.CodeCounterFull)
		into := e.Fresh(t, "new")
		p := worldtest.MustPlan(t, into, all, options)
		worldtest.MustApply(t, p, into, all)
		worldtest.Sound(t, p, into, all)
		for table := range tables {
			_, err := worldtest.Pool(t, into).ExecContext(t.Context(), "INSERT INTO "+table+" (n) VALUES (1)")
			if (err != nil) != (table == "full") {
				t.Errorf("an INSERT into %s says %v", table, err)
			}
		}
	})
}

// Names that look like patterns are names.
func TestRekeyOddNames(t *testing.T) {
	e := worldtest.OnSQLite(t)
	quote := world.Dialect{Dialect: (&world.Connection{Database: world.Database{DSN: e.Fresh(t, "w9").DSN}}).Dialect().Dialect}.Quote
	var odd []string
	var keys []rules.Space
	for _, name := range []string{"a.b", "log*", "x{1..2}", "it`ems"} {
		odd = append(odd, "CREATE TABLE "+quote(name)+" (id INTEGER NOT NULL PRIMARY KEY)", "INSERT INTO "+quote(name)+" VALUES (1), (2)")
		keys = append(keys, rules.Space{Keys: []string{rules.Name(name) + ".id"}})
	}
	worldtest.Rekeyed(t, e, worldtest.KeyWorlds(t, e, 2, odd...), worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) { o.Rekey.Spaces = append(o.Rekey.Spaces, keys...) }))
}

// A space of a table whose rows stay behind is a mistake that is named.
func TestRekeySpaceOfWhatStays(t *testing.T) {
	for _, policy := range []rules.Policy{rules.PolicySkip, rules.PolicyReset} {
		e := worldtest.Engines()[0]
		all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE auction (id INTEGER NOT NULL PRIMARY KEY)")
		worldtest.NoPlan(t, e.Fresh(t, "new"), all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Name: "auctions", Keys: []string{"auction.id"}})
			o.Tables = []rules.TablePolicy{{Tables: []string{"auction"}, Policy: policy}}
		}), "the rows of its tables stay behind")
	}
}

// A value that is said to mean nobody, and to be a row that is gone, is a contradiction.
func TestNoneAndDangling(t *testing.T) {
	e := worldtest.Engines()[0]
	all := worldtest.KeyWorlds(t, e, 2)
	o := worldtest.KeyOptions(nil)
	o.Check.Rules[0].References[0].None, o.Check.Rules[0].References[0].Dangling = []string{"1"}, []string{"1"}
	worldtest.NoPlan(t, e.Fresh(t, "new"), all, o, `none and dangling both have "1"`)
}
