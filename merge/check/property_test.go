package check_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mergesafe/gameid"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Worlds with servers of their own never stand against each other, however
// many there are, and whatever is in them.
func TestDisjointServersPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "sources")
		servers := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) gameid.ServerID {
			return gameid.ServerID(rapid.Uint32Range(1, uint32(gameid.MaxServer)).Draw(t, "server"))
		}), 2*n, 2*n, rapid.ID[gameid.ServerID]).Draw(t, "servers")
		var dbs []*mergetest.Database
		for i := range n {
			own, merged := servers[2*i], servers[2*i+1]
			db := madeWorld(own)
			db.BatchRows = rapid.IntRange(1, 5).Draw(t, "batch")
			if rapid.Bool().Draw(t, "merged before") {
				db.Registry = append(db.Registry, catalog.Server{Server: merged, World: fmt.Sprint("world-", merged), Reserved: nowMillis()})
			} else {
				merged = own
			}
			var players []gameid.ID
			for j := range rapid.IntRange(0, 12).Draw(t, "players") {
				server := rapid.SampledFrom([]gameid.ServerID{own, merged}).Draw(t, "of")
				// Often the same time and sequence as elsewhere: only the server differs.
				p := idAt(server, nowMillis()-int64(rapid.IntRange(0, 3).Draw(t, "ms")), uint16(j))
				players = append(players, p)
				row := mergetest.Row{"id": p, "name": fmt.Sprintf("%s of %d", rapid.StringOfN(rapid.RuneFrom([]rune("aA0é火")), 0, 4, -1).Draw(t, "name"), own*100+gameid.ServerID(j)), "gold": int64(j)}
				if rapid.Bool().Draw(t, "has mail") {
					row["mail"] = fmt.Sprint(p)
				}
				db.Rows["players"] = append(db.Rows["players"], row)
				item := mergetest.Row{"id": idAt(server, 1+int64(j), 0), "count": int64(1)}
				if rapid.Bool().Draw(t, "owned") {
					item["owner"] = rapid.SampledFrom(players).Draw(t, "owner")
				}
				db.Rows["items"] = append(db.Rows["items"], item)
			}
			dbs = append(dbs, db)
		}
		report := checked(t, sources(dbs...), rules.Options{})
		if report.Verdict != verdict.Pass || report.ExitCode() != 0 {
			t.Fatalf("%s: %v", report.Verdict, findings(report))
		}
	})
}

// Whatever is wrong, exactly that is found: the same as by a slow and obvious
// look at everything.
func TestFindsWhatTheReferenceFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dbs := drawTrouble(t)
		opts := rules.Options{Clock: func() time.Time { return now }}
		report := checked(t, sources(dbs...), opts)
		want := reference(dbs)
		if diff := cmp.Diff(want, findings(report)); diff != "" {
			t.Fatalf("findings differ (-reference +Check):\n%s", diff)
		}
		consistent(t, report)
		again := checked(t, sources(dbs...), opts)
		if diff := cmp.Diff(report, again); diff != "" {
			t.Fatalf("a second check of the same databases differs:\n%s", diff)
		}
		if text := textOf(report); !strings.HasPrefix(text, string(report.Verdict)) {
			t.Fatalf("the text does not begin with the verdict:\n%s", text)
		}
	})
}

// consistent holds for every report.
func consistent(t *rapid.T, report *verdict.Report) {
	worst := verdict.Pass
	for _, r := range report.Results {
		want := verdict.Pass
		switch {
		case r.Count > 0:
			want = verdict.Fail
		case len(r.Gaps) > 0:
			want = verdict.NotVerified
		}
		if r.Verdict != want {
			t.Fatalf("%s with count %d and %d gaps, want %s: %+v", r.Verdict, r.Count, len(r.Gaps), want, r)
		}
		if worst != verdict.Fail && want != verdict.Pass {
			worst = want
		}
		if want != verdict.Pass && len(r.Next) == 0 {
			t.Fatalf("nothing to do next: %+v", r)
		}
		if int64(len(r.Samples)) > min(r.Count, rules.Samples) {
			t.Fatalf("%d samples of %d", len(r.Samples), r.Count)
		}
		for _, s := range r.Samples {
			if s.Key == "" || len(s.Rows) == 0 {
				t.Fatalf("a sample shows nothing: %+v", r)
			}
		}
		if r.Code == verdict.CodeKeyCollision || r.Code == verdict.CodeUniqueCollision {
			if r.Rows < 2*r.Count || r.Rows > r.Read {
				t.Fatalf("%d rows with %d keys of %d: %+v", r.Rows, r.Count, r.Read, r)
			}
			for _, s := range r.Samples {
				if len(s.Rows) < 2 {
					t.Fatalf("a collision with one row: %+v", s)
				}
			}
		}
	}
	if report.Verdict != worst {
		t.Fatalf("verdict %s, want %s", report.Verdict, worst)
	}
}

