package change_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/worldtest"
)

// auctions are worlds with auctions, mails that name them in some rows, and what hangs on
// the mails.
var auctions = []string{
	"CREATE TABLE auction (id INTEGER NOT NULL PRIMARY KEY, seller INTEGER)",
	"INSERT INTO auction VALUES (5, 1), (6, 2)",
	"CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, kind INTEGER, auction INTEGER, tag VARCHAR(40))",
	"INSERT INTO mail VALUES (1, 2, 5, 'w%d names one'), (2, 2, 77, 'w%d names one that is gone'), (3, 2, 0, 'w%d names nobody'), (4, 2, NULL, 'w%d NULL'), (5, 1, 6, 'w%d a letter'), (6, NULL, 6, 'w%d of no kind')",
	"CREATE TABLE attached (id INTEGER NOT NULL PRIMARY KEY, mail INTEGER, tag VARCHAR(40))",
	"INSERT INTO attached VALUES (1, 5, 'w%d stamp'), (2, 3, 'w%d coin')",
}

// severing declares what auctions makes; the auctions stay behind.
func severing(gone rules.Gone, when *rules.When) planner.PlanOptions {
	return worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Tables = []rules.TablePolicy{{Tables: []string{"auction"}, Policy: rules.PolicySkip}}
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"mail.id"}}, rules.Space{Keys: []string{"attached.id"}})
		d.Plain = append(d.Plain, "mail.kind", "auction.seller")
		of := rules.DeclaredReference{At: []string{"mail.auction"}, To: []string{"auction.id"}, None: []string{"0"}, When: when, Gone: gone}
		if when != nil {
			of.Others = rules.OthersPlain
		}
		d.References = append(d.References, of, rules.DeclaredReference{At: []string{"attached.mail"}, To: []string{"mail.id"}})
	})
}

// What rows name that stays behind becomes nobody, or the rows stay behind as well; all
// else is as ever.
func TestSevered(t *testing.T) {
	letters := &rules.When{Column: "kind", Is: []string{"2"}}
	for _, tt := range []struct {
		name string
		gone rules.Gone
		when *rules.When
		want []string // mails that came, and what they name
	}{
		{"none", rules.GoneNone, nil, []string{"1|NULL", "2|NULL", "3|0", "4|NULL", "5|NULL", "6|NULL"}},
		{"none when", rules.GoneNone, letters, []string{"1|NULL", "2|NULL", "3|0", "4|NULL", "5|6", "6|6"}},
		{"drop when", rules.GoneDrop, letters, []string{"3|0", "4|NULL", "5|6", "6|6"}},
		{"drop unless", rules.GoneDrop, &rules.When{Column: "kind", Not: []string{"1"}}, []string{"3|0", "4|NULL", "5|6"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := worldtest.OnSQLite(t)
			all := worldtest.KeyWorlds(t, e, 3, auctions...)
			p, into := worldtest.Rekeyed(t, e, all, severing(tt.gone, tt.when))
			worldtest.Asked(t, into, "SELECT COUNT(*) FROM auction", "2")
			worldtest.Asked(t, into, "SELECT COUNT(*) FROM mail WHERE tag LIKE 'w0%' AND (auction IN (5, 77, 6))", "4")
			for i, w := range []string{"w1", "w2"} {
				by := p.Rekey.Offset("mail.id", w)
				var want []string
				for _, row := range tt.want {
					id, names, _ := strings.Cut(row, "|")
					want = append(want, id+"|"+names)
				}
				worldtest.Asked(t, into, "SELECT id - "+fmt.Sprint(by)+", COALESCE(auction, 'NULL') FROM mail WHERE tag LIKE '"+w+"%' ORDER BY id", want...)
				worldtest.Asked(t, into, "SELECT id - "+fmt.Sprint(by)+", mail - "+fmt.Sprint(by)+" FROM attached WHERE tag LIKE '"+w+"%' ORDER BY id", "1|5", "2|3")
				if dropped := tt.gone == rules.GoneDrop; dropped {
					if found, err := record.Whereis(t.Context(), into, w, "mail", integer("1")); err != nil || len(found) > 0 {
						t.Errorf("a mail that stayed behind is at %v (%v)", found, err)
					}
				}
				if n := p.Severed[0].Counts[i+1]; n == 0 {
					t.Errorf("of %s no row is counted", w)
				}
			}
		})
	}
}

