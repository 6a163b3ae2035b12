package planner_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A reference between columns of any two types is followed, refused by both columns and their
// types, or NOT VERIFIED for them; the databases never compare each row with each key, which would
// take hours: they are asked for no such join.
func TestReferenceTypes(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		kinds := [][2]string{ // a type, and what its values are
			{"INTEGER", "number"}, {"BIGINT", "number"}, {"DECIMAL(12,0)", "number"}, {"VARCHAR(20)", "text"}, {"CHAR(20)", "text"},
			{"BINARY(10)", "bytes"}, {"VARBINARY(20)", "bytes"}, {"DATE", "time"}, {"DATETIME", "time"},
		}
		if e.Name == "sqlite" { // of which a date is a number, or anything
			kinds = [][2]string{{"INTEGER", "number"}, {"BIGINT", "number"}, {"TEXT", "text"}, {"VARCHAR(20)", "text"}, {"BLOB", "bytes"}, {"REAL", "number"}}
		}
		value := map[string]string{"number": "7", "text": "'7'", "bytes": "X'07000000000000000000'", "time": "'2026-01-01'"}
		var create []string
		for i, k := range kinds {
			create = append(create, fmt.Sprintf("CREATE TABLE keys%d (k %s NOT NULL PRIMARY KEY)", i, k[0]), fmt.Sprintf("CREATE TABLE refs%d (v %s)", i, k[0]),
				fmt.Sprintf("INSERT INTO refs%d VALUES (%s)", i, value[k[1]]))
		}
		all := worldtest.KeyWorlds(t, e, 2, create...)
		var sources []catalog.Source
		for _, d := range all {
			s, err := world.OpenWorld(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			sources = append(sources, s)
		}
		outcomes := make(map[string]int)
		for i, from := range kinds {
			for j, to := range kinds {
				at, key := fmt.Sprintf("refs%d.v", i), fmt.Sprintf("keys%d.k", j)
				integer := func(kind string) bool { return kind == "INTEGER" || kind == "BIGINT" }
				same := from[0] == to[0] || integer(from[0]) && integer(to[0]) || from[1] == "text" && to[1] == "text"
				mayName := from[1] == to[1] || from[1] == "text" && integer(to[0]) || from[1] != "number" && from[1] != "time" && (to[1] == "text" || to[1] == "bytes")
				report, err := merge.Check(t.Context(), sources, rules.Options{
					Rules: []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{at}, To: []string{key}}}}}})
				if !mayName {
					if !errors.Is(err, rules.ErrOptions) || !strings.Contains(err.Error(), at+" is ") || !strings.Contains(err.Error(), key+" is ") {
						t.Errorf("%s to %s: %v", from[0], to[0], err)
					}
					outcomes["refused"]++
					continue
				}
				if err != nil {
					t.Errorf("%s to %s: %v", from[0], to[0], err)
					continue
				}
				i := slices.IndexFunc(report.Results, func(r verdict.Result) bool {
					return r.Code == verdict.CodeReferenceDangle && r.Table+"."+strings.Join(r.Columns, "") == at
				})
				switch result := report.Results[max(i, 0)]; {
				case i < 0:
					t.Errorf("%s to %s: nothing is said: %+v", from[0], to[0], report.Results)
				case !same && result.Verdict == verdict.NotVerified && strings.Contains(fmt.Sprint(result.Gaps), "the values cannot be compared"):
					outcomes["not verified"]++
				case same && result.Verdict == verdict.Fail && result.Rows == 2:
					outcomes["followed"]++
				default:
					t.Errorf("%s to %s: %+v", from[0], to[0], result)
				}
			}
		}
		if n := outcomes["refused"] + outcomes["not verified"] + outcomes["followed"]; n != len(kinds)*len(kinds) || len(outcomes) != 3 {
			t.Errorf("%d of %d pairs: %v", n, len(kinds)*len(kinds), outcomes)
		}
	})
}
