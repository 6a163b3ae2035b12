package check_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Each fault alone, planted a known number of times, is found as exactly that
// and as nothing else.
func TestPlantedFaults(t *testing.T) {
	type found = map[string]int64
	for name, test := range map[string]struct {
		plant func(a, b *mergetest.Database)
		want  found
	}{
		"one server for two worlds": {
			func(a, b *mergetest.Database) { b.Registry[0].Server = 1; b.Rows = nil },
			found{"server-conflict||": 1},
		},
		"cloned world": {
			func(a, b *mergetest.Database) { b.Registry[0] = a.Registry[0]; b.Rows = nil },
			found{"world-cloned||": 1},
		},
		"world merged into both": {
			func(a, b *mergetest.Database) {
				merged := catalog.Server{Server: 9, World: "world-9"}
				a.Registry, b.Registry = append(a.Registry, merged), append(b.Registry, merged)
			},
			found{"world-cloned||": 1},
		},
		"world merged before": {
			func(a, b *mergetest.Database) {
				merged := b.Registry[0]
				merged.Own = false
				a.Registry = append(a.Registry, merged)
			},
			found{"world-merged||": 1},
		},
		"colliding keys": {
			func(a, b *mergetest.Database) {
				b.Registry = append(b.Registry, catalog.Server{Server: 1, World: "world-1", Reserved: nowMillis()})
				for n := range 4 {
					b.Rows["items"] = append(b.Rows["items"], mergetest.Row{"id": id(1, 100+n), "count": int64(9)})
				}
			},
			found{"key-collision|items|id": 4, "world-merged||": 1},
		},
		"server that is not listed": {
			func(a, b *mergetest.Database) {
				for n := range 6 {
					b.Rows["items"] = append(b.Rows["items"], mergetest.Row{"id": id(77+gameid.ServerID(n%2), n)})
				}
			},
			found{"server-unlisted|items|id": 6},
		},
		"registry restored": {
			func(a, b *mergetest.Database) { b.Registry[0].Reserved = id(2, 201).Millis() },
			found{"id-above-mark|items|id": 3, "id-above-mark|guilds|id": 1, "id-above-mark|members|guild": 2},
		},
		"IDs that are none": {
			func(a, b *mergetest.Database) {
				for _, v := range [][]byte{{}, {1}, make([]byte, 10), make([]byte, 11)} {
					a.Rows["items"] = append(a.Rows["items"], mergetest.Row{"id": v})
				}
			},
			found{"id-invalid|items|id": 4},
		},
		"IDs from the future": {
			func(a, b *mergetest.Database) {
				slack := rules.DefaultSlack.Milliseconds()
				a.Registry[0].Reserved = gameid.MaxMillis
				a.Rows["items"] = append(a.Rows["items"],
					mergetest.Row{"id": idAt(1, nowMillis()+slack, 0)}, // just not
					mergetest.Row{"id": idAt(1, nowMillis()+slack+1, 0)},
					mergetest.Row{"id": idAt(1, gameid.MaxMillis, 0)})
			},
			found{"id-future|items|id": 2},
		},
		"names in another case": {
			func(a, b *mergetest.Database) {
				for n := range 3 {
					a.Rows["players"][n]["name"] = fmt.Sprint("Ana", n)
					b.Rows["players"][n]["name"] = fmt.Sprint("aNA", n)
					a.Rows["players"][n]["mail"] = fmt.Sprint("Ana", n) // the mail is case-sensitive
					b.Rows["players"][n]["mail"] = fmt.Sprint("aNA", n)
				}
			},
			found{"unique-collision|players|name": 3},
		},
		"names that only the target takes for equal": {
			func(a, b *mergetest.Database) {
				b.Schema.Tables[3].Columns[1].Collation = mergetest.Binary
				b.Rows["players"][0]["name"], b.Rows["players"][1]["name"] = "Ana", "ANA"
			},
			found{"unique-collision|players|name": 1, "schema-column|players|name": 1},
		},
		"dangling": {
			func(a, b *mergetest.Database) {
				b.Rows["items"][0]["owner"] = id(2, 998)
				b.Rows["items"][1]["owner"] = id(2, 999)
			},
			found{"reference-dangling|items|owner → players.id": 2},
		},
		"rebinding": {
			func(a, b *mergetest.Database) {
				for n := range 4 {
					b.Rows["items"][n]["owner"] = id(1, n%2) // two each
				}
				b.Rows["items"][4]["owner"] = id(1, 999)
			},
			found{
				"reference-dangling|items|owner → players.id": 5, "reference-rebind|items|owner → players.id": 4,
				"server-unlisted|items|owner": 5,
			},
		},
		"reference that only a source declares": {
			func(a, b *mergetest.Database) {
				a.Schema.Tables[1].References = nil
				a.Rows["items"][0]["owner"] = id(1, 999)
			},
			found{"reference-dangling|items|owner → players.id": 1},
		},
		"references that differ": {
			func(a, b *mergetest.Database) {
				b.Schema.Tables[1].References = []catalog.Reference{{Columns: []string{"owner"}, ToTable: "guilds", ToColumns: []string{"id"}}}
				a.Rows["items"] = a.Rows["items"][:2]
				b.Rows["items"] = b.Rows["items"][:2]
			},
			found{"reference-dangling|items|owner → guilds.id": 2},
		},
		"reference by name": {
			func(a, b *mergetest.Database) {
				ref := catalog.Reference{Columns: []string{"mail"}, ToTable: "guilds", ToColumns: []string{"name"}}
				a.Schema.Tables[3].References = []catalog.Reference{ref}
				b.Rows["players"][0]["mail"] = "gUILD1" // s1's, as its collation compares
				b.Rows["players"][1]["mail"] = "gUILD2"
				b.Rows["players"][2]["mail"] = "Guild3"
			},
			found{"reference-dangling|players|mail → guilds.name": 2, "reference-rebind|players|mail → guilds.name": 1},
		},
		"other version": {
			func(a, b *mergetest.Database) { b.Schema.SchemaVersion = 0 },
			found{"schema-version||": 1},
		},
		"newer version": {
			func(a, b *mergetest.Database) { b.Schema.SchemaVersion++ },
			found{"schema-version||": 1},
		},
		"missing table": {
			func(a, b *mergetest.Database) { b.Schema.Tables = b.Schema.Tables[1:]; b.Rows["members"] = nil },
			found{"schema-table|guilds|": 1},
		},
		"table that the target has not": {
			func(a, b *mergetest.Database) {
				b.Schema.Tables = append(b.Schema.Tables, catalog.Table{
					Name: "pets", Primary: []string{"id"}, Columns: []catalog.Column{{Name: "id", Type: "BLOB", IsID: true}},
				})
				b.Rows["pets"] = []mergetest.Row{{"id": id(3, 1)}}
			},
			found{"schema-table|pets|": 1, "server-unlisted|pets|id": 1},
		},
		"missing column": {
			func(a, b *mergetest.Database) { b.Schema.Tables[3].Columns = b.Schema.Tables[3].Columns[:3] },
			found{"schema-column|players|gold": 1},
		},
		"other type": {
			func(a, b *mergetest.Database) { b.Schema.Tables[3].Columns[3].Type = "TINYINT" },
			found{"schema-column|players|gold": 1},
		},
		"nullable": {
			func(a, b *mergetest.Database) { b.Schema.Tables[3].Columns[3].Nullable = true },
			found{"schema-column|players|gold": 1},
		},
		"missing unique index": {
			func(a, b *mergetest.Database) { b.Schema.Tables[3].Uniques = b.Schema.Tables[3].Uniques[:1] },
			found{"schema-key|players|unique mail": 1},
		},
		"column that counts": {
			func(a, b *mergetest.Database) {
				b.Schema.Tables[3].AutoIncrement = &catalog.AutoIncrement{Column: "gold"}
			},
			found{"schema-column|players|gold": 1},
		},
		"generated column": {
			func(a, b *mergetest.Database) { b.Schema.Tables[3].Columns[3].Generated = "count * 2" },
			found{"schema-column|players|gold": 1},
		},
		"other default": {
			func(a, b *mergetest.Database) {
				ten := "10"
				b.Schema.Tables[3].Columns[3].Default = &ten
				b.Schema.Tables[3].Columns = append(b.Schema.Tables[3].Columns, catalog.Column{Name: "level", Default: &ten})
			},
			found{"schema-default|players|gold": 1, "schema-column|players|level": 1},
		},
		"other order": {
			func(a, b *mergetest.Database) {
				c := b.Schema.Tables[3].Columns
				c[2], c[3] = c[3], c[2]
				b.Schema.Tables[3].Columns = slices.Insert(c, 1, catalog.Column{Name: "level"}) // is no other order
			},
			found{"schema-order|players|": 1, "schema-column|players|level": 1},
		},
		"other engine": {
			func(a, b *mergetest.Database) {
				a.Schema.Tables[0].Engine, b.Schema.Tables[0].Engine = "InnoDB", "RocksDB"
				a.Schema.Tables[1].Engine, b.Schema.Tables[1].Engine = "InnoDB", "InnoDB"
			},
			found{"schema-storage|guilds|": 1},
		},
		"other partitions": {
			func(a, b *mergetest.Database) { b.Schema.Tables[0].Partitions = "HASH(id)" },
			found{"schema-storage|guilds|": 1},
		},
		"missing view": {
			func(a, b *mergetest.Database) {
				a.Schema.Views, b.Schema.Views = []string{"rich", "poor"}, []string{"rich", "old"}
			},
			found{"schema-view||poor": 1, "schema-view||old": 1},
		},
		"other primary key": {
			func(a, b *mergetest.Database) {
				b.Schema.Tables[2].Primary = []string{"guild"}
				b.Rows["members"] = nil
			},
			found{"schema-key|members|primary key (guild, player)": 1, "schema-key|members|primary key guild": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := settled(1), settled(2)
			test.plant(a, b)
			report := mustCheck(t, rules.Options{}, a, b)
			if diff := cmp.Diff(test.want, findings(report)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if report.Verdict != verdict.Fail || report.ExitCode() != 1 {
				t.Errorf("verdict %s, exit code %d", report.Verdict, report.ExitCode())
			}
		})
	}
}

// What cannot be looked at is NOT VERIFIED with its reason, never PASS.
func TestGaps(t *testing.T) {
	for name, test := range map[string]struct {
		plant func(b *mergetest.Database)
		want  map[string]string // reason by result
	}{
		"no registry": {
			func(b *mergetest.Database) { b.Registry = nil },
			map[string]string{
				"server-conflict||": "has no registry of server numbers", "world-cloned||": "has no registry of server numbers",
				"world-merged||": "has no registry of server numbers", "server-unlisted|items|id": "has no registry of server numbers",
				"id-above-mark|members|player": "has no registry of server numbers",
			},
		},
		"empty registry": {
			func(b *mergetest.Database) { b.Registry = []catalog.Server{}; b.Rows = nil },
			map[string]string{"server-conflict||": "its registry lists no server number"},
		},
		"no world": {
			func(b *mergetest.Database) { b.Registry[0].World = "" },
			map[string]string{
				"server-conflict||": "its registry does not say to which world server number 2 belongs",
				"world-cloned||":    "its registry does not say to which world server number 2 belongs",
				"world-merged||":    "its registry does not say to which world server number 2 belongs",
			},
		},
		"no clock": {
			func(b *mergetest.Database) { b.Schema.Now = time.Time{} },
			map[string]string{"id-future|items|id": "has no clock to compare IDs with"},
		},
		"NULL in a key": {
			func(b *mergetest.Database) {
				b.Rows["items"] = append(b.Rows["items"], mergetest.Row{"count": int64(1)}, mergetest.Row{"count": int64(2)})
			},
			map[string]string{"key-collision|items|id": "2 rows have NULL in the key"},
		},
		"skipped table": {
			func(b *mergetest.Database) {
				b.Schema.Skipped = []catalog.Skipped{{Table: "log", Reason: "MyISAM: not part of the snapshot"}}
			},
			map[string]string{"table-skipped|log|": "MyISAM: not part of the snapshot"},
		},
		"unreadable column": {
			func(b *mergetest.Database) { b.Schema.Tables[3].Columns[3].Opaque = "BLOB" },
			map[string]string{"column-opaque|players|gold": "BLOB"},
		},
		"scan that cannot compare": {
			func(b *mergetest.Database) {
				b.Intercept = func(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
					if scan.Table != "players" || scan.Dangling != nil || len(scan.Order) == 0 {
						return seq
					}
					return failAfter(seq, 2, &catalog.UnsupportedError{Table: "players", Column: scan.Order[0].Column, Reason: "no sorting form"})
				}
			},
			map[string]string{
				"key-collision|players|id":      `table "players", column "id": no sorting form`,
				"id-invalid|players|id":         `table "players", column "id": no sorting form`,
				"server-unlisted|players|id":    `table "players", column "id": no sorting form`,
				"unique-collision|players|name": `table "players", column "name": no sorting form`,
			},
		},
		"reference that cannot be followed": {
			func(b *mergetest.Database) {
				b.Rows["items"][0]["owner"] = id(2, 99) // of no player
				b.Intercept = func(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
					if scan.Dangling == nil || scan.Table != "items" {
						return seq
					}
					return failAfter(seq, 0, &catalog.UnsupportedError{Table: "items", Column: "owner", Reason: "no sorting form"})
				}
			},
			map[string]string{
				"reference-dangling|items|owner → players.id": `table "items", column "owner": no sorting form`,
				"reference-rebind|items|owner → players.id":   `table "items", column "owner": no sorting form`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := settled(1), settled(2)
			test.plant(b)
			report := mustCheck(t, rules.Options{}, a, b)
			if report.Verdict != verdict.NotVerified || report.ExitCode() != 3 {
				t.Errorf("verdict %s, exit code %d, findings %v", report.Verdict, report.ExitCode(), findings(report))
			}
			hasGaps(t, report, test.want, "s2")
		})
	}
	// The same where it concerns all of them.
	for name, test := range map[string]struct {
		plant func(b *mergetest.Database)
		want  map[string]string
	}{
		"no tables": {
			func(b *mergetest.Database) { b.Schema.Tables = nil },
			map[string]string{"schema-table||": "there is no table to check"},
		},
		"counter inside the key": {
			func(b *mergetest.Database) {
				number := func(name string) catalog.Column {
					return catalog.Column{Name: name, Type: "BIGINT", Kind: catalog.KindInteger}
				}
				b.Schema.Tables = append(b.Schema.Tables, catalog.Table{Name: "log", Columns: []catalog.Column{number("day"), number("n")},
					Primary: []string{"day", "n"}, AutoIncrement: &catalog.AutoIncrement{Column: "n"}})
			},
			map[string]string{"auto-increment|log|n": "the key does not begin with the counter"},
		},
		"unclear unique index": {
			func(b *mergetest.Database) { b.Schema.Tables[0].Uniques[0].Unclear = "it covers only some rows" },
			map[string]string{"unique-collision|guilds|name": "index guild_name: it covers only some rows"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := settled(1), settled(2)
			test.plant(a)
			test.plant(b)
			report := mustCheck(t, rules.Options{}, a, b)
			if report.Verdict != verdict.NotVerified {
				t.Errorf("verdict %s, findings %v", report.Verdict, findings(report))
			}
			hasGaps(t, report, test.want, "")
		})
	}
}

func hasGaps(t *testing.T, report *verdict.Report, want map[string]string, source string) {
	t.Helper()
	got := make(map[string][]verdict.Gap)
	for _, r := range report.Results {
		got[key(r.Code, r.Table, r.Subject)] = r.Gaps
	}
	for place, reason := range want {
		if diff := cmp.Diff([]verdict.Gap{{World: source, Reason: reason}}, got[place]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", place, diff)
		}
	}
}

// A source that cannot be compared must not take the findings about the others
// with it, nor leave half of them counted twice.
func TestGapBesideFindings(t *testing.T) {
	a, b, c := settled(1), settled(2), settled(3)
	b.Rows["players"][4]["name"] = "PLAYER1.4"
	c.Rows["players"][4]["name"] = "PLAYER1.4"
	c.Schema.Tables[3].Columns[1].Type = "BLOB"
	c.Schema.Tables[3].Columns[1].Collation = ""
	report := mustCheck(t, rules.Options{}, a, b, c)
	r := find(report, verdict.CodeUniqueCollision, "players", "name")[0]
	if r.Count != 1 || r.Rows != 2 || r.Read != 10 || r.Verdict != verdict.Fail {
		t.Errorf("got %+v, want 1 value in 2 of 10 rows", r)
	}
	want := []verdict.Gap{{World: "s3", Reason: "column name is BLOB, and TEXT in s1: the values cannot be compared"}}
	if diff := cmp.Diff(want, r.Gaps); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}

	// The same when it turns out at the end of the rows.
	c = settled(3)
	c.Intercept = func(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
		if scan.Table == "players" && scan.Order[0].Column == "id" {
			return failAfter(seq, 2, &catalog.UnsupportedError{Reason: "no"})
		}
		return seq
	}
	b.Rows["players"][0]["id"] = id(1, 0)
	report = mustCheck(t, rules.Options{}, a, b, c)
	r = find(report, verdict.CodeKeyCollision, "players", "id")[0]
	if r.Count != 1 || r.Rows != 2 || r.Read != 10 || len(r.Gaps) != 1 {
		t.Errorf("got %+v, want 1 key in 2 of 10 rows and 1 gap", r)
	}
	if r = find(report, verdict.CodeServerUnlisted, "players", "id")[0]; r.Count != 1 || r.Read != 10 || len(r.Gaps) != 1 {
		t.Errorf("got %+v, want 1 ID of 10 and 1 gap", r)
	}
}