// drawTrouble draws databases from so few values that everything goes wrong.
func drawTrouble(t *rapid.T) []*mergetest.Database {
	var dbs []*mergetest.Database
	server := rapid.Custom(func(t *rapid.T) gameid.ServerID {
		return gameid.ServerID(rapid.IntRange(1, 5).Draw(t, "server"))
	})
	anID := rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 19).Draw(t, "kind") {
		case 0:
			return rapid.SampledFrom([][]byte{{}, {1}, make([]byte, 10), bytes.Repeat([]byte{1}, 11)}).Draw(t, "invalid")
		case 1:
			return idAt(server.Draw(t, "of"), nowMillis()+int64(rapid.SampledFrom([]time.Duration{rules.DefaultSlack, rules.DefaultSlack + time.Millisecond}).Draw(t, "ahead")/time.Millisecond), 0)
		default:
			return id(server.Draw(t, "of"), rapid.IntRange(0, 9).Draw(t, "n"))
		}
	})
	name := rapid.SampledFrom([]string{"", "ana", "Ana", "ANA", "anA", "bob", "Bob", "火", "é", "É"})
	for i := range rapid.IntRange(2, 4).Draw(t, "sources") {
		db := madeWorld(1)
		db.Label = fmt.Sprintf("db%d", i)
		db.BatchRows = rapid.IntRange(1, 5).Draw(t, "batch")
		db.Registry = nil
		if rapid.IntRange(0, 4).Draw(t, "registry") > 0 {
			db.Registry = []catalog.Server{}
			for _, s := range rapid.SliceOfNDistinct(server, 0, 3, rapid.ID[gameid.ServerID]).Draw(t, "listed") {
				db.Registry = append(db.Registry, catalog.Server{
					Server: s, World: rapid.SampledFrom([]string{"", "w1", "w2", "w3", "w4"}).Draw(t, "world"),
					Own:      rapid.Bool().Draw(t, "own"),
					Reserved: id(1, rapid.IntRange(0, 12).Draw(t, "mark")).Millis(),
				})
			}
		}
		if rapid.IntRange(0, 4).Draw(t, "no clock") == 0 {
			db.Schema.Now = time.Time{}
		}
		collation := rapid.SampledFrom([]string{mergetest.Binary, mergetest.NoCase}).Draw(t, "collation")
		for j := range db.Schema.Tables {
			for k := range db.Schema.Tables[j].Columns {
				if c := &db.Schema.Tables[j].Columns[k]; c.Name == "name" {
					c.Collation = collation
				}
			}
		}
		// insert keeps the keys and indexes that the database itself would.
		insert := func(table *catalog.Table, row mergetest.Row) {
			for _, columns := range append([][]string{table.Primary}, uniqueColumns(table)...) {
				for _, other := range db.Rows[table.Name] {
					if k := canonical(row, columns, table); k != "" && k == canonical(other, columns, table) {
						return
					}
				}
			}
			db.Rows[table.Name] = append(db.Rows[table.Name], row)
		}
		tables := db.Schema.Tables
		for range rapid.IntRange(0, 8).Draw(t, "rows") {
			row := mergetest.Row{"id": anID.Draw(t, "player"), "name": name.Draw(t, "name"), "gold": int64(1)}
			if rapid.Bool().Draw(t, "has mail") {
				row["mail"] = name.Draw(t, "mail")
			}
			insert(&tables[3], row)
			insert(&tables[0], mergetest.Row{"id": anID.Draw(t, "guild"), "name": name.Draw(t, "name"), "leader": anID.Draw(t, "leader")})
			insert(&tables[2], mergetest.Row{"guild": anID.Draw(t, "in"), "player": anID.Draw(t, "member")})
			row = mergetest.Row{"id": anID.Draw(t, "item"), "count": int64(1)}
			if rapid.Bool().Draw(t, "owned") {
				row["owner"] = anID.Draw(t, "owner")
			}
			insert(&tables[1], row)
		}
		if len(dbs) > 0 && rapid.IntRange(0, 5).Draw(t, "drop table") == 0 {
			db.Schema.Tables = slices.Delete(db.Schema.Tables, 1, 2)
			delete(db.Rows, "items")
		}
		dbs = append(dbs, db)
	}
	return dbs
}

