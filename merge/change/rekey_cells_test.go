package change_test

import (
	"strconv"
	"strings"
	"testing"

	"mergesafe/internal/slice"
	"mergesafe/merge/keys"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// inCell is a reference with keys inside the cells of the table cells.
func inCell(column, to, format string, none ...string) rules.DeclaredReference {
	return rules.DeclaredReference{At: []string{"cells." + column}, To: []string{to}, Format: format, None: none}
}

// cellOptions declares the table that cellWorlds makes.
func cellOptions(more func(o *rules.Options, d *rules.Declarations)) planner.PlanOptions {
	return worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces[0].Step = 1000
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"cells.id"}})
		d.Plain = append(d.Plain, "cells.kind")
		words := inCell("card2", "chars.guid", "words [card2, card3]")
		words.When, words.Others = &rules.When{Column: "kind", Is: []string{"254"}}, rules.OthersPlain
		d.References = append(d.References, words,
			inCell("list", "chars.guid", "list sep=' ' pos=0", "0"), inCell("list", "items.id", "list sep=' ' pos=2"),
			inCell("doc", "chars.guid", "json '$.owner'"), inCell("doc", "items.id", "json '$.bag[*]'"),
			inCell("wide", "chars.guid", "bits 0..31 tag 48..63=0"), inCell("wide", "items.id", "bits 0..31 tag 48..63=0x4000"),
			inCell("box", "items.id", "records size=5 at=1 len=4 le empty=0xFFFFFFFF"))
		if more != nil {
			more(o, d)
		}
	})
}

func cellWorlds(t *testing.T, e worldtest.Engine, further ...string) []world.Database {
	document, blob := "JSON", "VARBINARY(60)"
	if e.Name == "sqlite" {
		document, blob = "TEXT", "BLOB"
	}
	return worldtest.KeyWorlds(t, e, 3, append([]string{
		"CREATE TABLE cells (id INTEGER NOT NULL PRIMARY KEY, list VARCHAR(12), doc " + document + ", wide BIGINT NOT NULL, kind INTEGER NOT NULL, card2 INTEGER NOT NULL, card3 INTEGER NOT NULL, box " + blob + ")",
		`INSERT INTO cells VALUES (1, '3 7 2', '{"lv": 2, "bag": [1, 2, 1], "owner": 2}', 4611686018427387906, 254, 3, 0, X'0102000000FFFFFFFFFF')`,
		"INSERT INTO cells VALUES (2, NULL, NULL, 3, 7, 3, 1, NULL)",
		`INSERT INTO cells VALUES (3, '0 1 99', '{"bag": [], "owner": 1}', 1, 254, 1, 0, X'')`,
	}, further...)...)
}

// Keys inside cells get the new values of the rows that they name, and other bytes stay.
func TestRekeyInsideCells(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := cellWorlds(t, e)
		p, into := worldtest.Rekeyed(t, e, all, cellOptions(nil))
		worldtest.Asked(t, into, "SELECT id, list FROM cells WHERE list IS NOT NULL ORDER BY id",
			"1|3 7 2", "3|0 1 99", "1001|1003 7 1002", "1003|0 1 1099", "2001|2003 7 2002", "2003|0 1 2099")
		worldtest.Asked(t, into, "SELECT doc FROM cells WHERE id > 1000 ORDER BY id", `{"lv": 2, "bag": [1001, 1002, 1001], "owner": 1002}`, "<nil>", `{"bag": [], "owner": 1001}`,
			`{"lv": 2, "bag": [2001, 2002, 2001], "owner": 2002}`, "<nil>", `{"bag": [], "owner": 2001}`)
		worldtest.Asked(t, into, "SELECT wide, card2, card3 FROM cells WHERE id BETWEEN 1000 AND 2000 ORDER BY id", "4611686018427388906|1003|0", "1003|3|1", "1001|1001|0")
		worldtest.Asked(t, into, "SELECT HEX(box) FROM cells WHERE id = 2001", "01D2070000FFFFFFFFFF")
		for _, c := range p.Rekey.Columns {
			if c.Column == "list" && (len(c.Cases) != 2 || c.Cases[0].Counts[1] != verdict.CaseCounts{Resolved: 1, None: 2}) {
				t.Errorf("%+v", c)
			}
		}
	})
}

// A change of a single key in a cell is what the proof finds.
func TestRekeyedCellsAreProved(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := cellWorlds(t, e)
	p, into := worldtest.Rekeyed(t, e, all, cellOptions(nil))
	worldtest.Proved(t, p, worldtest.Clone(t, e, into), all)
	for what, change := range map[string]string{
		"another row's":  "UPDATE cells SET list = '1002 7 1002' WHERE id = 1001",
		"no key":         "UPDATE cells SET list = '1003 8 1002' WHERE id = 1001",
		"not shifted":    "UPDATE cells SET wide = 4611686018427387906 WHERE id = 1001",
		"the half of it": "UPDATE cells SET card3 = 1 WHERE id = 1001",
		"no format":      "UPDATE cells SET list = '1003 x' WHERE id = 1001",
	} {
		wrong := worldtest.Clone(t, e, into)
		worldtest.Exec(t, wrong, change)
		if proof := worldtest.Verified(t, p, wrong, all); proof.Verdict != verdict.Fail {
			t.Errorf("%s: %s: %+v", what, proof.Verdict, proof.Keys)
		}
	}
}