// Databases without servers and IDs are judged by their keys alone.
func TestForeignSchema(t *testing.T) {
	plain := func(name string, keys ...int64) *mergetest.Database {
		db := &mergetest.Database{Label: name, Rows: make(map[string][]mergetest.Row)}
		db.Schema = catalog.Catalog{Engine: "memory", Now: now, Tables: []catalog.Table{{
			Name: "characters", Primary: []string{"guid"}, Columns: []catalog.Column{{Name: "guid", Type: "BIGINT", Kind: catalog.KindInteger}},
		}}}
		for _, k := range keys {
			db.Rows["characters"] = append(db.Rows["characters"], mergetest.Row{"guid": k})
		}
		return db
	}
	if report := mustCheck(t, rules.Options{}, plain("a", -5, 1, 2), plain("b", -4, 3, 1<<62)); report.Verdict != verdict.Pass {
		t.Errorf("disjoint: %s, %v", report.Verdict, report.Results)
	}
	report := mustCheck(t, rules.Options{}, plain("a", -5, 1, 2), plain("b", -5, 2, 3), plain("c", 2))
	r := find(report, verdict.CodeKeyCollision, "characters", "guid")[0]
	if r.Count != 2 || r.Rows != 5 {
		t.Errorf("got %d keys in %d rows, want 2 in 5", r.Count, r.Rows)
	}
	if len(find(report, verdict.CodeServerConflict, "", "")) > 0 {
		t.Error("servers were looked at where there are none")
	}

	// Keys of two types cannot be held against each other.
	other := plain("b", 2)
	other.Schema.Tables[0].Columns[0].Type, other.Schema.Tables[0].Columns[0].Kind = "INT", catalog.KindOther
	report = mustCheck(t, rules.Options{}, plain("a", 2), other)
	if r := find(report, verdict.CodeKeyCollision, "characters", "guid")[0]; r.Verdict != verdict.NotVerified || len(r.Gaps) != 1 ||
		r.Gaps[0].Reason != "column guid is INT, and BIGINT in a: the values cannot be compared" {
		t.Errorf("got %+v, want NOT VERIFIED", r)
	}

	// The largest key there is, while another source is at its end.
	report = mustCheck(t, rules.Options{}, plain("a", 1), plain("b", math.MaxInt64), plain("c", math.MaxInt64))
	if r := find(report, verdict.CodeKeyCollision, "characters", "guid")[0]; r.Count != 1 || r.Rows != 2 {
		t.Errorf("got %d keys in %d rows, want 1 in 2", r.Count, r.Rows)
	}

	// A NULL is equal to nothing, not even to what is empty or to NULL.
	texts := func(name string, keys ...any) *mergetest.Database {
		db := plain(name)
		db.Schema.Tables[0].Columns[0] = catalog.Column{Name: "guid", Type: "TEXT", Collation: mergetest.NoCase}
		for _, k := range keys {
			db.Rows["characters"] = append(db.Rows["characters"], mergetest.Row{"guid": k})
		}
		return db
	}
	report = mustCheck(t, rules.Options{}, texts("a", nil, nil, "a"), texts("b", nil, "", "b"))
	if r := find(report, verdict.CodeKeyCollision, "characters", "guid")[0]; r.Verdict != verdict.NotVerified || r.Read != 6 || len(r.Gaps) != 2 {
		t.Errorf("got %+v, want NOT VERIFIED for the NULLs alone", r)
	}
	report = mustCheck(t, rules.Options{}, texts("a", nil, "", "a"), texts("b", nil, "", "A"))
	if r := find(report, verdict.CodeKeyCollision, "characters", "guid")[0]; r.Count != 2 || r.Rows != 4 {
		t.Errorf("got %+v, want 2 keys in 4 rows", r)
	}
}

