package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// IDs are judged wherever they are, and however they are written.
func TestIDsAnywhere(t *testing.T) {
	for name, test := range map[string]struct {
		plant func(a, b *mergetest.Database) []rules.IDColumn
		want  map[string]int64
	}{
		"outside of the key": {
			func(a, b *mergetest.Database) []rules.IDColumn {
				b.Rows["items"][0]["owner"] = id(9, 1)
				b.Schema.Tables[1].References, a.Schema.Tables[1].References = nil, nil
				return nil
			},
			map[string]int64{"server-unlisted|items|owner": 1},
		},
		"declared, as digits": {
			func(a, b *mergetest.Database) []rules.IDColumn {
				for _, db := range []*mergetest.Database{a, b} {
					c := &db.Schema.Tables[3].Columns[2]
					c.Kind, c.Opaque = catalog.KindText, "TEXT"
				}
				b.Rows["players"][0]["mail"] = id(2, 1).String()
				b.Rows["players"][1]["mail"] = id(9, 1).String()
				b.Rows["players"][2]["mail"] = idAt(2, nowMillis()+hour, 0).String()
				b.Rows["players"][3]["mail"] = "nobody"
				return []rules.IDColumn{{Table: "players", Column: "mail"}}
			},
			map[string]int64{"server-unlisted|players|mail": 1, "id-future|players|mail": 1, "id-above-mark|players|mail": 1, "id-invalid|players|mail": 1},
		},
		"declared, part of a key": {
			func(a, b *mergetest.Database) []rules.IDColumn {
				for _, db := range []*mergetest.Database{a, b} {
					db.Schema.Tables[2].Columns[0].IsID = false
				}
				b.Rows["members"][0]["guild"] = id(9, 1)
				b.Schema.Tables[2].References, a.Schema.Tables[2].References = nil, nil
				return []rules.IDColumn{{Table: "members", Column: "guild"}}
			},
			map[string]int64{"server-unlisted|members|guild": 1},
		},
		"in a table without a key": {
			func(a, b *mergetest.Database) []rules.IDColumn {
				for _, db := range []*mergetest.Database{a, b} {
					db.Schema.Tables = append(db.Schema.Tables, catalog.Table{Name: "log", Columns: []catalog.Column{
						{Name: "who", Kind: catalog.KindBytes, IsID: true, Nullable: true}, {Name: "whom", Kind: catalog.KindBytes, IsID: true, Nullable: true},
					}})
				}
				b.Rows["log"] = []mergetest.Row{{"who": id(2, 1), "whom": id(9, 1)}, {"who": id(2, 2)}, {}, {"who": id(9, 1), "whom": id(8, 1)}}
				return nil
			},
			map[string]int64{"server-unlisted|log|who": 1, "server-unlisted|log|whom": 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := settled(1), settled(2)
			ids := test.plant(a, b)
			report := mustCheck(t, rules.Options{IDs: ids}, a, b)
			if diff := cmp.Diff(test.want, findings(report)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			for _, r := range find(report, verdict.CodeColumnOpaque, "", "") {
				t.Errorf("a declared column is opaque: %+v", r)
			}
		})
	}
	// Where nothing else speaks of IDs, 10 bytes are not taken for one.
	for _, declared := range [][]rules.IDColumn{nil, {{Table: "characters", Column: "hash"}}} {
		c, d := game("c", 1, 3), game("d", 11, 3)
		for _, db := range []*mergetest.Database{c, d} {
			db.Schema.Tables[0].Columns = append(db.Schema.Tables[0].Columns, catalog.Column{Name: "hash", Type: "BINARY(10)", Kind: catalog.KindBytes, IsID: true})
			for _, row := range db.Rows["characters"] {
				row["hash"] = make([]byte, 10)
			}
		}
		if got := len(find(mustCheck(t, rules.Options{IDs: declared}, c, d), verdict.CodeIDInvalid, "characters", "hash")); got != len(declared) {
			t.Errorf("declared %v: %d results", declared, got)
		}
	}

	// A column that holds IDs in one database only.
	a, b := settled(1), settled(2)
	b.Schema.Tables[1].Columns[1].IsID = false
	r := find(mustCheck(t, rules.Options{}, a, b), verdict.CodeServerUnlisted, "items", "owner")[0]
	want := []verdict.Gap{{World: "s2", Reason: "column owner is BLOB and holds no IDs there"}}
	if diff := cmp.Diff(want, r.Gaps); diff != "" || r.Verdict != verdict.NotVerified {
		t.Errorf("%s (-want +got):\n%s", r.Verdict, diff)
	}
}