func uniqueColumns(t *catalog.Table) (all [][]string) {
	for _, u := range t.Uniques {
		all = append(all, u.Columns)
	}
	return all
}

// canonical writes the values of some columns so that two rows are equal to a
// database with this table exactly when the texts are; "" with a NULL in it.
func canonical(row mergetest.Row, columns []string, model *catalog.Table) string {
	var b strings.Builder
	for _, name := range columns {
		switch v := row[name].(type) {
		case nil:
			return ""
		case gameid.ID:
			raw := v.Bytes()
			fmt.Fprintf(&b, "%x.", raw)
		case []byte:
			fmt.Fprintf(&b, "%x.", v)
		case string:
			for _, c := range model.Columns {
				if c.Name == name && c.Collation == mergetest.NoCase {
					v = strings.Map(func(r rune) rune {
						if 'A' <= r && r <= 'Z' {
							return r + 'a' - 'A'
						}
						return r
					}, v)
				}
			}
			fmt.Fprintf(&b, "%q.", v)
		default:
			fmt.Fprintf(&b, "%v.", v)
		}
	}
	return b.String()
}

// reference is a slow and obvious check of everything: of servers, schemas and IDs beside what the oracle looks at.
func reference(dbs []*mergetest.Database) map[string]int64 {
	o := oracle{dbs: dbs, found: make(map[string]int64), unclear: make(map[string]bool)}
	o.look()
	// Servers.
	for s := range gameid.ServerID(10) {
		worlds := make(map[string]bool)
		for _, db := range dbs {
			for _, r := range db.Registry {
				if r.Server == s && r.World != "" {
					worlds[r.World] = true
				}
			}
		}
		if len(worlds) > 1 {
			o.add(verdict.CodeServerConflict, "", "")
		}
	}
	for _, w := range []string{"w1", "w2", "w3", "w4"} {
		var holds, runs int
		for _, db := range dbs {
			h, r := 0, 0
			for _, s := range db.Registry {
				if s.World == w {
					h = 1
					if s.Own {
						r = 1
					}
				}
			}
			holds, runs = holds+h, runs+r
		}
		if holds > 1 && runs == 1 {
			o.add(verdict.CodeWorldMerged, "", "")
		} else if holds > 1 {
			o.add(verdict.CodeWorldCloned, "", "")
		}
	}

	for _, name := range []string{"guilds", "items", "members", "players"} {
		model := tableIn(dbs[0], name) // the first one has all
		// Schema.
		for _, db := range dbs {
			if t := tableIn(db, name); t == nil {
				o.add(verdict.CodeSchemaTable, name, "")
			} else if name == "players" || name == "guilds" {
				if t.Columns[1].Collation != model.Columns[1].Collation {
					o.add(verdict.CodeSchemaColumn, name, "name")
				}
			}
		}
		// IDs.
		var ids []string
		for _, c := range model.Columns {
			if c.IsID {
				ids = append(ids, c.Name)
			}
		}
		for _, column := range ids {
			for _, db := range dbs {
				for _, row := range db.Rows[name] {
					if row[column] == nil && !slices.Contains(model.Primary, column) {
						continue
					}
					raw, _ := row[column].([]byte)
					if v, ok := row[column].(gameid.ID); ok {
						b := v.Bytes()
						raw = b[:]
					}
					if len(raw) != 10 || binary.BigEndian.Uint64(raw)&uint64(gameid.MaxServer) == 0 {
						o.add(verdict.CodeIDInvalid, name, column)
						continue
					}
					v, _ := gameid.FromBytes(raw)
					if !db.Schema.Now.IsZero() && v.Time().After(now.Add(rules.DefaultSlack)) {
						o.add(verdict.CodeIDFuture, name, column)
					}
					i := slices.IndexFunc(db.Registry, func(s catalog.Server) bool { return s.Server == v.Server() })
					switch {
					case db.Registry == nil:
					case i < 0:
						o.add(verdict.CodeServerUnlisted, name, column)
					case v.Millis() > db.Registry[i].Reserved:
						o.add(verdict.CodeIDAboveMark, name, column)
					}
				}
			}
		}
	}
	return o.found
}
