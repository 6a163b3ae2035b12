package world

import (
	order "cmp"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// A check of real databases finds, to the last sample, what it finds in
// databases in memory that hold the same rows.
func TestCheckAgreesWithMemory(t *testing.T) {
	t.Parallel()
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			worlds := []*world{e.world(t), e.world(t), e.world(t)}
			for _, w := range worlds {
				// References are declared and not enforced, so that some can dangle.
				w.exec(t, "CREATE TABLE players (id "+e.blob+" NOT NULL PRIMARY KEY, name "+nameType(e)+" NOT NULL UNIQUE)",
					"CREATE TABLE items (id "+e.blob+" NOT NULL PRIMARY KEY, owner "+e.blob+", n BIGINT, slot "+nameType(e)+", "+
						"UNIQUE (n, slot), CONSTRAINT o FOREIGN KEY (owner) REFERENCES players (id))",
					"CREATE TABLE scores (n BIGINT NOT NULL, name "+nameType(e)+" NOT NULL, PRIMARY KEY (name, n))")
			}
			found := make(map[string]int64)
			for seed := range servertest.Scale(map[bool]int{true: 16, false: 6}[e.name == "sqlite"], 40) {
				for _, r := range agree(t, worlds, seed).Results {
					found[r.Code] += r.Count
				}
			}
			for _, code := range []string{verdict.CodeKeyCollision, verdict.CodeUniqueCollision, verdict.CodeReferenceDangle, verdict.CodeReferenceRebind} {
				if found[code] == 0 {
					t.Errorf("the rows had nothing for %s to find", code)
				}
			}
		})
	}
}