// A cell that is wrong refuses the plan, with its row and the bytes at fault.
func TestRekeyCellRefusals(t *testing.T) {
	for _, tt := range []struct {
		name, further string
		more          func(o *rules.Options, d *rules.Declarations)
		code, subject string
	}{
		{"a token that is no number", "UPDATE cells SET list = '3 7 x' WHERE id = 1", nil, verdict.CodeCellFormat, `row 1: byte 4: "x"`},
		{"a list that is too short", "UPDATE cells SET list = '3 7' WHERE id = 1", nil, verdict.CodeCellFormat, "row 1: "},
		{"a document that is broken", `UPDATE cells SET doc = '{"owner": 1.5, "bag": []}' WHERE id = 1`, nil, verdict.CodeCellFormat, "1.5"},
		{"a record that is cut", "UPDATE cells SET box = X'0102' WHERE id = 1", nil, verdict.CodeCellFormat, "row 1: "},
		{"half of a key", "UPDATE cells SET card3 = 70000 WHERE id = 1", nil, verdict.CodeCellFormat, "card3"},
		{"another tag", "UPDATE cells SET wide = 2305843009213693953 WHERE id = 1", nil, verdict.CodeCellFormat, "0x2000"},
		{"no room in the column", "", func(o *rules.Options, d *rules.Declarations) { o.Rekey.Spaces[0].Step = 1_000_000 }, verdict.CodeCellFormat, "characters, and the column takes 12"},
		{"a cell that gets large", "UPDATE cells SET list = '3 7 2 ' || hex(zeroblob(150000)) WHERE id = 1", nil, verdict.CodeCellFormat, "256 KiB"},
		{"no room in the bits", "", func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Name: "parties"})
			o.Rekey.Offsets = map[string]uint64{"w1": 5_000_000_000}
		}, verdict.CodeKeySpace, "offset"},
		{"0 may be nobody", "", func(o *rules.Options, d *rules.Declarations) { d.References[2].None = nil }, verdict.CodeKeyNobody, "may mean no row: 0"},
		{"one key for two formats", "", func(o *rules.Options, d *rules.Declarations) { d.References[3].Format = "list sep=' ' every" }, verdict.CodeCellFormat, "belongs to both"},
		{"rows that no condition covers", "", func(o *rules.Options, d *rules.Declarations) { d.References[1].Others = "" }, verdict.CodeReferenceUndeclared, "card2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := worldtest.OnSQLite(t)
			if tt.name == "no room in the column" { // the texts of SQLite have any length
				e = worldtest.Engines()[1]
			}
			further := tt.further
			if further == "" {
				further = "UPDATE cells SET id = id"
			}
			all := cellWorlds(t, e, further)
			p := worldtest.Planned(t, e.Fresh(t, "new"), all, cellOptions(tt.more))
			worldtest.RefusedWith(t, p, tt.code, tt.subject)
		})
	}
}

// A check without new keys follows the references in cells as well.
func TestCellsAreFollowed(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := cellWorlds(t, e)
	opts := cellOptions(nil)
	opts.Check.Rekey = nil
	var report *verdict.Report
	opts.Report = func(r *verdict.Report) { report = r }
	if _, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, opts); err != nil {
		t.Fatal(err)
	}
	dangling, ambiguous := int64(0), int64(0)
	for _, r := range report.Results {
		if r.Table == "cells" && strings.Contains(r.Subject, " in list sep=") {
			switch r.Code {
			case verdict.CodeReferenceDangle:
				dangling += r.Rows
			case verdict.CodeReferenceAmbiguous:
				ambiguous += r.Rows
			}
		}
	}
	if dangling != 3 || ambiguous != 6 { // item 99, and character 3 and item 2 of each world
		t.Errorf("%d lead nowhere, want 3; %d are ambiguous, want 6", dangling, ambiguous)
	}
}

