package check_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// objects is a game in which one column names characters or guilds, by kind.
func objects(name string, first int) *mergetest.Database {
	db := game(name, first, 5)
	db.Schema.Tables = append(db.Schema.Tables, catalog.Table{
		Name: "notes", Primary: []string{"id"}, Columns: []catalog.Column{number("id"), number("about"), number("kind")},
	})
	db.Rows["guild"][0]["id"] = int64(first + 50)
	db.Rows["characters"][0]["guild_id"] = int64(first + 50)
	for n, about := range []int64{int64(first), int64(first + 50), 0, -1, 31} {
		db.Rows["notes"] = append(db.Rows["notes"], mergetest.Row{"id": int64(first + 1000 + n), "about": about, "kind": int64(n % 2)})
	}
	return db
}

// others declares all but notes.about.
func others(refs ...rules.DeclaredReference) rules.Options {
	return rules.Options{Rules: []rules.Declarations{{
		Plain:      []string{"*.name", "characters.account", "notes.kind", "notes.id", "guild.id", "characters.guid"},
		References: append(refs, rules.DeclaredReference{At: []string{"pets.owner", "guild.leader"}, To: []string{"characters.guid"}}, rules.DeclaredReference{At: []string{"characters.guild_id"}, To: []string{"guild.id"}, None: []string{"0"}}),
	}}}
}

