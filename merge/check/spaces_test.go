package check_test

import (
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// counted are two worlds that count the same keys, and what a merge does to them.
func counted() (a, b *mergetest.Database, opts rules.Options) {
	a, b = game("a", 1, 10), game("b", 1, 10)
	for _, db := range []*mergetest.Database{a, b} {
		for i := range db.Schema.Tables {
			for j := range db.Schema.Tables[i].Columns {
				if c := &db.Schema.Tables[i].Columns[j]; c.Kind == catalog.KindInteger {
					c.Type = "bigint"
				}
			}
		}
		db.Schema.Engine = "mariadb"
	}
	opts = rules.Options{
		Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"characters.guid"}}}},
		Rules: []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"pets.owner", "guild.leader"}, To: []string{"characters.guid"}}}}},
	}
	return a, b, opts
}

// Where there is no room for new keys, the column with the large number is named, and not
// only the one that is too narrow.
func TestNoRoomNamesTheLargestNumber(t *testing.T) {
	a, b, opts := counted()
	for _, db := range []*mergetest.Database{a, b} {
		db.Schema.Tables[0].Columns[0].Type = "int" // characters.guid
	}
	a.Rows["pets"][0]["owner"] = int64(5_000_000_000)
	r := find(mustCheck(t, opts, a, b), verdict.CodeKeySpace, "characters", "characters.guid")
	if len(r) != 1 || r[0].Verdict != verdict.Fail || !strings.HasSuffix(r[0].Message, "; the largest of the numbers is 5000000000, in pets.owner of a") ||
		!strings.HasPrefix(r[0].Next[0], "look at the largest values of pets.owner: ") {
		t.Errorf("%+v", r)
	}
}

// If only counters are that far, the counter is named, and how to go on.
func TestNoRoomAboveCounters(t *testing.T) {
	a, b, opts := counted()
	for _, db := range []*mergetest.Database{a, b} {
		db.Schema.Tables[0].Columns[0].Type = "int"
		db.Schema.Tables[0].AutoIncrement = &catalog.AutoIncrement{Column: "guid", Next: 1 << 31, Max: 1<<31 - 1}
		clear(db.Rows)
	}
	r := find(mustCheck(t, opts, a, b), verdict.CodeKeySpace, "characters", "characters.guid")
	if len(r) != 1 || r[0].Verdict != verdict.Fail || !strings.Contains(r[0].Message, "there is no room") ||
		!strings.HasSuffix(r[0].Message, "; the counter of characters.guid is at 2147483648 in a, far above the keys") ||
		!strings.HasPrefix(r[0].Next[0], "if a never had the numbers in between, set the counter of characters back") {
		t.Errorf("%+v", r)
	}
}

// A space names its key: that ranks above a pattern that matches the key too.
func TestSpaceBeatsPattern(t *testing.T) {
	a, b, opts := counted()
	opts.Rules[0].Plain = []string{"*.guid"}
	report := mustCheck(t, opts, a, b)
	if report.Rekeyed == nil || report.Rekeyed.Offset("characters.guid", "b") == 0 {
		t.Errorf("%+v", report.Rekeyed)
	}
	opts.Rules[0].Plain = []string{"characters.guid"}
	if _, err := merge.Check(t.Context(), sources(a, b), opts); err == nil || !strings.Contains(err.Error(), "characters.guid is also declared by plain") {
		t.Errorf("two exact names: %v", err)
	}
}
