package transfer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/merge/verdict"
)

// builtIn are worlds of which the guilds below 100 are built in.
var builtIn = []string{
	"CREATE TABLE guilds (id INTEGER NOT NULL PRIMARY KEY, tag VARCHAR(20))",
	"INSERT INTO guilds VALUES (0, 'nobody'), (1, 'the guard'), (99, 'merchants'), (100, 'w%d knights'), (101, 'w%d thieves')",
	"CREATE TABLE ranks (id INTEGER NOT NULL PRIMARY KEY, guild INTEGER, tag VARCHAR(20))",
	"INSERT INTO ranks VALUES (1, 1, 'w%d guard'), (2, 100, 'w%d knight'), (3, 0, 'w%d none'), (4, 57, 'w%d gone'), (5, 177, 'w%d lost')",
}

func keeping(keep string) planner.PlanOptions {
	return keyOptions(func(o *declare.Options, d *declare.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, declare.Space{Keys: []string{"guilds.id"}, Keep: keep}, declare.Space{Keys: []string{"ranks.id"}})
		d.References = append(d.References, declare.DeclaredReference{At: []string{"ranks.guild"}, To: []string{"guilds.id"}})
	})
}

// Built-in rows that are the same in all worlds keep their keys and are there once; what
// refers to them goes on to.
func TestKept(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := keyWorlds(t, e, 3, builtIn...)
		before := dump(t, all[0], ledger.KeysTable)
		p := rekeyed(t, all, keeping("<100"))
		asked(t, all[0], "SELECT id, tag FROM guilds WHERE id < 100 ORDER BY id", "0|nobody", "1|the guard", "99|merchants")
		asked(t, all[0], "SELECT COUNT(*) FROM guilds", "9")
		for _, w := range []string{"w1", "w2"} {
			by := p.Rekey.Offset("guilds.id", w)
			asked(t, all[0], fmt.Sprintf("SELECT guild - CASE WHEN guild < 100 THEN 0 ELSE %d END FROM ranks WHERE tag LIKE '%s%%' ORDER BY id", by, w), "1", "100", "0", "57", "177")
			if found, err := ledger.Whereis(t.Context(), all[0], w, "guilds", integerOf("1")); err != nil || len(found) > 0 {
				t.Errorf("a row that stayed behind is at %v (%v)", found, err)
			}
		}
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if after := dump(t, all[0], ledger.KeysTable); after != before {
			t.Errorf("after the undo:\n%s, want\n%s", after, before)
		}
	})
}

// Rows that are not the same in all worlds are not built in.
func TestKeptDiffers(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := keyWorlds(t, e, 2, builtIn...)
		for _, change := range [][2]string{
			{"UPDATE guilds SET tag = 'guards' WHERE id = 1", "UPDATE guilds SET tag = 'the guard' WHERE id = 1"},
			{"DELETE FROM guilds WHERE id = 99", "INSERT INTO guilds VALUES (99, 'merchants')"},
			{"INSERT INTO guilds VALUES (7, 'more')", "DELETE FROM guilds WHERE id = 7"},
		} {
			exec(t, all[1], change[0])
			p, err := planner.NewPlan(t.Context(), all[0], all[1:], keeping("<100"))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool {
				return r.Code == verdict.CodeTableDiffers && r.Table == "guilds" && strings.Contains(r.Reason, "id <100")
			}) {
				t.Errorf("%s: refused for %v", change[0], p.Refusals)
			}
			exec(t, all[1], change[1])
		}
		if p := mustPlan(t, all[0], all[1:], keeping("<100")); len(p.Refusals) > 0 {
			t.Errorf("refused for %v", p.Refusals)
		}
	})
}

// A column that names keys of which some are kept, and others of which none is, cannot be
// told which it means.
func TestKeptAmongOthers(t *testing.T) {
	all := keyWorlds(t, engines()[0], 2, builtIn...)
	o := keeping("<100")
	o.Check.Rules[0].References[1].To = []string{"guilds.id", "chars.guid"}
	if _, err := planner.NewPlan(t.Context(), all[0], all[1:], o); err == nil || !strings.Contains(err.Error(), "same keep") {
		t.Errorf("%v", err)
	}
}

// What was proved to be the same in every world is looked at again before the merge: a row
// that came since would be left behind, and nobody would see it.
func TestAlikeChangedSincePlan(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := keyWorlds(t, e, 2, append(slices.Clone(builtIn), "CREATE TABLE conf (k VARCHAR(9) PRIMARY KEY, v VARCHAR(9))", "INSERT INTO conf VALUES ('a', 'b')")...)
		o := keeping("<100")
		o.Check.Tables = []declare.TablePolicy{{Tables: []string{"conf"}, Policy: declare.PolicySame}}
		o.Check.Rules[0].Plain = append(o.Check.Rules[0].Plain, "conf.v")
		p := mustPlan(t, all[0], all[1:], o)
		for _, change := range []struct{ database, table, do, back string }{
			{"w1", "guilds", "INSERT INTO guilds VALUES (7, 'new')", "DELETE FROM guilds WHERE id = 7"},
			{"w1", "guilds", "UPDATE guilds SET tag = 'x' WHERE id = 1", "UPDATE guilds SET tag = 'the guard' WHERE id = 1"},
			{"w0", "conf", "UPDATE conf SET v = 'c'", "UPDATE conf SET v = 'b'"},
			{"w1", "conf", "UPDATE conf SET v = 'c'", "UPDATE conf SET v = 'b'"},
		} {
			at := all[slices.IndexFunc(all, func(d rowio.Database) bool { return d.Name == change.database })]
			exec(t, at, change.do)
			before := dump(t, all[0])
			refused := new(ledger.RefusedError)
			if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); !errors.As(err, &refused) || refused.Refusals[0].Table != change.table || refused.Refusals[0].Source != change.database {
				t.Errorf("%s in %s: %v", change.do, change.database, err)
			}
			if dump(t, all[0]) != before {
				t.Error("something was changed")
			}
			exec(t, at, change.back)
		}
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		asked(t, all[0], "SELECT COUNT(*) FROM conf", "1")
	})
}