// A read that fails, at any point, gives an error that names source and table,
// and a report without a verdict.
func TestErrors(t *testing.T) {
	broken := errors.New("connection lost")
	for _, table := range []string{"guilds", "items", "members", "players"} {
		for scans := range 3 { // the first scan of the table, the second ...
			for batches := range 3 {
				seen, fired := 0, false
				b := settled(2)
				b.BatchRows = 1
				b.Rows["items"][0]["owner"] = id(2, 999) // so that there is a dangling row to stream
				b.Intercept = func(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
					if scan.Table != table {
						return seq
					}
					if seen++; seen != scans+1 {
						return seq
					}
					fired = true
					return failAfter(seq, batches, broken)
				}
				a := settled(1)
				report, err := merge.Check(context.Background(), sources(a, b), rules.Options{})
				if !fired {
					continue
				}
				if a.Busy() || b.Busy() {
					t.Errorf("%s, scan %d, batch %d: a scan was left open", table, scans, batches)
				}
				var read *catalog.ReadError
				if !errors.Is(err, broken) || !errors.As(err, &read) || read.World != "s2" || read.Table != table {
					t.Errorf("%s, scan %d, batch %d: error %v", table, scans, batches, err)
				}
				incomplete(t, report, `world "s2": table "`+table+`": reading rows: connection lost`)
			}
		}
	}

	b := settled(2)
	b.Rows["players"][0]["name"] = "player1.0"
	b.OnRow = func() error { return broken }
	report, err := merge.Check(context.Background(), sources(settled(1), b), rules.Options{})
	if !errors.Is(err, broken) {
		t.Errorf("row to show: error %v", err)
	}
	incomplete(t, report, `world "s2": table "players": reading a row: connection lost`)
}