// A value that may mean nobody is not taken for one that refers to what stays behind.
func TestSeveredGuessesNobody(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, append(slices.Clone(auctions), "DELETE FROM attached")...)
	for _, tt := range []struct {
		none, dangling []string
		refused        bool
	}{{nil, nil, true}, {[]string{"0"}, nil, false}, {nil, []string{"0"}, false}} {
		o := severing(rules.GoneDrop, nil)
		of := &o.Check.Rules[0].References[1]
		of.None, of.Dangling = tt.none, tt.dangling
		p := worldtest.Planned(t, e.Fresh(t, "new"), all, o)
		if odd := slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool { return r.Code == verdict.CodeKeyNobody && r.Table == "mail" }); odd != tt.refused || len(p.Refusals) > 0 && !odd {
			t.Errorf("none %q, dangling %q: refused for %v", tt.none, tt.dangling, p.Refusals)
		}
	}
}

// A row that would stay behind, and that others refer to, is no reason to leave these
// behind, nor to let them refer to nothing.
func TestSeveredLeavesOrphans(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, auctions...)
	worldtest.RefusedWith(t, worldtest.Planned(t, e.Fresh(t, "new"), all, severing(rules.GoneDrop, nil)), verdict.CodeReferenceSevered, "1 row of attached in w1 (mail)")
}

// A column that takes NULL gets NULL, and another one the value that means nobody; of a table without a key rows
// stay behind, and references are cleared, as of any other.
func TestSeveredForeignKeys(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2,
		"CREATE TABLE auction (id INTEGER NOT NULL PRIMARY KEY)", "INSERT INTO auction VALUES (5), (6)",
		"CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, auction INTEGER, FOREIGN KEY (auction) REFERENCES auction (id))",
		"INSERT INTO mail VALUES (1, 5), (2, NULL)",
		"CREATE TABLE story (auction INTEGER, tag VARCHAR(20))", "CREATE TABLE bids (id INTEGER NOT NULL PRIMARY KEY, lot INTEGER NOT NULL)",
		"INSERT INTO story VALUES (5, 'w%d sold'), (5, 'w%d sold'), (0, 'w%d opened'), (0, 'w%d opened')", "INSERT INTO bids VALUES (1, 6)")
	options := func(o *rules.Options, d *rules.Declarations) {
		o.Tables = []rules.TablePolicy{{Tables: []string{"auction"}, Policy: rules.PolicySkip}}
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"mail.id"}}, rules.Space{Keys: []string{"bids.id"}})
		d.References = append(d.References, rules.DeclaredReference{At: []string{"mail.auction", "bids.lot", "story.auction"}, To: []string{"auction.id"}, None: []string{"0"}, Gone: rules.GoneDrop})
	}
	_, into := worldtest.Rekeyed(t, e, all, worldtest.KeyOptions(options))
	worldtest.Asked(t, into, "SELECT COUNT(*), COUNT(auction) FROM mail", "3|1")
	worldtest.Asked(t, into, "SELECT tag, COUNT(*) FROM story GROUP BY tag ORDER BY tag", "w0 opened|2", "w0 sold|2", "w1 opened|2")
	worldtest.Asked(t, into, "SELECT COUNT(*) FROM bids", "1")
	_, into = worldtest.Rekeyed(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		options(o, d)
		d.References[1].Gone = rules.GoneNone
	}))
	worldtest.Asked(t, into, "SELECT COUNT(*), COUNT(auction) FROM mail", "4|1")
	worldtest.Asked(t, into, "SELECT lot FROM bids ORDER BY id", "6", "0")
	worldtest.Asked(t, into, "SELECT COUNT(*), COUNT(auction) FROM story", "8|6")
}

