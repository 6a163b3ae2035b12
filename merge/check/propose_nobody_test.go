package check_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Values that no key can be, for the type of the keys or as the largest of their own, are
// proposed as nobody, and say nothing against a reference.
func TestProposalsOfNobody(t *testing.T) {
	for name, test := range map[string]struct {
		key, column string  // types
		values      []int64 // of the pets without an owner; 2 of 3 have one of them
		last        int64   // a key besides; 0: none
		want        string
	}{
		"beyond the keys' type":             {"int", "int unsigned", []int64{math.MaxUint32}, 0, "[4294967295]"},
		"several":                           {"int", "bigint", []int64{0, 3_000_000_000, 3_000_000_001}, 0, "[0 >2147483647]"},
		"another in each world":             {"int", "bigint", []int64{3_000_000_000, -1}, 0, "[-1 3000000000]"},
		"the largest of the type":           {"int", "int", []int64{math.MaxInt32}, 0, "[2147483647]"},
		"the largest of the type, and more": {"int", "int", []int64{0, -1, math.MaxInt32}, 0, "[0 -1 2147483647]"},
		"below the keys' type":              {"int unsigned", "int", []int64{-1, -7}, 0, "[<0]"},
		"a large key":                       {"int", "int", []int64{math.MaxInt32}, math.MaxInt32, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := game("a", 1, 30), game("b", 101, 30)
			for _, db := range []*mergetest.Database{a, b} {
				db.Schema.Engine = "mariadb"
				for i := range db.Schema.Tables {
					for j := range db.Schema.Tables[i].Columns {
						switch at := db.Schema.Tables[i].Name + "." + db.Schema.Tables[i].Columns[j].Name; at {
						case "characters.guid", "guild.id", "pets.id":
							db.Schema.Tables[i].Columns[j].Type = test.key
						case "pets.owner":
							db.Schema.Tables[i].Columns[j].Type = test.column
						}
					}
				}
				for i, row := range db.Rows["pets"] {
					if i%3 > 0 {
						row["owner"] = test.values[i/3%len(test.values)]
					}
				}
				if test.last > 0 {
					row := mergetest.Row{}
					for k, v := range db.Rows["characters"][0] {
						row[k] = v
					}
					row["guid"], row["name"] = test.last, "last of "+db.Label
					db.Rows["characters"] = append(db.Rows["characters"], row)
				}
			}
			c := proposed(t, mustCheck(t, rules.Options{Propose: true}, a, b), "pets.owner")
			if c.Class != verdict.ClassUndecided || c.To != "characters.guid" || fmt.Sprint(c.None) != test.want {
				t.Errorf("%+v, want none %s", c, test.want)
			}
		})
	}
}

// The question whether a key is one of its own comes with the statement for each answer.
func TestWriteRulesOffersSpaces(t *testing.T) {
	a, b := game("a", 1, 30), game("b", 101, 30)
	for _, db := range []*mergetest.Database{a, b} {
		db.Schema.Tables = append(db.Schema.Tables, catalog.Table{Name: "bank", Primary: []string{"slot_id"}, Columns: []catalog.Column{{Name: "slot_id", Kind: catalog.KindInteger}}})
		for _, row := range db.Rows["characters"] {
			db.Rows["bank"] = append(db.Rows["bank"], mergetest.Row{"slot_id": row["guid"]})
		}
	}
	r := mustCheck(t, rules.Options{Propose: true}, a, b)
	text := writtenRules(t, r)
	for _, want := range []string{
		"  # one row for each: [[check.reference]] to = \"characters.guid\", at = [\"bank.slot_id\"]; a key of its own: [[merge.space]] keys = [\"bank.slot_id\"],\n" +
			"  # as at the end of this file; or plain, or shared\n  \"bank.slot_id\",\n",
		"# These are undecided above. Remove the # if they are keys of their own:\n# [[merge.space]]\n# keys = [\"bank.slot_id\"]\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