func TestReferencesToSeveralKeys(t *testing.T) {
	about := rules.DeclaredReference{At: []string{"notes.about"}, To: []string{"characters.guid", "guild.id"}, None: []string{"-1", "0", "<32"}}
	for test, tt := range map[string]struct {
		ref   rules.DeclaredReference
		plant func(a, b *mergetest.Database)
		want  map[string]int64
	}{
		"each names one": {about, func(a, b *mergetest.Database) {}, map[string]int64{}},
		"none is a value": {
			rules.DeclaredReference{At: about.At, To: about.To, None: []string{"-1", "0"}}, func(a, b *mergetest.Database) {},
			map[string]int64{"reference-dangling": 2},
		},
		"a bound that leaves some": {
			rules.DeclaredReference{At: about.At, To: about.To, None: []string{"<=0"}}, func(a, b *mergetest.Database) {},
			map[string]int64{"reference-dangling": 2},
		},
		"another's guild": {
			about, func(a, b *mergetest.Database) { b.Rows["notes"][1]["about"] = int64(151) },
			map[string]int64{"reference-dangling": 1, "reference-rebind": 1},
		},
		"another's character": {
			about, func(a, b *mergetest.Database) { a.Rows["notes"][0]["about"] = int64(504) },
			map[string]int64{"reference-dangling": 1, "reference-rebind": 1},
		},
		"a number of both kinds": {
			about, func(a, b *mergetest.Database) {
				b.Rows["guild"][0]["id"], b.Rows["characters"][0]["guild_id"], b.Rows["notes"][1]["about"] = int64(101), int64(101), int64(101)
			},
			map[string]int64{"reference-ambiguous": 2},
		},
		"for some rows": {
			rules.DeclaredReference{At: about.At, To: about.To, None: about.None, When: &rules.When{Column: "kind", Is: []string{"0"}}, Others: rules.OthersPlain},
			func(a, b *mergetest.Database) {
				b.Rows["notes"][1]["about"] = int64(151) // of kind 1
				b.Rows["notes"][2]["about"] = int64(152)
			},
			map[string]int64{"reference-dangling": 1},
		},
		"for some of the rows that have a value": {
			rules.DeclaredReference{At: about.At, To: about.To, None: about.None, When: &rules.When{Column: "kind", Is: []string{"0"}}, Others: rules.OthersPlain},
			func(a, b *mergetest.Database) {
				b.Rows["notes"][1]["about"] = int64(102) // of kind 1
				b.Rows["notes"][2]["about"] = int64(102)
			},
			map[string]int64{"reference-dangling": 1, "reference-rebind": 1},
		},
		"for some of the rows that have a value, to one key": {
			rules.DeclaredReference{At: about.At, To: about.To[:1], None: about.None, When: &rules.When{Column: "kind", Is: []string{"0"}}, Others: rules.OthersPlain},
			func(a, b *mergetest.Database) {
				b.Rows["notes"][1]["about"] = int64(102) // of kind 1
				b.Rows["notes"][2]["about"] = int64(102)
			},
			map[string]int64{"reference-dangling": 1, "reference-rebind": 1},
		},
		"and the others are open": {
			rules.DeclaredReference{At: about.At, To: about.To, None: about.None, When: &rules.When{Column: "kind", Not: []string{"1"}}},
			func(a, b *mergetest.Database) { b.Rows["notes"][1]["about"] = int64(151) },
			map[string]int64{"reference-undeclared": 1},
		},
	} {
		t.Run(test, func(t *testing.T) {
			a, b := objects("a", 101), objects("b", 501)
			tt.plant(a, b)
			report := mustCheck(t, others(tt.ref), a, b)
			got := make(map[string]int64)
			for _, r := range report.Results {
				if !strings.HasPrefix(r.Code, "reference-") {
					continue
				}
				want := verdict.Fail
				if r.Count == 0 {
					want = verdict.Pass
				} else if got[r.Code] += r.Count; r.Code == verdict.CodeReferenceUndeclared {
					want = verdict.NotVerified
				}
				if r.Verdict != want {
					t.Errorf("%s %s %s: %s, want %s", r.Code, r.Table, r.Subject, r.Verdict, want)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The statement that shows dangling rows shows those that the reference is about.
func TestDanglingStatement(t *testing.T) {
	a, b := objects("a", 101), objects("b", 501)
	b.Rows["notes"][0]["about"] = int64(9999)
	report := mustCheck(t, others(rules.DeclaredReference{
		At: []string{"notes.about"}, To: []string{"characters.guid", "guild.id"}, None: []string{"0", "-1", "<32"},
		When: &rules.When{Column: "kind", Is: []string{"0"}}, Others: rules.OthersPlain,
	}), a, b)
	const want = "SELECT * FROM `notes` c WHERE c.`about` IS NOT NULL AND c.`kind` IN ('0') AND c.`about` NOT IN ('0', '-1') AND NOT c.`about` < 32 AND " +
		"NOT EXISTS (SELECT 1 FROM `characters` p WHERE p.`guid` = c.`about`) AND NOT EXISTS (SELECT 1 FROM `guild` p WHERE p.`id` = c.`about`)"
	if next := find(report, verdict.CodeReferenceDangle, "notes", "")[0].Next[0]; !strings.HasSuffix(next, want) {
		t.Errorf("got  %s\nwant %s", next, want)
	}
}

// What is declared plain is counted, if it holds keys.
func TestPlainIsCounted(t *testing.T) {
	a, b := objects("a", 101), objects("b", 501)
	b.Rows["notes"][0]["kind"] = int64(102) // a key of a's
	opts := others(rules.DeclaredReference{At: []string{"notes.about"}, To: []string{"characters.guid", "guild.id"}, None: []string{"<32"}})
	if report := mustCheck(t, opts, a, b); report.Plain != 1 || len(find(report, verdict.CodeReferenceUndeclared, "notes", "kind")) > 0 {
		t.Errorf("%d columns, verdict %s", report.Plain, report.Verdict)
	}
	opts.Rules[0].Undecided = []string{"notes.kind"}
	opts.Rules[0].Plain = opts.Rules[0].Plain[:2]
	report := mustCheck(t, opts, a, b)
	if found := find(report, verdict.CodeReferenceUndeclared, "notes", "kind"); len(found) != 1 || found[0].Verdict != verdict.NotVerified {
		t.Errorf("got %+v", found)
	}
}

// Of several references of one column, one says what the rows are that none covers.
func TestOthersOfSeveralReferences(t *testing.T) {
	a, b := objects("a", 101), objects("b", 501)
	b.Rows["notes"][1]["about"], b.Rows["notes"][1]["kind"] = int64(151), int64(5)
	for _, word := range []string{"", rules.OthersPlain} {
		opts := others(
			rules.DeclaredReference{At: []string{"notes.about"}, To: []string{"characters.guid"}, None: []string{"<32"}, When: &rules.When{Column: "kind", Is: []string{"0"}}, Others: word},
			rules.DeclaredReference{At: []string{"notes.about"}, To: []string{"guild.id"}, None: []string{"<32"}, When: &rules.When{Column: "kind", Is: []string{"1"}}},
		)
		open := int64(0)
		for _, r := range mustCheck(t, opts, a, b).Results {
			if r.Code == verdict.CodeReferenceUndeclared && r.Table == "notes" && r.Open != nil {
				open += r.Count
			}
		}
		if want := int64(len("plain")-len(word)) / 5; open != want {
			t.Errorf("others %q: %d rows are open, want %d", word, open, want)
		}
	}
}
