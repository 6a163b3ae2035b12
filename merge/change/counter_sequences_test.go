package change_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// sequenceWorlds are worlds of which a sequence counts the characters and another one stands
// alone.
func sequenceWorlds(t *testing.T, e worldtest.Engine, further ...string) []world.Database {
	t.Helper()
	return worldtest.KeyWorlds(t, e, 2, append([]string{
		"CREATE SEQUENCE char_seq START 4", "ALTER TABLE chars MODIFY guid INTEGER NOT NULL DEFAULT NEXTVAL(char_seq)",
		"CREATE SEQUENCE item_seq START 3 INCREMENT 10"}, further...)...)
}

func sequencesDeclared(o *rules.Options, _ *rules.Declarations) {
	o.Rekey.Counters = []rules.CounterRow{{At: "char_seq", Space: "chars.guid"}, {At: "`item_seq`", Space: "items.id"}}
}

// A sequence that ends soon is raised to just above its keys.
func TestSequenceEndsSoon(t *testing.T) {
	servertest.OnlyMariaDB(t, "MySQL has no sequences")
	all := sequenceWorlds(t, worldtest.Engines()[1], "ALTER SEQUENCE char_seq MAXVALUE 1500")
	_, into := worldtest.Rekeyed(t, worldtest.Engines()[1], all, worldtest.KeyOptions(sequencesDeclared))
	worldtest.Asked(t, into, "SELECT NEXTVAL(char_seq)", "1004")
}

// A sequence that is not declared is open, with the line that declares it.
func TestSequenceUndeclared(t *testing.T) {
	servertest.OnlyMariaDB(t, "MySQL has no sequences")
	e := worldtest.Engines()[1]
	all, into := sequenceWorlds(t, e), e.Fresh(t, "new")
	p := worldtest.Planned(t, into, all, worldtest.KeyOptions(nil))
	if got := fmt.Sprint(p.Refusals); !strings.Contains(got, "a sequence that counts chars.guid (DEFAULT)") || !strings.Contains(got, "item_seq") || len(p.Refusals) != 2 {
		t.Errorf("refused for %s", got)
	}
	o := worldtest.KeyOptions(nil).Check
	report, err := worldtest.Checked(t.Context(), all, o)
	if err != nil {
		t.Fatal(err)
	}
	next := make(map[string]string)
	for _, r := range report.Results {
		if r.Code == verdict.CodeTableSkipped {
			next[r.Table] = r.Message + ": " + strings.Join(r.Next, "")
		}
	}
	if want := `a sequence that counts chars.guid (DEFAULT), and is not declared: it would hand out numbers that merged rows have: [[merge.counter]] at = "char_seq", to = "chars.guid"; or`; len(next) != 2 || !strings.HasPrefix(next["char_seq"], want) {
		t.Errorf("got %q", next)
	}
	o.Allow = []string{"table-skipped:item_seq", "table-skipped:char_seq"}
	worldtest.MustPlan(t, into, all, planner.PlanOptions{Check: o})
}

// Sequences that are declared are raised above the keys that come, and keep their remainder. Tables
// of the new database count by its own, and those of the worlds stay where they are.
func TestSequencesAreRaised(t *testing.T) {
	servertest.OnlyMariaDB(t, "MySQL has no sequences")
	all := sequenceWorlds(t, worldtest.Engines()[1])
	before := worldtest.Dump(t, all[0])
	p, into := worldtest.Rekeyed(t, worldtest.Engines()[1], all, worldtest.KeyOptions(sequencesDeclared))
	worldtest.Exec(t, into, "INSERT INTO chars (tag) VALUES ('later')")
	worldtest.Asked(t, into, "SELECT guid, NEXTVAL(item_seq), NEXTVAL(item_seq) FROM chars WHERE tag = 'later'", "2000|2003|2013")
	worldtest.Exec(t, into, "DELETE FROM chars WHERE tag = 'later'")
	worldtest.MustDrop(t, p, into, all)
	if after := worldtest.Dump(t, all[0]); after != before {
		t.Errorf("after the undo:\n%s\nwant\n%s", after, before)
	}
	for _, d := range all {
		worldtest.Asked(t, d, "SELECT NEXTVAL(char_seq), NEXTVAL(item_seq)", "4|3")
	}
}

// New keys lie above what a sequence has given.
func TestSequenceIsPassed(t *testing.T) {
	servertest.OnlyMariaDB(t, "MySQL has no sequences")
	all := sequenceWorlds(t, worldtest.Engines()[1], "ALTER SEQUENCE char_seq RESTART 70000")
	p, _ := worldtest.PlanOf(t, worldtest.Engines()[1], all, worldtest.KeyOptions(sequencesDeclared))
	if got := p.Rekey.Offset("chars.guid", all[1].Name); got != 100_000 {
		t.Errorf("the offset is %d, want 100000", got)
	}
}

