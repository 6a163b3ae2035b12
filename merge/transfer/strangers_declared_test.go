package transfer

import (
	"errors"
	"strings"
	"testing"

	"mergesafe/merge"
)

// Rows that name what came are seen before an undo also where only the rules know that they
// do; a number that is the same and names nothing of it is no matter.
func TestUndoLooksForDeclaredReferences(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := keyWorlds(t, e, 2,
			"CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, kind INTEGER, who INTEGER)", "INSERT INTO mail VALUES (1, 0, 3), (2, 0, 77)",
			"CREATE TABLE story (who INTEGER)", "INSERT INTO story VALUES (2), (2)")
		p := rekeyed(t, all, keyOptions(func(o *merge.Options, d *merge.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, merge.Space{Keys: []string{"mail.id"}})
			d.Plain = append(d.Plain, "mail.kind")
			d.References = append(d.References, merge.DeclaredReference{At: []string{"mail.who"}, To: []string{"chars.guid"}, When: &merge.When{Column: "kind", Is: []string{"0"}}, Others: merge.OthersPlain},
				merge.DeclaredReference{At: []string{"story.who"}, To: []string{"chars.guid"}})
		}))
		if p.Rekey.Offset("chars.guid", "w1") != 1000 {
			t.Fatalf("%+v", p.Rekey.Spaces)
		}
		undo := func() (reason string) {
			t.Helper()
			_, err := Undo(t.Context(), p, all[0], all[1:], UndoOptions{Force: true})
			if refused, ok := errors.AsType[*RefusedError](err); ok {
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
