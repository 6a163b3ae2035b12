package transfer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/verdict"
)

// respawns are worlds in which dead creatures come back, of the world itself (instance 0) and
// of instances, which count 1, 2, 3; and auctions of two kinds, which mails name.
var respawns = []string{
	"CREATE TABLE respawns (spawn INTEGER NOT NULL, instance INTEGER NOT NULL, due INTEGER, PRIMARY KEY (spawn, instance))",
	"INSERT INTO respawns VALUES (7, 0, 10%d), (8, 0, 20%d), (7, 1, 30%d), (8, 3, 40%d)",
	"CREATE TABLE auction (id INTEGER NOT NULL PRIMARY KEY, kind INTEGER)",
	"INSERT INTO auction VALUES (1, 0), (2, 1), (3, 1), (4, NULL)",
	"CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, auction INTEGER, tag VARCHAR(20))",
	"INSERT INTO mail VALUES (1, 1, 'w%d stays'), (2, 2, 'w%d leaves'), (3, 9, 'w%d gone'), (4, 0, 'w%d none'), (5, 4, 'w%d null')",
}

func leaving(respawn, auction *declare.When, rows declare.RowsPolicy) planner.PlanOptions {
	return keyOptions(func(o *declare.Options, d *declare.Declarations) {
		if respawn != nil {
			o.Tables = append(o.Tables, declare.TablePolicy{Tables: []string{"respawns"}, Policy: declare.PolicySkip, When: respawn})
		}
		if auction != nil {
			o.Tables = append(o.Tables, declare.TablePolicy{Tables: []string{"auction"}, Policy: declare.PolicySkip, When: auction, Rows: rows})
		}
		o.Rekey.Spaces = append(o.Rekey.Spaces, declare.Space{Keys: []string{"mail.id"}}, declare.Space{Keys: []string{"auction.id"}})
		d.Shared = append(d.Shared, "respawns.spawn")
		d.Plain = append(d.Plain, "respawns.due", "auction.kind")
		d.References = append(d.References, declare.DeclaredReference{At: []string{"mail.auction"}, To: []string{"auction.id"}, None: []string{"0"}},
			declare.DeclaredReference{At: []string{"respawns.instance"}, To: []string{"chars.guid"}, None: []string{"0"}})
	})
}

var ofWorld, ofKind1 = &declare.When{Column: "instance", Is: []string{"0"}}, &declare.When{Column: "kind", Not: []string{"0"}}

// Some rows of a table stay behind, and what refers to them; the others come, with new keys.
// The plan counts both, and verify proves it.
func TestLeftRows(t *testing.T) {
	servertest.NotShort(t)
	onEach(t, func(t *testing.T, e engine) {
		all := keyWorlds(t, e, 3, respawns...)
		p, into := planOf(t, e, all, leaving(ofWorld, ofKind1, declare.RowsDrop))
		// Of the auctions all but the first stay behind: NULL is not 0.
		if got := fmt.Sprintln(p.LeftRows[0].Table, p.LeftRows[0].Counts, p.LeftRows[1].Table, p.LeftRows[1].Counts, p.Severed[0].Counts, p.Table("respawns").Rows(), p.Table("auction").Rows(), p.Table("mail").Rows()); got != "auction [0 3 3] respawns [0 2 2] [0 2 2] 8 6 11\n" {
			t.Fatal(got)
		}
		interruptedAnywhere(t, e, p, all, map[bool]int{true: 60, false: 95}[e.name == "sqlite"])
		if _, err := apply.Apply(t.Context(), p, into, all, job.Options{}); err != nil {
			t.Fatal(err)
		}
		asked(t, into, "SELECT spawn, instance, due FROM respawns ORDER BY due", "7|0|100", "8|0|200", "7|1|300", "7|1001|301", "7|2001|302", "8|3|400", "8|1003|401", "8|2003|402")
		asked(t, into, "SELECT id, kind FROM auction ORDER BY id", "1|0", "2|1", "3|1", "4|<nil>", "1001|0", "2001|0")
		asked(t, into, "SELECT id, auction, tag FROM mail WHERE id > 1000 AND id < 2000 ORDER BY id", "1001|1001|w1 stays", "1003|1009|w1 gone", "1004|0|w1 none")
		for change, back := range map[string]string{
			"INSERT INTO respawns VALUES (9, 0, 1)":                           "DELETE FROM respawns WHERE spawn = 9",
			"UPDATE respawns SET due = 1 WHERE spawn = 7 AND instance = 1001": "UPDATE respawns SET due = 301 WHERE due = 1",
			"DELETE FROM respawns WHERE spawn = 8 AND instance = 2003":        "INSERT INTO respawns VALUES (8, 2003, 402)",
			"UPDATE respawns SET due = 1 WHERE spawn = 7 AND instance = 0":    "UPDATE respawns SET due = 100 WHERE due = 1",
		} {
			exec(t, into, change)
			if proof := verified(t, p, into, all); proof.Verdict != verdict.Fail || !strings.Contains(fmt.Sprintf("%+v", proof.Keys), "table respawns") {
				t.Errorf("%s: %s %+v", change, proof.Verdict, proof.Keys)
			}
			exec(t, into, back)
			if proof := verified(t, p, into, all); proof.Verdict != verdict.Pass {
				t.Fatalf("%s: %+v", back, proof)
			}
		}
		// A row that stays behind and is changed since is nobody's matter; one more of those that come is.
		exec(t, all[1], "UPDATE respawns SET due = 1 WHERE instance = 0")
		if proof := verified(t, p, into, all); proof.Verdict != verdict.Pass {
			t.Errorf("%+v", proof)
		}
		exec(t, all[1], "UPDATE respawns SET instance = 2 WHERE instance = 0 AND spawn = 7")
		if proof := verified(t, p, into, all); proof.Verdict != verdict.Fail {
			t.Errorf("%+v", proof)
		}
	})
}

// What contradicts is refused by name.
func TestLeftRowsRefused(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := keyWorlds(t, e, 2, respawns...)
		for _, tt := range []struct {
			opts planner.PlanOptions
			want string
		}{
			{leaving(nil, nil, ""), "key-collision"},
			{leaving(ofWorld, ofKind1, ""), `rows refer to rows of auction that stay behind when kind is not 0: 2 rows of mail in w1 (auction)`},
			{leaving(ofWorld, ofKind1, declare.RowsNone), `table auction: rows = "none" is beside when`},
			{leaving(&declare.When{Column: "where", Is: []string{"0"}}, nil, ""), `table respawns: when: in w0 it has no column "where" of integers`},
		} {
			p, err := planner.NewPlan(t.Context(), e.fresh(t, "new"), all, tt.opts)
			got := fmt.Sprint(err)
			if err == nil {
				got = fmt.Sprint(p.Refusals)
			} else if !errors.Is(err, declare.ErrOptions) {
				t.Error(err)
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("%s\nwant: %s", got, tt.want)
			}
		}
	})
}

// gone of a reference says too that rows follow which name one of the rows of a table that stay behind.
func TestLeftRowsGone(t *testing.T) {
	e := engines()[0]
	all := keyWorlds(t, e, 2, respawns...)
	opts := leaving(ofWorld, ofKind1, "")
	opts.Check.Rules[0].References[1].Gone = declare.RowsDrop
	p, into := planOf(t, e, all, opts)
	if got, want := p.Table("mail").Rows(), mustPlan(t, into, all, leaving(ofWorld, ofKind1, declare.RowsDrop)).Table("mail").Rows(); got != want {
		t.Errorf("%d rows come, want %d", got, want)
	}
}
