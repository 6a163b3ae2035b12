package build_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// alterable are two worlds with a table of every policy, and what hangs on tables.
func alterable(t *testing.T, e worldtest.Engine) (all []world.Database) {
	t.Helper()
	auto := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if e.Name != "sqlite" {
		auto = "INTEGER NOT NULL AUTO_INCREMENT PRIMARY KEY"
	}
	for i, name := range []string{"s1", "s2"} {
		d := e.Fresh(t, name)
		worldtest.Exec(t, d,
			"CREATE TABLE chars (guid "+auto+", name VARCHAR(20) NOT NULL, "+
				"CONSTRAINT named UNIQUE (name), CONSTRAINT some CHECK (name <> ''))",
			"CREATE TABLE stats (guid INTEGER NOT NULL PRIMARY KEY, "+
				"tag VARCHAR(9) NOT NULL DEFAULT 'x', hp INT NOT NULL DEFAULT 7)",
			"CREATE TABLE items (id "+auto+", owner INTEGER NOT NULL, "+
				"CONSTRAINT owned FOREIGN KEY (owner) REFERENCES chars (guid))",
			"CREATE TABLE log (guid INTEGER NOT NULL, what VARCHAR(9))",
			"CREATE TABLE conf (k INTEGER NOT NULL PRIMARY KEY, v INTEGER)",
			"CREATE TABLE online (guid INTEGER NOT NULL PRIMARY KEY, place INTEGER)",
			"CREATE TABLE wallet (account INTEGER NOT NULL PRIMARY KEY, gold INTEGER)",
			"CREATE VIEW rich AS SELECT account FROM wallet WHERE gold > 5",
			"INSERT INTO conf VALUES (1, 1), (2, 2)", "INSERT INTO wallet VALUES (1, 10), (2, 20)")
		for k := 1; k <= 5; k++ {
			worldtest.Exec(t, d, fmt.Sprintf("INSERT INTO chars (guid, name) VALUES (%d, 'n%c%d')", k, 'a'+i, k),
				fmt.Sprintf("INSERT INTO stats (guid) VALUES (%d)", k), fmt.Sprintf("INSERT INTO items (id, owner) VALUES (%d, %d)",
					k, k),
				fmt.Sprintf("INSERT INTO log VALUES (%d, 'w%d')", k, i), fmt.Sprintf("INSERT INTO online VALUES (%d, %d)", k, k))
		}
		all = append(all, d)
	}
	return all
}

func alterableOptions() planner.PlanOptions {
	return planner.PlanOptions{Check: rules.Options{
		Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"chars.guid"}}, {Keys: []string{"items.id"}}}},
		Allow: []string{verdict.CodeAutoIncrement},
		Tables: []rules.TablePolicy{{Tables: []string{"conf"}, Policy: rules.PolicySame}, {Tables: []string{"online"},
			Policy: rules.PolicyReset},
			{Tables: []string{"wallet"}, Policy: rules.PolicyCombine, Columns: map[string]string{"gold": "sum"}}},
		Rules: []rules.Declarations{{Plain: []string{"*.hp", "*.tag", "*.what", "*.v", "*.place", "*.gold"},
			Shared: []string{"wallet.account", "conf.k"},
			References: []rules.DeclaredReference{{At: []string{"items.owner", "stats.guid", "log.guid", "online.guid"},
				To: []string{"chars.guid"}}}}},
	}}
}

// alteration is one way to change the tables of a database under a merge.
type alteration struct {
	name     string
	do, back []string // back of SQLite is the file of before
	want     string   // what the refusal says; empty: the merge need not care
}

// remade are the statements by which SQLite makes a table anew with other columns or options.
func remade(table, as string) []string {
	columns := map[string]string{"chars": "guid, name", "items": "id, owner", "stats": "guid, tag, hp"}[table]
	return []string{"CREATE TABLE remade " + as, "INSERT INTO remade (" + columns + ") SELECT " + columns + " FROM " +
		table, "DROP TABLE " + table, "ALTER TABLE remade RENAME TO " + table}
}

