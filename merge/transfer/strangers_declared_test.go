package transfer

import (
	"errors"
	"strings"
	"testing"

	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/undo"
)

// Rows that name what came are seen before an undo also where only the rules know that they
// do; a number that is the same and names nothing of it is no matter.
func TestUndoLooksForDeclaredReferences(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := keyWorlds(t, e, 2,
			"CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, kind INTEGER, who INTEGER)", "INSERT INTO mail VALUES (1, 0, 3), (2, 0, 77)",
			"CREATE TABLE story (who INTEGER)", "INSERT INTO story VALUES (2), (2)")
		p := rekeyed(t, all, keyOptions(func(o *declare.Options, d *declare.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, declare.Space{Keys: []string{"mail.id"}})
			d.Plain = append(d.Plain, "mail.kind")
			d.References = append(d.References, declare.DeclaredReference{At: []string{"mail.who"}, To: []string{"chars.guid"}, When: &declare.When{Column: "kind", Is: []string{"0"}}, Others: declare.OthersPlain},
				declare.DeclaredReference{At: []string{"story.who"}, To: []string{"chars.guid"}})
		}))
		if p.Rekey.Offset("chars.guid", "w1") != 1000 {
			t.Fatalf("%+v", p.Rekey.Spaces)
		}
		undo := func() (reason string) {
			t.Helper()
			_, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{Force: true})
			if refused, ok := errors.AsType[*ledger.RefusedError](err); ok {
				for _, r := range refused.Refusals {
					reason += r.Table + ": " + r.Reason + "\n"
				}
			} else if err != nil {
				t.Fatal(err)
			}
			return reason
		}
		exec(t, all[0], "INSERT INTO mail VALUES (5000, 0, 1002), (5001, 1, 1001), (5002, 0, 1077), (5003, 0, NULL)", "INSERT INTO story VALUES (1002), (1500)")
		if got := undo(); !strings.Contains(got, "mail: 1 row that did not come with the merge names rows that did, by who: row 5000") || !strings.Contains(got, "story: 1 row that") || strings.Count(got, "\n") != 2 {
			t.Errorf("refused for\n%s", got)
		}
		exec(t, all[0], "UPDATE mail SET who = 1 WHERE id = 5000", "DELETE FROM mail WHERE id = 1001")
		exec(t, all[0], "UPDATE items SET owner = 1003 WHERE id = 2") // an own row
		if got := undo(); !strings.Contains(got, "items: 1 row") || strings.Contains(got, "mail:") {
			t.Errorf("refused for\n%s", got)
		}
		exec(t, all[0], "UPDATE items SET owner = 1 WHERE id = 2", "DELETE FROM story WHERE who = 1002", "INSERT INTO story VALUES (1002), (1002)")
		if got := undo(); got != "" {
			t.Errorf("refused for\n%s", got)
		}
		asked(t, all[0], "SELECT id, who FROM mail WHERE id > 1000 ORDER BY id", "5000|1", "5001|1001", "5002|1077", "5003|<nil>")
	})
}

// A row that referred to nothing before has nothing to do with the merge: the undo goes to
// its end.
func TestUndoLeavesWhatDangledBefore(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := keyWorlds(t, e, 2, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, p INTEGER, FOREIGN KEY (p) REFERENCES t (id))", "INSERT INTO t VALUES (1, NULL), (2, 1)")
		p := rekeyed(t, all, keyOptions(func(o *declare.Options, d *declare.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, declare.Space{Keys: []string{"t.id"}})
		}))
		odd := "INSERT INTO t VALUES (5000, 4711)"
		if e.name != "sqlite" {
			odd = "SET STATEMENT foreign_key_checks = 0 FOR " + odd
			if p.Engine == "mysql" {
				odd = strings.Replace("INSERT /*+ SET_VAR(foreign_key_checks = 0) */ INTO t VALUES (5000, 4711)", "SET STATEMENT ", "", 1)
			}
		}
		exec(t, all[0], odd)
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		asked(t, all[0], "SELECT id FROM t ORDER BY id", "1", "2", "5000")
	})
}

// Rows that were made since in a table that was emptied are not overwritten, even by force,
// where other rows refer to them.
func TestUndoForcesNoRowsThatOthersName(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := keyWorlds(t, e, 2, "CREATE TABLE room (id INTEGER NOT NULL PRIMARY KEY, code VARCHAR(9) UNIQUE)", "INSERT INTO room VALUES (1, 'A'), (2, 'B')",
			"CREATE TABLE seat (id INTEGER NOT NULL PRIMARY KEY, room INTEGER, FOREIGN KEY (room) REFERENCES room (id))", "INSERT INTO seat VALUES (1, 1)")
		p := rekeyed(t, all, keyOptions(func(o *declare.Options, d *declare.Declarations) {
			o.Tables = []declare.TablePolicy{{Tables: []string{"room", "seat"}, Policy: declare.PolicyReset}}
			d.Plain = append(d.Plain, "room.code")
		}))
		exec(t, all[0], "INSERT INTO room VALUES (9, 'B')", "INSERT INTO seat VALUES (50, 9)")
		refused := new(ledger.RefusedError)
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{Force: true}); !errors.As(err, &refused) || !strings.Contains(refused.Error(), "cannot be forced") {
			t.Errorf("%v", err)
		}
		exec(t, all[0], "UPDATE room SET code = 'C' WHERE id = 9")
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		asked(t, all[0], "SELECT s.id, r.code FROM seat AS s JOIN room AS r ON r.id = s.room ORDER BY s.id", "1|A", "50|C")
	})
}
