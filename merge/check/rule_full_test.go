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

// A counter that has no number for the next row after the merge is a FAIL, with new keys and without. One
// that has fewer left than the worlds have given is NOT VERIFIED.
func TestCounterFull(t *testing.T) {
	const last = math.MaxInt32
	for name, c := range map[string]struct {
		nexts   [2]uint64
		change  func(a, b *mergetest.Database, o *rules.Options)
		verdict verdict.Verdict
		message string
		next    string
	}{
		"room": {[2]uint64{3, 3}, nil, verdict.Pass, "id continues at 3 and ends at 2,147,483,647", ""},
		"full": {[2]uint64{3, last + 1}, nil, verdict.Fail,
			"id would continue at 2,147,483,648 but ends at 2,147,483,647, so the game could not create any more rows: a next 3, b next 2,147,483,648",
			"in all databases: ALTER TABLE `pl` MODIFY `id` BIGINT NOT NULL AUTO_INCREMENT; columns that refer to it need this type too"},
		"as many left as were given": {[2]uint64{101, last - 199}, func(a, b *mergetest.Database, o *rules.Options) {
			a.Schema.Tables[0].AutoIncrement.Max, b.Schema.Tables[0].AutoIncrement.Next = 500, 201
		}, verdict.Pass, "id continues at 201 and ends at 500", ""},
		"one less": {[2]uint64{101, 201}, func(a, b *mergetest.Database, o *rules.Options) { a.Schema.Tables[0].AutoIncrement.Max = 499 },
			verdict.NotVerified, "id would continue at 201 but ends at 499: numbers left: 299; used by the worlds so far: 300: a next 101, b next 201",
			"in all databases: ALTER TABLE `pl` MODIFY `id` BIGINT NOT NULL AUTO_INCREMENT"},
		"the first world's": {[2]uint64{last + 1, 3}, nil, verdict.Fail, "id would continue at 2,147,483,648 but ends at 2,147,483,647", "BIGINT"},
		"unsigned": {[2]uint64{3, last + 2}, func(a, b *mergetest.Database, o *rules.Options) {
			a.Schema.Tables[0].Columns[0].Type = "int(10) unsigned"
		}, verdict.Fail, "", "`id` BIGINT UNSIGNED NOT NULL"},
		"no larger type": {[2]uint64{3, math.MaxInt64 + 1}, func(a, b *mergetest.Database, o *rules.Options) {
			a.Schema.Tables[0].AutoIncrement.Max = math.MaxInt64
		},
			verdict.Fail, "id would continue at 9223372036854775808", "give the column a larger type"},
		"endless": {[2]uint64{3, math.MaxInt64 + 1}, func(a, b *mergetest.Database, o *rules.Options) {
			a.Schema.Tables[0].AutoIncrement = &catalog.AutoIncrement{Column: "id", Next: 3, Max: math.MaxInt64, Endless: true}
		}, verdict.Pass, "id uses any free number if the largest is taken", ""},
		"no row comes": {[2]uint64{3, last + 1}, func(a, b *mergetest.Database, o *rules.Options) { b.Rows["pl"] = nil },
			verdict.Pass, "id continues at 3 and ends at 2,147,483,647", ""},
		"the same": {[2]uint64{3, last + 1}, func(a, b *mergetest.Database, o *rules.Options) {
			b.Rows["pl"] = a.Rows["pl"]
			o.Tables = []rules.TablePolicy{{Tables: []string{"pl"}, Policy: rules.PolicySame}}
		}, verdict.Pass, "id continues at 3 and ends at 2,147,483,647", ""},
		"new keys": {[2]uint64{3, 3}, func(a, b *mergetest.Database, o *rules.Options) { o.Rekey = &rules.Rekey{Auto: true} },
			verdict.Pass, "id continues at 2,000 and ends at 2,147,483,647", ""},
		"new keys up to the end": {[2]uint64{3, 3}, func(a, b *mergetest.Database, o *rules.Options) {
			a.Schema.Tables[0].AutoIncrement.Max, a.Schema.Tables[0].Columns[0].Type = 127, "tinyint"
			b.Rows["pl"] = append(b.Rows["pl"], mergetest.Row{"id": int64(100)}, mergetest.Row{"id": int64(125)})
			b.Schema.Tables[0].AutoIncrement.Next = 126
			o.Rekey = &rules.Rekey{Auto: true}
		}, verdict.Fail, "id would continue at 128 but ends at 127", "BIGINT"},
		"new keys up to what clients take": {[2]uint64{3, 3}, func(a, b *mergetest.Database, o *rules.Options) {
			o.Rekey = &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"pl.id"}, Max: 4}}}
		}, verdict.Fail, "id would continue at 5 but ends at 4", "raise max of its space"},
		"what refers to them is narrower": {[2]uint64{101, 101}, func(a, b *mergetest.Database, o *rules.Options) {
			for _, db := range []*mergetest.Database{a, b} {
				db.Schema.Tables = append(db.Schema.Tables, catalog.Table{Name: "it", Primary: []string{"owner"}, Columns: []catalog.Column{
					{Name: "owner", Type: "tinyint(3) unsigned", Kind: catalog.KindInteger}}})
				db.Rows["it"] = []mergetest.Row{{"owner": int64(1)}}
			}
			o.Rekey = &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"pl.id"}, Offsets: map[string]uint64{"b": 150}}}}
			o.Rules = []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"it.owner"}, To: []string{"pl.id"}}}}}
		}, verdict.NotVerified, "id would continue at 251, but it.owner, which refers to it, ends at 255: numbers left: 5; used by the worlds so far: 200: a next 101, b next 101",
			"give it.owner a larger type in all databases"},
		"what refers to them is narrower, and empty": {[2]uint64{101, 101}, func(a, b *mergetest.Database, o *rules.Options) {
			for _, db := range []*mergetest.Database{a, b} {
				db.Schema.Tables = append(db.Schema.Tables, catalog.Table{Name: "it", Primary: []string{"owner"}, Columns: []catalog.Column{
					{Name: "owner", Type: "tinyint(3) unsigned", Kind: catalog.KindInteger}}})
			}
			o.Rekey = &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"pl.id"}, Offsets: map[string]uint64{"b": 150}}}}
			o.Rules = []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"it.owner"}, To: []string{"pl.id"}}}}}
		}, verdict.NotVerified, "id would continue at 1,000, but it.owner, which refers to it, ends at 255: numbers left: 0; used by the worlds so far: 200: a next 101, b next 101",
			"give it.owner a larger type in all databases"},
	} {
		t.Run(name, func(t *testing.T) {
			world := func(label string, next uint64) *mergetest.Database {
				db := &mergetest.Database{Label: label, Rows: map[string][]mergetest.Row{"pl": {{"id": int64(1)}, {"id": int64(2)}}}}
				db.Schema.Engine, db.Schema.Tables = "memory", []catalog.Table{{Name: "pl", Primary: []string{"id"},
					Columns:       []catalog.Column{{Name: "id", Type: "int", Kind: catalog.KindInteger}},
					AutoIncrement: &catalog.AutoIncrement{Column: "id", Next: next, Max: last}}}
				return db
			}
			a, b := world("a", c.nexts[0]), world("b", c.nexts[1])
			var opts rules.Options
			if c.change != nil {
				c.change(a, b, &opts)
			}
			found := find(mustCheck(t, opts, a, b), verdict.CodeCounterFull, "pl", "id")
			if len(found) != 1 {
				t.Fatalf("found %+v", found)
			}
			if r := found[0]; r.Verdict != c.verdict || !strings.HasPrefix(r.Message, c.message) || !strings.Contains(fmt.Sprint(r.Next), c.next) {
				t.Errorf("%s: %s; %q", r.Verdict, r.Message, r.Next)
			}
		})
	}
}