func alterations(e worldtest.Engine, elsewhere string) []alteration {
	one := func(s string) []string { return []string{s} }
	both := []alteration{
		{"column dropped", one("ALTER TABLE stats DROP COLUMN hp"),
			one("ALTER TABLE stats ADD COLUMN hp INTEGER NOT NULL DEFAULT 7"), "table stats: column hp missing"},
		{"column added", one("ALTER TABLE stats ADD COLUMN extra INTEGER"), one("ALTER TABLE stats DROP COLUMN extra"),
			"table stats: column extra added"},
		{"column renamed", one("ALTER TABLE stats RENAME COLUMN hp TO mp"), one("ALTER TABLE stats RENAME COLUMN mp TO hp"),
			"table stats: column hp missing; table stats: column mp added"},
		{"table renamed", one("ALTER TABLE stats RENAME TO states"), one("ALTER TABLE states RENAME TO stats"),
			"table stats missing"},
		{"key added", one("CREATE UNIQUE INDEX one ON stats (tag, guid)"), one("DROP INDEX one ON stats"),
			"table stats: unique (tag, guid) added"},
		{"view in place of a table", []string{"ALTER TABLE stats RENAME TO states",
			"CREATE VIEW stats AS SELECT * FROM states"}, []string{"DROP VIEW stats", "ALTER TABLE states RENAME TO stats"},
			"table stats missing"},
		{"table in place of a view", []string{"DROP VIEW rich", "CREATE TABLE rich (account INTEGER NOT NULL PRIMARY KEY)"},
			[]string{"DROP TABLE rich", "CREATE VIEW rich AS SELECT account FROM wallet WHERE gold > 5"}, "table rich added"},
		{"generated column", one("ALTER TABLE stats ADD COLUMN twice INTEGER GENERATED ALWAYS AS (hp * 2) VIRTUAL"),
			one("ALTER TABLE stats DROP COLUMN twice"), "table stats: column twice added"},
		{"index added", one("CREATE INDEX tags ON stats (tag)"), one("DROP INDEX tags ON stats"), ""},
		{"view added", one("CREATE VIEW poor AS SELECT account FROM wallet"), one("DROP VIEW poor"), ""},
	}
	for table, column := range map[string]string{"conf": "v", "online": "place", "wallet": "gold",
		"log": "what"} { // of each policy
		both = append(both,
			alteration{table + " with a column more", one("ALTER TABLE " + table + " ADD COLUMN extra INTEGER"),
				one("ALTER TABLE " + table + " DROP COLUMN extra"), "table " + table + ": column extra added"},
			alteration{table + " with another column", one("ALTER TABLE " + table + " RENAME COLUMN " + column + " TO other"),
				one("ALTER TABLE " + table + " RENAME COLUMN other TO " + column), "table " + table + ": column " + column +
					" missing; table " + table + ": column other added"})
	}
	slices.SortFunc(both, func(a, b alteration) int { return strings.Compare(a.name, b.name) })
	if e.Name == "sqlite" {
		stats := func(name, as, want string) alteration {
			return alteration{name, remade("stats", as), nil, "table stats: " + want}
		}
		return append(both,
			alteration{"table dropped", one("DROP TABLE stats"), nil, "table stats missing"},
			alteration{"same table dropped", one("DROP TABLE conf"), nil, "table conf missing"},
			alteration{"unique dropped", remade("chars",
				"(guid INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(20) NOT NULL, CONSTRAINT some CHECK (name <> ''))"), nil,
				"table chars: unique name missing"},
			alteration{"check dropped", remade("chars",
				"(guid INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(20) NOT NULL, CONSTRAINT named UNIQUE (name))"), nil,
				"table chars: CHECK"},
			alteration{"counter dropped", remade("items",
				"(id INTEGER NOT NULL PRIMARY KEY, owner INTEGER NOT NULL, "+
					"CONSTRAINT owned FOREIGN KEY (owner) REFERENCES chars (guid))"), nil, ""},
			alteration{"foreign key dropped", remade("items", "(id INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER NOT NULL)"),
				nil, "table items: foreign key owner → chars.guid missing"},
			stats("column retyped",
				"(guid INTEGER NOT NULL PRIMARY KEY, tag VARCHAR(9) NOT NULL DEFAULT 'x', hp TEXT NOT NULL DEFAULT 7)",
				"column hp is TEXT"),
			stats("columns in another order",
				"(tag VARCHAR(9) NOT NULL DEFAULT 'x', guid INTEGER NOT NULL PRIMARY KEY, hp INTEGER NOT NULL DEFAULT 7)",
				"columns in another order"),
			stats("key dropped", "(guid INTEGER NOT NULL, tag VARCHAR(9) NOT NULL DEFAULT 'x', hp INT NOT NULL DEFAULT 7)",
				"primary key guid missing"),
			stats("NULL allowed",
				"(guid INTEGER NOT NULL PRIMARY KEY, tag VARCHAR(9) DEFAULT 'x', hp INTEGER NOT NULL DEFAULT 7)", "column tag is "),
			stats("check added",
				"(guid INTEGER NOT NULL PRIMARY KEY, "+
					"tag VARCHAR(9) NOT NULL DEFAULT 'x', hp INT NOT NULL DEFAULT 7 CHECK (hp < 9))", "CHECK"),
			stats("another default",
				"(guid INTEGER NOT NULL PRIMARY KEY, tag VARCHAR(9) NOT NULL DEFAULT 'x', hp INTEGER NOT NULL DEFAULT 8)",
				"column hp is "),
			stats("another collation",
				"(guid INTEGER NOT NULL PRIMARY KEY, "+
					"tag VARCHAR(9) NOT NULL DEFAULT 'x' COLLATE NOCASE, hp INTEGER NOT NULL DEFAULT 7)", "column tag is "),
			stats("foreign key added",
				"(guid INTEGER NOT NULL PRIMARY KEY REFERENCES chars (guid), "+
					"tag VARCHAR(9) NOT NULL DEFAULT 'x', hp INT NOT NULL DEFAULT 7)", "foreign key guid → chars.guid added"),
			stats("strict",
				"(guid INTEGER NOT NULL PRIMARY KEY, tag TEXT NOT NULL DEFAULT 'x', hp INTEGER NOT NULL DEFAULT 7) STRICT",
				"column tag is "))
	}
	alter := func(name, table, do, back, want string) alteration {
		return alteration{name, one("ALTER TABLE " + table + " " + do), one("ALTER TABLE " + table + " " + back), want}
	}
	const hp = "MODIFY hp INTEGER NOT NULL DEFAULT 7"
	return append(both,
		// To elsewhere: gone from here, but not for good.
		alteration{"table dropped", one("RENAME TABLE stats TO " + elsewhere + ".stats"), one("RENAME TABLE " + elsewhere +
			".stats TO {here}.stats"), "table stats missing"},
		alteration{"same table dropped", one("RENAME TABLE conf TO " + elsewhere + ".conf"), one("RENAME TABLE " + elsewhere +
			".conf TO {here}.conf"), "table conf missing"},
		alter("unique dropped", "chars", "DROP INDEX named", "ADD CONSTRAINT named UNIQUE (name)",
			"table chars: unique name missing"),
		alter("unique renamed", "chars", "RENAME INDEX named TO called", "RENAME INDEX called TO named",
			"table chars: its keys"),
		alter("check dropped", "chars", "DROP CONSTRAINT some", "ADD CONSTRAINT some CHECK (name <> '')",
			"table chars: CHECK"),
		alter("foreign key dropped", "items", "DROP FOREIGN KEY owned",
			"ADD CONSTRAINT owned FOREIGN KEY (owner) REFERENCES chars (guid)",
			"table items: foreign key owner → chars.guid missing"),
		alter("counter dropped", "items", "MODIFY id INTEGER NOT NULL", "MODIFY id INTEGER NOT NULL AUTO_INCREMENT",
			"table items: column id is int"),
		alter("counter added", "stats", "MODIFY guid INTEGER NOT NULL AUTO_INCREMENT", "MODIFY guid INTEGER NOT NULL",
			"table stats: column guid is int"),
		alter("column retyped", "stats", "MODIFY hp SMALLINT NOT NULL DEFAULT 7", hp, "table stats: column hp is smallint"),
		alter("columns in another order", "stats", hp+" AFTER guid", hp+" AFTER tag",
			"table stats: columns in another order"),
		alter("key dropped", "stats", "DROP PRIMARY KEY", "ADD PRIMARY KEY (guid)", "table stats: primary key guid missing"),
		alter("NULL allowed", "stats", "MODIFY hp INTEGER NULL DEFAULT 7", hp, "table stats: column hp is int"),
		alter("check added", "stats", "ADD CONSTRAINT few CHECK (hp < 9)", "DROP CONSTRAINT few", "table stats: CHECK"),
		alter("another default", "stats", "ALTER hp SET DEFAULT 8", "ALTER hp SET DEFAULT 7",
			"table stats: column hp is int"),
		alter("another collation", "stats", "MODIFY tag VARCHAR(9) CHARACTER SET latin1 NOT NULL DEFAULT 'x'",
			"MODIFY tag VARCHAR(9) CHARACTER SET utf8mb4 NOT NULL DEFAULT 'x'", "table stats: column tag is "),
		alter("foreign key added", "stats", "ADD CONSTRAINT belongs FOREIGN KEY (guid) REFERENCES chars (guid)",
			"DROP FOREIGN KEY belongs", "table stats: foreign key guid → chars.guid added"),
		alter("another engine", "stats", "ENGINE=MyISAM", "ENGINE=InnoDB", "table stats: storage"),
		alter("partitions", "stats", "PARTITION BY HASH (guid) PARTITIONS 2", "REMOVE PARTITIONING", "table stats: storage"))
}