// incomplete holds for the report of a check that did not come to its end: no
// verdict, the reason, and nothing but what a complete check says as well.
func incomplete(t *testing.T, r *verdict.Report, reason string) {
	t.Helper()
	if r == nil {
		t.Error("no report")
		return
	}
	if r.Verdict != "" || r.Incomplete != reason || r.ExitCode() != verdict.ExitIncomplete {
		t.Errorf("verdict %q, exit code %d, incomplete: %q, want %q", r.Verdict, r.ExitCode(), r.Incomplete, reason)
	}
	if text := textOf(r); !strings.HasPrefix(text, "INCOMPLETE") {
		t.Errorf("%.60s", text)
	}
}

// What was established before it came to an end is as exact as ever.
func TestIncompleteIsExact(t *testing.T) {
	full := mustCheck(t, rules.Options{}, faulty()...)
	want := make(map[string]verdict.Result)
	for _, r := range full.Results {
		want[key(r.Code, r.Table, r.Subject)] = r
	}
	seen := make(map[int]bool)
	for after := range 60 {
		dbs := faulty()
		n := 0
		dbs[1].Intercept = func(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
			return func(yield func(*catalog.Batch, error) bool) {
				for b, err := range seq {
					if n++; n > after {
						yield(nil, errors.New("connection lost"))
						return
					}
					if !yield(b, err) {
						return
					}
				}
			}
		}
		r, err := merge.Check(context.Background(), sources(dbs...), rules.Options{})
		if err == nil {
			break
		}
		seen[len(r.Results)] = true
		for _, got := range r.Results {
			if diff := cmp.Diff(want[key(got.Code, got.Table, got.Subject)], got); diff != "" {
				t.Fatalf("after %d batches (-complete +incomplete):\n%s", after, diff)
			}
		}
	}
	if len(seen) < 6 {
		t.Errorf("ended at %d different points only", len(seen))
	}
}