// What cannot be carried out is an error that names it, before anything is read.
func TestRekeyCellContradictions(t *testing.T) {
	for _, tt := range []struct {
		name, table string
		on          int // of the engines
		ref         rules.DeclaredReference
		more        func(o *rules.Options, d *rules.Declarations)
		says        string
	}{
		{"a set", "CREATE TABLE cells (id INTEGER NOT NULL PRIMARY KEY, list SET('1', '2'))", 1, inCell("list", "chars.guid", "list sep=',' every"), nil, "cells.list is set"},
		{"bits of a BIT", "CREATE TABLE cells (id INTEGER NOT NULL PRIMARY KEY, list BIT(64))", 1, inCell("list", "chars.guid", "bits 0..31"), nil, "cells.list is bit"},
		{"a time", "CREATE TABLE cells (id INTEGER NOT NULL PRIMARY KEY, list DATETIME)", 1, inCell("list", "chars.guid", "list sep='-' pos=0"), nil, "cells.list is datetime"},
		{"rows of what stays behind", "CREATE TABLE cells (id INTEGER NOT NULL PRIMARY KEY, list VARCHAR(20))", 0, inCell("list", "items.id", "list sep=',' every"), func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = o.Rekey.Spaces[:1]
			o.Tables = []rules.TablePolicy{{Tables: []string{"items"}, Policy: rules.PolicySkip}}
			d.References[len(d.References)-1].Gone = rules.GoneDrop
		}, "inside cells"},
		{"a condition that moves", "CREATE TABLE cells (id INTEGER NOT NULL PRIMARY KEY, list INTEGER, owner INTEGER)", 0, rules.DeclaredReference{At: []string{"cells.list"}, To: []string{"chars.guid"}, When: &rules.When{Column: "owner", Is: []string{"1"}}, Others: rules.OthersPlain},
			func(o *rules.Options, d *rules.Declarations) {
				d.References = append(d.References, rules.DeclaredReference{At: []string{"cells.owner"}, To: []string{"chars.guid"}})
			}, "values of owner change too"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := worldtest.Engines()[tt.on]
			all := worldtest.KeyWorlds(t, e, 2, tt.table)
			worldtest.NoPlan(t, e.Fresh(t, "new"), all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
				o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"cells.id"}})
				d.References = append(d.References, tt.ref)
				if tt.more != nil {
					tt.more(o, d)
				}
			}), tt.says)
		})
	}
}

// What a database makes of values that move is not known before: a unique index over it is
// not taken for unique.
func TestRekeyUniqueOfWhatIsGenerated(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		made := "VARCHAR(10) GENERATED ALWAYS AS (LEFT(owner, 1)) STORED"
		if e.Name == "sqlite" {
			made = "TEXT GENERATED ALWAYS AS (substr(owner, 1, 1)) STORED"
		}
		all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE pets (id INTEGER NOT NULL PRIMARY KEY, owner INTEGER, made "+made+", UNIQUE (made))", "INSERT INTO pets (id, owner) VALUES (1, 1 + %d)")
		p := worldtest.Planned(t, e.Fresh(t, "new"), all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"pets.id"}})
			d.Plain = append(d.Plain, "pets.made")
			d.References = append(d.References, rules.DeclaredReference{At: []string{"pets.owner"}, To: []string{"chars.guid"}})
		}))
		worldtest.RefusedWith(t, p, verdict.CodeUniqueCollision, "generated from owner")
	})
}

// SQL reads the same key in words and bits as the format does.
func TestKeysInSQL(t *testing.T) {
	worldtest.OnEvery(t, func(t *testing.T, e worldtest.Engine) {
		d := e.Fresh(t, "w")
		worldtest.Exec(t, d, "CREATE TABLE c (a BIGINT, b BIGINT)",
			"INSERT INTO c VALUES (0, 0), (3, 1), (65535, 65535), (NULL, NULL), (2147483648, 5), (4611686018427387906, 7), (9223372036854775807, 1), (-1, 2), (-9223372036854775808, 3), (12884901890, 4)")
		quote := func(column string) string { return column }
		for _, format := range []string{"words [a, b]", "words [a, b] be", "words [a, b] each=31", "bits 0..15", "bits 32..63", "bits 0..63", "bits 63..63", "bits 0..31 tag 48..63=0x4000"} {
			cells, err := keys.ParseRow(format, "a", nil)
			if err != nil {
				t.Fatal(err)
			}
			key, conditions := cells.SQL(quote)
			for _, row := range worldtest.Rows(t, d, "SELECT a, b, CASE WHEN "+strings.Join(conditions, " AND ")+" THEN "+key+" END FROM c") {
				got, want := row[2], "<nil>"
				found, err := cells.Keys(slice.Map(row[:len(cells.Columns())], func(v string) []byte { return []byte(strings.TrimPrefix(v, "<nil>")) }))
				if err != nil {
					continue // words are not negative, and of few bits
				}
				if len(found) > 0 {
					want = found[0].Value.String()
				}
				if n, err := strconv.ParseInt(got, 10, 64); err == nil && n < 0 { // SQLite has no others
					got = strconv.FormatUint(uint64(n), 10)
				}
				if got != want {
					t.Errorf("%s of %v: SQL reads %s, want %s", format, row[:2], got, want)
				}
			}
		}
	})
}