// alteredWorlds are worlds in front of a step of a merge, and the step. The last of all is the new database.
type alteredWorlds struct {
	name string
	all  []world.Database
	plan *plan.Plan
	run  func(p *plan.Plan, into world.Database, worlds []world.Database) error
	says func(p *plan.Plan, into world.Database, worlds []world.Database) error // read only commands, which never refuse
}

func worldsToAlter(t *testing.T, e worldtest.Engine) (steps []alteredWorlds) {
	t.Helper()
	type work = func(p *plan.Plan, into world.Database, worlds []world.Database) error
	applying := func(h job.Hooks) work {
		return func(p *plan.Plan, into world.Database, worlds []world.Database) error {
			_, err := build.ApplyWith(t.Context(), p, into, worlds, job.Options{Parallel: 1}, h)
			return err
		}
	}
	verify := func(p *plan.Plan, into world.Database, worlds []world.Database) error {
		proof, err := prove.Verify(t.Context(), p, into, worlds, job.Options{Parallel: 1})
		if err == nil && proof.Verdict != verdict.Pass {
			err = fmt.Errorf("verify says %s: %+v", proof.Verdict, proof)
		}
		return err
	}
	for _, s := range []struct {
		name                string
		before, interrupted work
		step                work
	}{
		{"apply", nil, nil, applying(job.Hooks{})},
		{"resumed apply", nil, applying(worldtest.KilledAt("before commit", 9)), applying(job.Hooks{})},
		{"verify", applying(job.Hooks{}), nil, verify},
	} {
		worlds := alterable(t, e)
		p, into := worldtest.PlanOf(t, e, worlds, alterableOptions())
		if s.before != nil {
			if err := s.before(p, into, worlds); err != nil {
				t.Fatal(err)
			}
		}
		if s.interrupted != nil {
			if err := s.interrupted(p, into, worlds); !errors.Is(err, worldtest.ErrKilled) {
				t.Fatalf("%s: %v", s.name, err)
			}
		}
		steps = append(steps, alteredWorlds{s.name, append(worlds, into), p, s.step, func(p *plan.Plan, into world.Database, worlds []world.Database) error {
			_, err := build.LookUp(t.Context(), p, into, worlds)
			if s.name == "apply" { // else nothing is recorded
				return err
			}
			_, lost := record.RecordedPlan(t.Context(), into, p.ID)
			if err = errors.Join(err, lost); s.before != nil { // else the keys may not be recorded yet
				_, unknown := record.Whois(t.Context(), into, "chars", keys.Integer{Bits: 1003})
				err = errors.Join(err, unknown)
			}
			return err
		}})
	}
	return steps
}