// What cannot be done with rows that refer to what stays behind is said.
func TestSeveredCannot(t *testing.T) {
	for _, tt := range []struct {
		name, mail string
		gone       rules.Gone
		ref        rules.DeclaredReference
		want       string
	}{
		{"a key", "CREATE TABLE mail (auction INTEGER NOT NULL PRIMARY KEY)", rules.GoneNone, rules.DeclaredReference{At: []string{"mail.auction"}, To: []string{"auction.id"}, None: []string{"0"}}, "part of a key"},
		{"no value for nobody", "CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, auction INTEGER NOT NULL)", rules.GoneNone, rules.DeclaredReference{At: []string{"mail.auction"}, To: []string{"auction.id"}, None: []string{"<0"}}, "allows no NULL"},
		{"a text", "CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, auction VARCHAR(20))", rules.GoneNone, rules.DeclaredReference{At: []string{"mail.auction"}, To: []string{"auction.id"}}, "not an integer column"},
		{"a text in the condition", "CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, auction INTEGER, kind VARCHAR(20))", rules.GoneDrop,
			rules.DeclaredReference{At: []string{"mail.auction"}, To: []string{"auction.id"}, When: &rules.When{Column: "kind", Is: []string{"a"}}}, "of its condition is not an integer column"},
		{"several columns", "CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, auction INTEGER, house INTEGER)", rules.GoneDrop,
			rules.DeclaredReference{Table: "mail", Columns: []string{"auction", "house"}, ToTable: "auction", ToColumns: []string{"id", "house"}}, "of 2 columns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := worldtest.KeyWorlds(t, worldtest.Engines()[0], 2, "CREATE TABLE auction (id INTEGER NOT NULL PRIMARY KEY, house INTEGER)", tt.mail)
			_, err := planner.NewPlan(t.Context(), worldtest.Engines()[0].Fresh(t, "new"), all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
				o.Tables = []rules.TablePolicy{{Tables: []string{"auction"}, Policy: rules.PolicySkip}}
				tt.ref.Gone = tt.gone
				d.References = append(d.References, tt.ref)
			}))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "mail.") {
				t.Errorf("%v, want an error with %q", err, tt.want)
			}
		})
	}
}

// What the target's own rows refer to is not taken out from under them: the plan says what
// to do first. Then the sources' rows are cut as those of a table that stays.
func TestSeveredFromEmptied(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, append(slices.Clone(auctions), "CREATE TABLE diary (id INTEGER NOT NULL PRIMARY KEY, lot INTEGER)", "INSERT INTO diary VALUES (1, 5), (2, 0)")...)
	options := severing(rules.GoneNone, nil)
	options.Check.Tables[0].Policy = rules.PolicyReset
	options.Check.Tables = append(options.Check.Tables, rules.TablePolicy{Tables: []string{"diary"}, Policy: rules.PolicySkip})
	options.Check.Rules[0].References = append(options.Check.Rules[0].References, rules.DeclaredReference{At: []string{"diary.lot"}, To: []string{"auction.id"}, None: []string{"0"}})
	var report *verdict.Report
	options.Report = func(r *verdict.Report) { report = r }
	refused := func() (tables []string) {
		t.Helper()
		p := worldtest.Planned(t, e.Fresh(t, "new"), all, options)
		for _, r := range p.Refusals {
			if r.Code != verdict.CodeReferenceSevered {
				t.Errorf("refused for %s", r)
			}
			tables = append(tables, r.Table)
		}
		return tables
	}
	if got := refused(); !slices.Equal(got, []string{"diary", "mail"}) {
		t.Errorf("refused for rows of %q", got)
	}
	for _, r := range report.Results {
		if r.Code != verdict.CodeReferenceSevered || r.Verdict != verdict.Fail {
			continue
		}
		_, statement, found := strings.Cut(r.Next[0], ": ")
		if !found || r.Rows == 0 {
			t.Fatalf("%+v", r)
		}
		if r.Table == "diary" {
			statement = strings.Replace(statement, "SELECT *", "DELETE", 1)
		}
		worldtest.Exec(t, all[0], statement)
	}
	if got := refused(); got != nil {
		t.Errorf("refused for rows of %q", got)
	}
	_, into := worldtest.Rekeyed(t, e, all, options)
	worldtest.Asked(t, into, "SELECT COUNT(*) FROM auction", "0")
	worldtest.Asked(t, into, "SELECT COUNT(*), COUNT(auction), MAX(auction) FROM mail", "12|2|0")
}
