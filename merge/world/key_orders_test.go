package world_test

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

// By default, a server sorts by the first 1024 bytes only, if it does not read the rows in the order of an index.
func TestLongKeyBesideClusteredOne(t *testing.T) {
	e := worldtest.Engines()[1]
	of := keyType{values: valuesOf(300, func(i int) string { return fmt.Sprintf("CONCAT(REPEAT('x', 1500), %d)", i) })}
	const create = "CREATE TABLE t (v INT, id INT NOT NULL, a INT NOT NULL, x VARBINARY(1600) NOT NULL, " +
		"UNIQUE KEY stored_by (id), UNIQUE KEY first (x, id))"
	tables := []typedTable{{of, "t", "x, id", create}}
	all, oracle := typedWorlds(t, e, tables, 100, 2500)
	typedMerge(t, e, tables, typedOptions(e), all, oracle)
}

// What is not in the list of an ENUM is kept with the number 0, and reads like its empty member.
func TestEnumWithoutMemberInKey(t *testing.T) {
	e := worldtest.Engines()[1]
	for wrong := range 2 {
		all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
		for i, d := range all {
			worldtest.Exec(t, d, "CREATE TABLE t (e ENUM('a', '') NOT NULL, id INT NOT NULL, PRIMARY KEY (e, id))",
				fmt.Sprintf("INSERT INTO t VALUES ('', %d), ('a', %[1]d)", i))
		}
		worldtest.Exec(t, all[wrong], "INSERT IGNORE INTO t VALUES ('c', 7)")
		p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}})
		worldtest.RefusedFor(t, p, err, all[wrong], "find such rows with e = 0")
		worldtest.Exec(t, all[wrong], "UPDATE t SET e = 'a' WHERE e = 0")
		worldtest.MergedAndBack(t, e, all, planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}})
	}
}

// SQLite lets NULL into a primary key, and such rows have no key.
func TestNullInKey(t *testing.T) {
	e := worldtest.Engines()[0]
	for _, key := range []string{"TEXT PRIMARY KEY", "TEXT, PRIMARY KEY (x, v)"} {
		for wrong := range 2 {
			all := []world.Database{e.Fresh(t, fmt.Sprint(wrong, len(key), "s1")), e.Fresh(t, fmt.Sprint(wrong, len(key), "s2"))}
			for i, d := range all {
				worldtest.Exec(t, d, "CREATE TABLE t (v INTEGER NOT NULL, x "+key+")",
					fmt.Sprintf("INSERT INTO t (v, x) VALUES (%d, 'a%[1]d'), (5, 'b%[1]d')", i))
			}
			worldtest.Exec(t, all[wrong], "INSERT INTO t (v, x) VALUES (3, NULL), (3, NULL)")
			options := planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing, Allow: []string{verdict.CodeKeyCollision}}}
			p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, options)
			if err != nil || len(p.Refusals) != 1 || p.Refusals[0].Code != verdict.CodeTableUncopyable ||
				!strings.Contains(p.Refusals[0].Reason, "in "+all[wrong].Name+" find them with x IS NULL") {
				t.Fatalf("%v, %v", p.Refusals, err)
			}
			worldtest.Exec(t, all[wrong], "DELETE FROM t WHERE x IS NULL")
			worldtest.MergedAndBack(t, e, all, options)
		}
	}
}

// Pages that do not advance are an error.
func TestPagesThatComeAgain(t *testing.T) {
	d := worldtest.Engines()[0].Fresh(t, "s1")
	worldtest.Exec(t, d, "CREATE TABLE t (id INTEGER PRIMARY KEY, before INTEGER)",
		"INSERT INTO t WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 200) "+
			"SELECT i, CASE i WHEN 100 THEN 50 ELSE i END FROM n")
	s := worldtest.OpenWorld(t, d)
	l := world.NewLayout(s.Dialect, s.Table("t"))
	l.Reads[0] = l.Reads[1] // reads another key than it sorts and compares
	_, err := world.Contents(t.Context(), s.On, l, nil, func(int) error { return nil })
	_, short := contentsOf(t, s, l, 10)
	if err != nil || short == nil || !strings.Contains(short.Error(), "after row 70 come rows that were read before it") {
		t.Errorf("%v, %v", err, short)
	}
}

// contentsOf counts rows that are read page by page.
func contentsOf(t *testing.T, s *world.World, l *world.Layout, size int) (rows int, err error) {
	next, stop := world.Pages(t.Context(), s.On, l, nil, func() int { return size }, world.All, false)
	defer stop()
	for {
		p, err := next()
		if err != nil || p.Last {
			return rows, err
		}
		rows += len(p.Rows)
	}
}

// Rows with the same key are found, and combined, whatever type the key has: as SQL finds and combines them.
func TestKeyTypesShared(t *testing.T) {
	worldtest.OnEvery(t, func(t *testing.T, e worldtest.Engine) {
		types, both := sqliteKeyTypes(), 0
		if e.Name != "sqlite" {
			types, both = mysqlKeyTypes(servertest.OnMariaDB(t))
		}
		var some []typedTable
		for i, of := range types {
			tables := typedTables(i, of, "")
			if *worldtest.Long {
				t.Run(fmt.Sprintf("%.20q", of.column), func(t *testing.T) { combineTyped(t, e, tables, 900) })
			} else if (world.NewNumbering(of.column) != nil || i%9 == 0) && (i >= both || servertest.OnMariaDB(t) == (i%2 == 0)) {
				some = append(some, tables[i%4])
			}
		}
		if !*worldtest.Long {
			combineTyped(t, e, some, 90)
		}
	})
}

// combineTyped merges two worlds of which each has rows with keys that the other one has too.
func combineTyped(t *testing.T, e worldtest.Engine, tables []typedTable, rows int) {
	t.Helper()
	all, oracle := typedWorlds(t, e, tables, rows, rows)
	var names []string
	common := make(map[string]int64)
	for _, k := range tables {
		from := "w0"
		run := []string{"ATTACH '" + strings.TrimPrefix(all[0].DSN, "sqlite:") + "' AS w0"}
		if e.Name != "sqlite" {
			from, run = worldtest.Database(all[0]), []string{"SET SESSION sql_mode = 'ALLOW_INVALID_DATES'"}
		}
		worldtest.Exec(t, oracle, "UPDATE "+k.name+" SET v = 2 * v WHERE id % 6 = 0") // those of the first world have a multiple of 3
		run = append(run, fmt.Sprintf("INSERT INTO %s SELECT * FROM %s.%[1]s AS f WHERE f.id %% 2 = 0", k.name, from))
		worldtest.Exec(t, all[1], run...)
		names, common[k.name] = append(names, k.name), worldtest.Number(t, all[0], "SELECT COUNT(*) FROM "+k.name+" WHERE id % 2 = 0")
	}
	options := typedOptions(e)
	options.Report = func(r *verdict.Report) {
		for _, r := range r.Results {
			switch {
			case r.Code != verdict.CodeKeyCollision:
			case r.Verdict == verdict.NotVerified:
				common[r.Table] = 0 // it says that it did not compare them
			default:
				common[r.Table] -= r.Count
			}
		}
	}
	if _, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, options); err != nil {
		t.Fatal(err)
	}
	for _, k := range tables {
		if common[k.name] != 0 {
			t.Errorf("%s: %d more keys are in both databases than were found", k.create, common[k.name])
		}
	}
	options.Report = nil
	sum := map[string]string{"v": "sum"}
	options.Check.Tables = []rules.TablePolicy{{Tables: names, Policy: rules.PolicyCombine, Columns: sum}}
	typedMerge(t, e, tables, options, all, oracle)
}