// If tables of a world are altered between the plan and a step, the step is refused, changes nothing,
// and says in which database and what. What the merge does not care for does not block it. What only
// reads the record still does. What is altered in the new database is found by verify.
func TestAlteredSincePlan(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		elsewhere := ""
		if e.Name != "sqlite" {
			elsewhere = worldtest.ReadCell(t, worldtest.Pool(t, e.Fresh(t, "elsewhere")), "SELECT DATABASE()")[0][0]
		}
		all, count := alterations(e, elsewhere), 0
		for number, step := range worldsToAlter(t, e) {
			var harmless []alteration
			for i, a := range all {
				for place, d := range step.all {
					made := place == len(step.all)-1
					if made && step.name != "verify" {
						continue // it is not there, or has not all its tables
					}
					touches := func(t plan.Table) bool {
						return strings.HasPrefix(a.want, "table "+t.Name) && t.Worlds[place].Rows > 0
					}
					more := strings.HasPrefix(a.want, "table rich") || strings.HasPrefix(a.want, "table conf") // a table more; one that is the same in all
					if !made && place > 0 && step.name == "verify" && !more && !slices.ContainsFunc(step.plan.Tables, touches) {
						a.want = "" // no rows came from it
					}
					if !*worldtest.Long && int64(i+place+number)%(24/e.Short(12)) != 0 && (a.want != "" || made) {
						continue // each in a few steps
					}
					if a.want == "" && !made {
						if place > 0 { // all of the first world is made in the new database
							harmless = append(harmless, a)
						}
						continue
					}
					count++
					t.Run(fmt.Sprintf("%s/%s/%s", step.name, d.Name, a.name), func(t *testing.T) {
						dbs := step.all
						if e.Name == "sqlite" {
							dbs = nil
							for _, d := range step.all {
								if there, err := worldtest.ExistsNow(t.Context(), d); err != nil || !there {
									dbs = append(dbs, e.Fresh(t, d.Name))
								} else {
									dbs = append(dbs, worldtest.Clone(t, e, d))
								}
							}
						}
						worlds, into := dbs[:len(dbs)-1], dbs[len(dbs)-1]
						worldtest.Exec(t, dbs[place], a.do...)
						dumps := func() (all []string) {
							for _, d := range dbs {
								if there, err := worldtest.ExistsNow(t.Context(), d); err != nil || !there {
									all = append(all, fmt.Sprint(there, err))
								} else {
									all = append(all, worldtest.Dump(t, d))
								}
							}
							return all
						}
						before := dumps()
						err := step.run(step.plan, into, worlds)
						refused, _ := errors.AsType[*record.RefusedError](err)
						switch {
						case made && err == nil:
							t.Error("verify says PASS")
						case made:
						case refused == nil:
							t.Errorf("not refused: %v", err)
						case len(refused.Refusals) != 1:
							t.Errorf("want one reason: %v", err)
						case strings.Contains(err.Error(), fmt.Sprintf("database %q: it has no table %q any more", d.Name, strings.Fields(a.want)[1])):
						case !strings.Contains(err.Error(), fmt.Sprintf("database %q: ", d.Name)) || !strings.Contains(err.Error(),
							a.want):
							t.Errorf("%v\nwant %q of %q", err, a.want, d.Name)
						}
						if err := step.says(step.plan, into, worlds); err != nil {
							t.Errorf("a command that reads the record: %v", err)
						}
						if !slices.Equal(before, dumps()) {
							t.Error("something was changed")
						}
						if e.Name != "sqlite" {
							here := worldtest.Rows(t, d, "SELECT DATABASE()")[0][0]
							worldtest.Exec(t, d, strings.Split(strings.ReplaceAll(strings.Join(a.back, ";"), "{here}", here), ";")...)
						}
					})
				}
			}
			worlds, into := step.all[:len(step.all)-1], step.all[len(step.all)-1]
			for _, table := range step.plan.Tables { // a column that was altered back has lost its counter
				if c := table.Counter; c != nil && step.name == "verify" && e.Name != "sqlite" {
					worldtest.Exec(t, into, fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", table.Name, c.After))
				}
			}
			for _, a := range harmless {
				worldtest.Exec(t, worlds[1], a.do...)
			}
			if err := step.run(step.plan, into, worlds); err != nil {
				t.Errorf("%s: %v", step.name, err)
			}
		}
		t.Logf("%d alterations", cmp.Or(count, -1))
	})
}