// failAfter ends a scan with an error after some batches.
func failAfter(seq iter.Seq2[*catalog.Batch, error], batches int, err error) iter.Seq2[*catalog.Batch, error] {
	return func(yield func(*catalog.Batch, error) bool) {
		n := 0
		for b, scanErr := range seq {
			if n == batches || scanErr != nil {
				break
			}
			n++
			if !yield(b, nil) {
				return
			}
		}
		yield(nil, err)
	}
}

// eachBatch has something done with each batch that a database sends.
func eachBatch(db *mergetest.Database, do func(catalog.Scan, *catalog.Batch)) {
	db.Intercept = func(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
		return func(yield func(*catalog.Batch, error) bool) {
			for b, err := range seq {
				if err == nil {
					do(scan, b)
				}
				if !yield(b, err) {
					return
				}
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	// Wherever it happens, and also if the source then ends as if it were done.
	for after := range 11 { // s2 has 11 batches in all scans together
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		var table string // where it happens
		b := settled(2)
		b.Intercept = func(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
			return func(yield func(*catalog.Batch, error) bool) {
				for b, err := range seq {
					if n++; n > after {
						cancel()
						table = scan.Table
						return
					}
					if !yield(b, err) {
						return
					}
				}
			}
		}
		report, err := merge.Check(ctx, sources(settled(1), b), rules.Options{})
		var read *catalog.ReadError
		if !errors.Is(err, context.Canceled) || !errors.As(err, &read) || read.World != "s2" || read.Table != table {
			t.Errorf("after %d batches: error %v", after, err)
		}
		incomplete(t, report, "interrupted")
		cancel()
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if report, err := merge.Check(ctx, sources(settled(1), settled(2)), rules.Options{}); report != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: report %v, error %v", report, err)
	}
}

// A source that contradicts itself is an error, not a finding.
func TestContradictions(t *testing.T) {
	change := func(table string, change func(*catalog.Batch)) func(*mergetest.Database) {
		return func(b *mergetest.Database) {
			eachBatch(b, func(scan catalog.Scan, b *catalog.Batch) {
				if scan.Table == table {
					change(b)
				}
			})
		}
	}
	unsorted := func(rows int) func(*mergetest.Database) {
		return func(b *mergetest.Database) {
			b.BatchRows = rows
			first := true
			change("items", func(b *catalog.Batch) {
				// A later key in the first row: only the border between rows shows it.
				if first {
					b.Order[0].Data[0] = 0xff
				}
				first = false
			})(b)
		}
	}
	for name, test := range map[string]struct {
		plant func(*mergetest.Database)
		want  string
	}{
		"unsorted within a batch":   {unsorted(3), `world "s2": table "items": reading rows: row 2 sorts before the row ahead of it`},
		"unsorted between batches":  {unsorted(1), "row 2 sorts before the row ahead of it"},
		"duplicate within a batch":  {func(b *mergetest.Database) { duplicate(b, 100) }, "row 8 has the same id as the row ahead of it"},
		"duplicate between batches": {func(b *mergetest.Database) { duplicate(b, 1) }, "row 8 has the same id as the row ahead of it"},
		"duplicate in a unique index": {
			func(b *mergetest.Database) { b.Rows["players"][0]["name"] = "PLAYER2.1" },
			`table "players": reading rows: row 2 has the same name as the row ahead of it`,
		},
		"malformed dangling": {func(b *mergetest.Database) {
			b.Rows["items"][0]["owner"] = id(2, 999)
			b.Intercept = func(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
				if scan.Dangling == nil {
					return seq
				}
				return func(yield func(*catalog.Batch, error) bool) {
					seq(func(b *catalog.Batch, err error) bool { b.Carry = nil; return yield(b, err) })
				}
			}
		}, `world "s2": table "items": reading rows: the source returned 1 and 0 columns`},
		"no batch":      {change("items", func(b *catalog.Batch) { *b = catalog.Batch{Len: -1} }), "returned no batch and no error"},
		"too few":       {change("items", func(b *catalog.Batch) { b.Len++ }), `malformed column "id"`},
		"missing order": {change("items", func(b *catalog.Batch) { b.Order = nil }), "returned 0 and 2 columns, want 1 to order by and 2 to carry"},
		"missing carry": {change("items", func(b *catalog.Batch) { b.Carry = nil }), "returned 1 and 0 columns"},
		"short carry":   {change("items", func(b *catalog.Batch) { b.Carry[0].Data = b.Carry[0].Data[1:] }), `malformed column "id"`},
		"bad ends": {change("players", func(b *catalog.Batch) {
			if v := &b.Order[0]; v.Width == 0 {
				v.Ends[0] = len(v.Data) + 1
			} else {
				v.Width, v.Ends = 0, []int{30, 20, 10}
			}
		}), `malformed column "id"`},
		"short nulls": {change("items", func(b *catalog.Batch) { b.Order[0].Null = []bool{} }), `malformed column "id"`},
		"NULL that was to be left out": {change("guilds", func(b *catalog.Batch) {
			if b.Order[0].Width != gameid.Size {
				b.Order[0].Null = make([]bool, b.Len)
				b.Order[0].Null[0] = true
			}
		}), "returned a NULL, which the scan leaves out"},
		"row that is gone": {func(b *mergetest.Database) {
			b.Rows["players"][0]["name"] = "Player1.0"
			b.OnRow = func() error { b.Rows["players"] = b.Rows["players"][1:]; return nil }
		}, "a row that was just read is missing"},
		"table listed twice": {func(b *mergetest.Database) { b.Schema.Tables = append(b.Schema.Tables, b.Schema.Tables[0]) },
			`world "s2": reading the catalogue: it lists table "guilds" twice`},
		"server listed twice": {func(b *mergetest.Database) { b.Registry = append(b.Registry, b.Registry[0]) }, "reading the registry: it lists server 2 twice"},
		"server 0":            {func(b *mergetest.Database) { b.Registry[0].Server = 0 }, `server "0" is out of range`},
		"mark beyond the layout": {func(b *mergetest.Database) { b.Registry[0].Reserved = gameid.MaxMillis + 1 },
			"the mark of server 2 is 17592186044416 ms, want 0 to 17592186044415"},
	} {
		t.Run(name, func(t *testing.T) {
			b := settled(2)
			test.plant(b)
			report, err := merge.Check(context.Background(), sources(settled(1), b), rules.Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if report != nil {
				incomplete(t, report, strings.TrimPrefix(err.Error(), "merge: "))
			}
			if b.Busy() {
				t.Error("a scan was left open")
			}
		})
	}
}

// duplicate repeats a key of s2's items.
func duplicate(b *mergetest.Database, batchRows int) {
	b.BatchRows = batchRows
	b.Rows["items"] = append(b.Rows["items"], mergetest.Row{"id": id(2, 201)})
}

func TestUnsuitableSources(t *testing.T) {
	other := settled(2)
	other.Schema.Engine = "mariadb"
	for want, test := range map[string]struct {
		sources []catalog.Source
		opts    rules.Options
	}{
		"got 0, want at least 2":             {nil, rules.Options{}},
		"got 1, want at least 2":             {sources(settled(1)), rules.Options{}},
		`two are named "s1"`:                 {sources(settled(1), settled(1)), rules.Options{}},
		`"s1" is memory and "s2" is mariadb`: {sources(settled(1), other), rules.Options{}},
	} {
		report, err := merge.Check(context.Background(), test.sources, test.opts)
		if report != nil || !errors.Is(err, catalog.ErrWorlds) || !strings.Contains(err.Error(), want) {
			t.Errorf("report %v, error %v, want %q", report, err, want)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Run("the first world", func(t *testing.T) {
		// Names that differ in case collide only if its schema says so.
		a, b := settled(1), settled(2)
		a.Schema.Tables[3].Columns[1].Collation = mergetest.Binary
		b.Rows["players"][0]["name"] = "PLAYER1.0"
		for want, worlds := range [][]*mergetest.Database{{a, b}, {b, a}} {
			report := mustCheck(t, rules.Options{}, worlds...)
			if got := find(report, verdict.CodeUniqueCollision, "players", "name")[0].Count; got != int64(want) {
				t.Errorf("%s first: %d, want %d", worlds[0].Label, got, want)
			}
			if report.Worlds[0].Name != worlds[0].Label {
				t.Errorf("%q is first, want %q", report.Worlds[0].Name, worlds[0].Label)
			}
		}
	})
	t.Run("samples", func(t *testing.T) {
		r := find(mustCheck(t, rules.Options{}, faulty()...), verdict.CodeKeyCollision, "items", "")[0]
		if r.Count != 4 || len(r.Samples) != rules.Samples {
			t.Errorf("%d of %d, want %d of 4", len(r.Samples), r.Count, rules.Samples)
		}
	})
	t.Run("now and slack", func(t *testing.T) {
		a, b := settled(1), settled(2)
		newest := id(2, 300).Time() // the guild
		b.Schema.Now = newest.Add(-time.Hour)
		for _, test := range []struct {
			opts rules.Options
			want int64
		}{
			{rules.Options{}, 1},
			{rules.Options{Slack: time.Hour}, 0},
			{rules.Options{Slack: time.Hour - time.Millisecond}, 1},
			{rules.Options{Now: now}, 0},
			{rules.Options{Now: newest.Add(-time.Second), Slack: time.Millisecond}, 2}, // s1's too
		} {
			if got := find(mustCheck(t, test.opts, a, b), verdict.CodeIDFuture, "guilds", "")[0].Count; got != test.want {
				t.Errorf("%+v: %d, want %d", test.opts, got, test.want)
			}
		}
	})
	t.Run("progress", func(t *testing.T) {
		last := make(map[rules.Progress]int64)
		all := make(map[string]rules.Progress)
		with := mustCheck(t, rules.Options{Progress: func(p rules.Progress) {
			before := all[p.World]
			all[p.World] = p
			if p.Rows > p.Total || p.WorldRows > p.WorldTotal || p.WorldRows < before.WorldRows || p.WorldTotal < before.WorldTotal {
				t.Errorf("%+v after %+v", p, before)
			}
			rows, read := p.Rows, p.WorldRows > before.WorldRows // also rows that the database does not send
			p.Rows, p.Total, p.WorldRows, p.WorldTotal = 0, 0, 0, 0
			if rows < last[p] || rows == last[p] && !read {
				t.Errorf("%+v: %d rows after %d", p, rows, last[p])
			}
			last[p] = rows
		}}, faulty()...)
		if got := last[rules.Progress{Code: verdict.CodeKeyCollision, World: "s1", Table: "items"}]; got != 13 {
			t.Errorf("%d rows of s1's items, want 13: %v", got, last)
		}
		// 21 rows for the keys, 1 guild and 2 times 5 players for the uniques, 13
		// items, 1 guild and 2 times 2 members for the references, 13 items for a type
		// that differs, and twice 21 for undeclared columns and the keys that these may
		// name.
		if got := all["s1"].WorldTotal; got != 105 {
			t.Errorf("%d rows to read of s1, want 105", got)
		}
		if diff := cmp.Diff(mustCheck(t, rules.Options{}, faulty()...), with); diff != "" {
			t.Errorf("the report changes when progress is wanted:\n%s", diff)
		}
	})
}

// Garbage in an ID column looks like a great many servers. They are counted
// exactly but not kept.
func TestManyUnlistedServers(t *testing.T) {
	b := settled(2)
	for n := range 3000 {
		b.Rows["items"] = append(b.Rows["items"], mergetest.Row{"id": id(gameid.ServerID(1000+n), 1)})
	}
	for n := range 900 { // of one table before and of one after
		b.Rows["guilds"] = append(b.Rows["guilds"], mergetest.Row{"id": id(gameid.ServerID(9000+n), 1), "name": fmt.Sprint(n), "leader": id(2, 0)})
		b.Rows["players"] = append(b.Rows["players"], mergetest.Row{"id": id(gameid.ServerID(9500+n), 1), "name": fmt.Sprint(n)})
	}
	report := mustCheck(t, rules.Options{}, settled(1), b)
	r := find(report, verdict.CodeServerUnlisted, "items", "id")[0]
	s := report.Worlds[1]
	if r.Count != 3000 || len(s.Servers) != 1001 || s.OtherIDs != 3400 {
		t.Errorf("%d IDs, %d servers, %d others; want 3000, 1001, 3400", r.Count, len(s.Servers), s.OtherIDs)
	}
	if diff := cmp.Diff(report, mustCheck(t, rules.Options{}, settled(1), b)); diff != "" {
		t.Errorf("a second check differs:\n%s", diff)
	}
	if len(r.Message) > 200 || len(r.Next) > 5 {
		t.Errorf("too long: %s %v", r.Message, r.Next)
	}
}

// Rows of a run that are not shown are counted.
func TestOmittedRows(t *testing.T) {
	a, b := settled(1), settled(2)
	b.Schema.Tables[3].Columns[1].Collation = mergetest.Binary
	for n, name := range []string{"player1.0", "PLAYER1.0", "pLAYER1.0", "plAYER1.0"} {
		b.Rows["players"][n]["name"] = name
	}
	r := find(mustCheck(t, rules.Options{}, a, b), verdict.CodeUniqueCollision, "players", "name")[0]
	if strings.Contains(r.Message, "within one database") {
		t.Errorf("it lies in two: %s", r.Message)
	}
	if r.Count != 1 || r.Rows != 5 || len(r.Samples[0].Rows) != 3 || r.Samples[0].Omitted != 2 {
		t.Errorf("got %+v, want 3 of 5 rows shown", r)
	}
	a.Rows["players"] = nil
	a.Rows["items"], a.Rows["members"], a.Rows["guilds"] = nil, nil, nil
	r = find(mustCheck(t, rules.Options{}, a, b), verdict.CodeUniqueCollision, "players", "name")[0]
	if r.Count != 1 || r.Rows != 4 || !strings.HasSuffix(r.Message, "1 is within one database, as the first world's collation of name compares") {
		t.Errorf("got %+v, want 1 within one database", r)
	}
}

// Few faults among millions of rows are found exactly.
func TestPlantedInMillions(t *testing.T) {
	const rows = 1 << 20
	for _, form := range []string{"of one width", "of any width"} {
		all := interleaved(3, rows)
		planted := make(map[int]bool)
		first, second := all[0].(*keys), all[1].(*keys)
		for n := range 1000 {
			row := n * n % rows
			planted[row] = true
			copy(second.data[row*gameid.Size:(row+1)*gameid.Size], first.data[row*gameid.Size:])
		}
		if form == "of any width" {
			for _, s := range all {
				for row := range s.(*keys).batch {
					s.(*keys).ends = append(s.(*keys).ends, (row+1)*gameid.Size)
				}
			}
		}
		report := checked(t, all, rules.Options{})
		want := map[string]int64{"key-collision|items|id": int64(len(planted)), "server-unlisted|items|id": int64(len(planted))}
		if diff := cmp.Diff(want, findings(report)); diff != "" {
			t.Errorf("keys %s (-want +got):\n%s", form, diff)
		}
		if r := find(report, verdict.CodeKeyCollision, "items", "")[0]; r.Read != 3*rows || r.Rows != int64(2*len(planted)) {
			t.Errorf("keys %s: %d rows of %d", form, r.Rows, r.Read)
		}
	}
}

// The memory of a check does not depend on the number of rows, also when all
// of them collide.
func TestMemoryDoesNotGrow(t *testing.T) {
	allocs := func(rows int, clone bool) float64 {
		all := interleaved(2, rows)
		if clone {
			all[1].(*keys).data = all[0].(*keys).data
		}
		return testing.AllocsPerRun(1, func() {
			if _, err := merge.Check(context.Background(), all, rules.Options{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	for _, clone := range []bool{false, true} {
		few, many := allocs(10_000, clone), allocs(500_000, clone)
		if many > few+20 {
			t.Errorf("clone %v: %v allocations for 10,000 rows and %v for 500,000", clone, few, many)
		}
	}
}
