package build_test

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// Undo names the triggers of others: those that stay with their tables, and those that go with tables of the merge.
func TestUndoNamesTriggersOfOthers(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		p, into, all := openedMany(t)
		worldtest.Exec(t, into, "CREATE TABLE theirs (id INT)", "CREATE TRIGGER on_theirs BEFORE INSERT ON theirs FOR EACH ROW SET @x = 1",
			"CREATE TRIGGER on_things BEFORE INSERT ON things FOR EACH ROW SET @x = 1")
		done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true})
		if err != nil || !slices.Equal(done.Others, []string{"on_theirs", "theirs"}) || !slices.ContainsFunc(done.Notes, func(note string) bool {
			return strings.Contains(note, "the trigger on_things of things was dropped")
		}) {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

// A trigger of others on what the merge made does not keep the file of SQLite, and is named.
func TestUndoOfAFileWithTriggersOfOthers(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
	var notes []string
	for _, table := range []string{"Players", "gameid_servers", "mergesafe_merge", "mergesafe_progress"} {
		worldtest.Exec(t, into, "CREATE TRIGGER on_"+table+" AFTER DELETE ON "+table+" BEGIN SELECT 1; END")
		notes = append(notes, fmt.Sprintf("the trigger on_%s of %s was dropped with its table: the merge did not make it", table, strings.ToLower(table)))
	}
	done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
	slices.Sort(notes)
	slices.Sort(done.Notes)
	if there, _ := world.Exists(t.Context(), into); err != nil || there || !done.Dropped || len(done.Others) > 0 || !slices.Equal(done.Notes, notes) {
		t.Errorf("%+v, %v; the file is there: %v", done, err, there)
	}
}

// An undo that was killed when it had dropped its record leaves what others made, and the next one names it.
func TestUndoNamesWhatIsLeftOfNothing(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		p, into, all := openedMany(t)
		worldtest.Exec(t, into, "CREATE TABLE theirs (id INT)")
		_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: job.Options{RetryFor: -1}}, job.Hooks{Fail: func(at string) error {
			if at == "after drop" && len(worldtest.Rows(t, into, "SHOW TABLES LIKE 'mergesafe\\_merge'")) == 0 {
				return driver.ErrBadConn
			}
			return nil
		}})
		if !errors.Is(err, record.ErrStopped) {
			t.Fatal(err)
		}
		_, err = build.Undo(t.Context(), p, into, all, build.UndoOptions{})
		if !errors.Is(err, record.ErrNoMerge) || !strings.HasSuffix(err.Error(), "there is nothing to undo; what is in new stays: theirs") {
			t.Error(err)
		}
	})
}

// When undo raises a counter, MySQL restates constants of CHECK constraints in the first world: TIME'100:00:00'. They are still those of the others.
func TestPlanAfterAnUndoThatRaised(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		p, into, all := openedMany(t, "CREATE TABLE races (id INT PRIMARY KEY AUTO_INCREMENT, took TIME, CHECK (took < '100:00:00'))")
		worldtest.Exec(t, into, "INSERT INTO races VALUES (1000, NULL)", "DELETE FROM races")
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		worldtest.MustPlan(t, into, all, planner.PlanOptions{Check: rules.Options{Allow: []string{verdict.CodeColumnOpaque, verdict.CodeAutoIncrement, verdict.CodeTableSkipped}, Rules: worldtest.NamesNothing}})
	})
}