// A new database is not dropped while a world has lost a table with rows, and it is whatever else was
// altered in the worlds.
func TestAlteredBeforeUndo(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := alterable(t, e)
	p, into := worldtest.MergeOf(t, e, all, alterableOptions())
	for _, d := range all {
		worldtest.Exec(t, d, "ALTER TABLE stats RENAME TO states")
		for _, force := range []bool{false, true} {
			_, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: force})
			worldtest.RefusedBecause(t, d.Name, fmt.Sprintf("database %q: it has no table \"stats\" any more", d.Name), err)
		}
		worldtest.Exec(t, d, "ALTER TABLE states RENAME TO stats")
	}
	for _, d := range all {
		worldtest.Exec(t, d, "ALTER TABLE stats DROP COLUMN hp", "ALTER TABLE chars ADD COLUMN extra INTEGER")
	}
	if undone, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true}); err != nil || !undone.Dropped {
		t.Errorf("%+v, %v", undone, err)
	}
	gone := []world.Database{all[0], e.Fresh(t, all[1].Name)}
	for _, force := range []bool{false, true} {
		_, err := build.Undo(t.Context(), p, into, gone, build.UndoOptions{Force: force})
		if want := fmt.Sprintf("there is nothing to undo; if you restore %s, run undo again", all[1].Name); !errors.Is(err, record.ErrNoMerge) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// What is to be undone without a record, only the fences of all worlds can say, if one of them has one.
func TestUndoWithoutRecordAndWorld(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
		p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
		lost, gone := e.Fresh(t, into.Name), []world.Database{all[0], e.Fresh(t, all[1].Name)}
		for _, force := range []bool{false, true} {
			_, err := build.Undo(t.Context(), p, lost, gone, build.UndoOptions{Force: force})
			what := "its registry lists no server any more"
			if e.Name == "sqlite" {
				what = "there is no such database any more"
			}
			worldtest.RefusedBecause(t, "undo", fmt.Sprintf("database %q: %s, and its fence is gone with it", all[1].Name, what), err)
		}
	})
}