func agree(t *testing.T, worlds []*world, seed int) *verdict.Report {
	t.Helper()
	var real, memory []catalog.Source
	for i, w := range worlds {
		rows := rapid.Custom(drawRows).Example(len(worlds)*seed + i)
		inOrderOfKeys(rows)
		w.replace(t, rows)
		s, err := Open(t.Context(), fmt.Sprint("w", i), w.dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		c, err := s.Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		real = append(real, s)
		memory = append(memory, &mergetest.Database{Label: s.Name(), Schema: folded(c), Rows: rows})
	}
	first := seed % len(worlds)
	real[0], real[first] = real[first], real[0]
	memory[0], memory[first] = memory[first], memory[0]
	options := rules.Options{Now: time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC)}
	got, err := mergeCheck(t.Context(), real, options)
	if err != nil {
		t.Fatal(err)
	}
	want, err := mergeCheck(t.Context(), memory, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*verdict.Report{want, got} {
		for _, result := range r.Results {
			for i := range result.Samples {
				if result.Open != nil { // several rows may have the key that is named
					result.Samples[i].Rows = result.Samples[i].Rows[:1]
				}
			}
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(verdict.Report{}, "Started", "Finished")); diff != "" {
		t.Errorf("seed %d: in memory and for real (-memory +real):\n%s", seed, diff)
	}
	return got
}

func nameType(e engine) string {
	if e.name == "sqlite" {
		return "TEXT COLLATE NOCASE"
	}
	return "VARCHAR(20) COLLATE utf8mb4_general_ci"
}

// folded is a catalogue with the collation that a database in memory knows.
// For letters from A to Z the two are the same.
func folded(c *catalog.Catalog) catalog.Catalog {
	out := *c
	out.Tables = nil
	for _, t := range c.Tables {
		columns := append([]catalog.Column(nil), t.Columns...)
		for i := range columns {
			if columns[i].Collation != "" {
				columns[i].Collation = mergetest.NoCase
			}
		}
		t.Columns = columns
		out.Tables = append(out.Tables, t)
	}
	return out
}

// drawRows draws rows of a small domain, so that many collide.
func drawRows(rt *rapid.T) map[string][]mergetest.Row {
	id := rapid.Custom(func(rt *rapid.T) gameid.ID {
		at := time.Date(2025, 6, rapid.IntRange(1, 3).Draw(rt, "day"), 0, 0, 0, 0, time.UTC)
		id, err := gameid.Make(at, gameid.ServerID(rapid.IntRange(1, 3).Draw(rt, "server")), uint16(rapid.IntRange(0, 1).Draw(rt, "sequence")))
		if err != nil {
			panic(err)
		}
		return id
	})
	name := rapid.StringMatching("[a-cA-C]{1,2}")
	number := rapid.SampledFrom([]int64{-1 << 63, -1, 0, 7, 1<<63 - 1})
	maybe := func(rt *rapid.T, label string, v any) any {
		if rapid.IntRange(0, 4).Draw(rt, label+" is null") == 0 {
			return nil
		}
		return v
	}
	rows := make(map[string][]mergetest.Row)
	seen := make(map[string]bool) // what the database itself keeps unique
	add := func(table string, row mergetest.Row, keys ...string) {
		for _, k := range keys {
			if k = table + k; seen[k] {
				return
			}
		}
		for _, k := range keys {
			seen[table+k] = true
		}
		rows[table] = append(rows[table], row)
	}
	for range rapid.IntRange(0, 8).Draw(rt, "players") {
		i, n := id.Draw(rt, "id"), name.Draw(rt, "name")
		add("players", mergetest.Row{"id": i, "name": n}, i.String(), strings.ToLower(n))
	}
	for range rapid.IntRange(0, 8).Draw(rt, "items") {
		i := id.Draw(rt, "id")
		row := mergetest.Row{"id": i, "owner": maybe(rt, "owner", id.Draw(rt, "owner")),
			"n": maybe(rt, "n", number.Draw(rt, "n")), "slot": maybe(rt, "slot", name.Draw(rt, "slot"))}
		keys := []string{i.String()}
		if row["n"] != nil && row["slot"] != nil {
			keys = append(keys, strings.ToLower(fmt.Sprint(row["n"], row["slot"])))
		}
		add("items", row, keys...)
	}
	for range rapid.IntRange(0, 8).Draw(rt, "scores") {
		n, s := number.Draw(rt, "n"), name.Draw(rt, "name")
		add("scores", mergetest.Row{"n": n, "name": s}, strings.ToLower(fmt.Sprint(n, s)))
	}
	return rows
}

// inOrderOfKeys sorts the rows by their primary keys: those of equal values come in that order.
func inOrderOfKeys(rows map[string][]mergetest.Row) {
	for _, table := range []string{"players", "items"} {
		slices.SortFunc(rows[table], func(a, b mergetest.Row) int { return a["id"].(gameid.ID).Compare(b["id"].(gameid.ID)) })
	}
	slices.SortFunc(rows["scores"], func(a, b mergetest.Row) int {
		if c := strings.Compare(strings.ToLower(a["name"].(string)), strings.ToLower(b["name"].(string))); c != 0 {
			return c
		}
		return order.Compare(a["n"].(int64), b["n"].(int64))
	})
}

// replace makes rows the rows of the world.
func (w *world) replace(t *testing.T, rows map[string][]mergetest.Row) {
	t.Helper()
	conn, err := w.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if strings.HasPrefix(w.dsn, "mysql:") {
		mustExec(t, conn, "SET foreign_key_checks = 0")
	}
	for _, table := range []string{"items", "players", "scores"} {
		mustExec(t, conn, "DELETE FROM "+table)
		for _, row := range rows[table] {
			var names, marks []string
			var args []any
			for name, value := range row {
				names, marks, args = append(names, name), append(marks, "?"), append(args, value)
			}
			mustExec(t, conn, "INSERT INTO "+table+" ("+strings.Join(names, ", ")+") VALUES ("+strings.Join(marks, ", ")+")", args...)
		}
	}
}

func mustExec(t *testing.T, conn *sql.Conn, statement string, args ...any) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