// A sequence that cannot be raised refuses the plan, one that another process used stops
// apply, and one that lies too low is found by verify.
func TestSequenceInTheWay(t *testing.T) {
	servertest.OnlyMariaDB(t, "MySQL has no sequences")
	misspelt := worldtest.KeyOptions(func(o *rules.Options, _ *rules.Declarations) {
		o.Rekey.Counters = []rules.CounterRow{{At: "chars_seq", Space: "chars.guid"}}
	})
	e := worldtest.Engines()[1]
	worlds := sequenceWorlds(t, e)
	if _, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), worlds, misspelt); err == nil || !strings.Contains(err.Error(), `counter 1: at is "chars_seq": want table.column, or the name of a sequence of the `) || !strings.Contains(err.Error(), `(did you mean "char_seq"?)`) {
		t.Errorf("misspelt: %v", err)
	}
	for change, want := range map[string]string{
		"ALTER SEQUENCE char_seq CYCLE":         "begins again at its end",
		"ALTER SEQUENCE char_seq MAXVALUE 1003": "would be raised to 1004, but ends at 1003: ALTER SEQUENCE `char_seq` MAXVALUE",
	} {
		all := sequenceWorlds(t, worldtest.Engines()[1], change)
		worldtest.Refuses(t, e.Fresh(t, "new"), all, worldtest.KeyOptions(sequencesDeclared), want)
	}
	all := sequenceWorlds(t, e)
	p, into := worldtest.PlanOf(t, e, all, worldtest.KeyOptions(sequencesDeclared))
	writer := into
	writer.DSN = "mysql:" + servertest.Grant(t, "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, TRIGGER", strings.TrimPrefix(into.DSN, "mysql:"))
	_, err := build.Apply(t.Context(), p, writer, all, job.Options{})
	worldtest.RefusedBecause(t, "without ALTER", "the account lacks rights on it", err)
	worldtest.Exec(t, all[0], "DO NEXTVAL(char_seq)")
	_, err = build.Apply(t.Context(), p, into, all, job.Options{})
	worldtest.RefusedBecause(t, "used", `the sequence "char_seq" was 4 and is 1004 since the plan was made`, err)
	worldtest.Exec(t, all[0], "ALTER SEQUENCE char_seq RESTART 4")
	worldtest.MustApply(t, p, into, all)
	worldtest.Exec(t, into, "ALTER SEQUENCE item_seq RESTART 13")
	if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Fail || !strings.Contains(fmt.Sprint(proof.Keys), "the sequence item_seq is below keys that were copied") {
		t.Errorf("%s: %+v", proof.Verdict, proof.Keys)
	}
}

// A table that others made in the place of a sequence is no sequence, and stays.
func TestSequenceReplaced(t *testing.T) {
	servertest.OnlyMariaDB(t, "MySQL has no sequences")
	e := worldtest.Engines()[1]
	all := sequenceWorlds(t, e)
	p, into := worldtest.MergeOf(t, e, all, worldtest.KeyOptions(sequencesDeclared))
	worldtest.Opened(t, p, into, all)
	worldtest.Exec(t, into, "DROP SEQUENCE item_seq", "CREATE TABLE item_seq (a INT)")
	if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil || !slices.Equal(done.Others, []string{"item_seq"}) {
		t.Errorf("%+v, %v", done, err)
	}
}

// A sequence of another database cannot be raised, and is open. If that is allowed, a new database
// cannot be made that counts by it.
func TestSequenceElsewhere(t *testing.T) {
	servertest.OnlyMariaDB(t, "MySQL has no sequences")
	e := worldtest.Engines()[1]
	all, into := worldtest.KeyWorlds(t, e, 2), e.Fresh(t, "new")
	other := e.Fresh(t, "other")
	worldtest.Exec(t, other, "CREATE SEQUENCE shared START 4")
	schema := worldtest.Rows(t, other, "SELECT DATABASE()")[0][0]
	for _, d := range all {
		worldtest.Exec(t, d, "ALTER TABLE chars MODIFY guid INTEGER NOT NULL DEFAULT NEXTVAL(`"+schema+"`.shared)")
	}
	p, err := planner.NewPlan(t.Context(), into, all, worldtest.KeyOptions(nil))
	if err != nil || len(p.Refusals) != 2 || !strings.Contains(p.Refusals[0].Reason, "counted by a sequence that is not in this database: DEFAULT nextval(`"+schema+"`.`shared`)") {
		t.Fatalf("%v, %v", p, err)
	}
	opts := worldtest.KeyOptions(func(o *rules.Options, _ *rules.Declarations) { o.Allow = []string{"key-counter:chars.guid"} })
	worldtest.Refuses(t, into, all, opts, "it contains the name of the database")
}