// If tables are altered while a step runs, it does not end as if they had not been.
func TestAlteredMeanwhile(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		for place := range 2 {
			if place == 0 && e.Name != "sqlite" {
				continue // all databases are looked at in one way
			}
			all := alterable(t, e)
			p, into := worldtest.PlanOf(t, e, all, alterableOptions())
			meanwhile := func(point string, n int, statement string) job.Hooks {
				return job.Hooks{Batch: time.Nanosecond, Fail: func(at string) error {
					if at == point {
						if n--; n == 0 {
							worldtest.Exec(t, all[place], statement)
						}
					}
					return nil
				}}
			}
			const schema = "the schema of its tables has changed since the plan was made: table stats: column extra added"
			want := fmt.Sprintf("database %q: %s", all[place].Name, schema)
			const do, back = "ALTER TABLE stats ADD COLUMN extra INTEGER", "ALTER TABLE stats DROP COLUMN extra"
			_, err := build.ApplyWith(t.Context(), p, into, all, job.Options{Parallel: 1}, meanwhile("before begin", 9, do))
			if _, refused := errors.AsType[*record.RefusedError](err); !refused || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), ": alter them back") {
				t.Errorf("apply: %v, want %s", err, want)
			}
			worldtest.Exec(t, all[place], back)
			worldtest.MustApply(t, p, into, all)
			if e.Name == "sqlite" { // whose file is not to change at all
				want = "the file was changed while it was read"
			}
			proof, err := prove.VerifyWith(t.Context(), p, into, all, job.Options{Parallel: 1}, meanwhile("read", 9, do))
			if err == nil || proof.Verdict != "" || !strings.Contains(err.Error(), want) {
				t.Errorf("verify: %+v, %v, want %s", proof, err, want)
			}
			worldtest.Exec(t, all[place], back)
			if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass {
				t.Errorf("%+v", proof)
			}
		}
	})
}

// A table that others make in the new database while tables are made is said to be theirs; without it, apply goes on.
func TestStrangerMeanwhile(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := alterable(t, e)
	p, into := worldtest.PlanOf(t, e, all, alterableOptions())
	made := false
	_, err := build.ApplyWith(t.Context(), p, into, all, job.Options{Parallel: 1, RetryFor: -1}, job.Hooks{Fail: func(point string) error {
		if point == "after create" && !made {
			made = true
			worldtest.Exec(t, into, "CREATE TABLE strangers (id INTEGER)")
		}
		return nil
	}})
	if !made {
		t.Fatal("nothing was made")
	}
	if err == nil || !strings.Contains(err.Error(), "others change the new database while the merge makes it: table strangers: drop what is theirs") {
		t.Errorf("got %v", err)
	}
	worldtest.Exec(t, into, "DROP TABLE strangers")
	worldtest.MustApply(t, p, into, all)
	worldtest.Proved(t, p, into, all)
}

// A table of ours that is dropped while it is brought is named, rather than asked for without a column.
func TestRecordsWithoutTable(t *testing.T) {
	c := &world.Connection{Database: worldtest.ManyRows(t, worldtest.OnSQLite(t), "s1", 1, 1)}
	defer c.Close()
	if _, err := build.Records(t.Context(), c, "mergesafe_schema"); err == nil || !strings.Contains(err.Error(), `database "s1" has no table "mergesafe_schema" any more`) {
		t.Error(err)
	}
}
