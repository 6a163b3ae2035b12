package change_test

import (
	"fmt"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/rules"
	"mergesafe/merge/worldtest"
)

// MySQL passes the number of an INSERT that failed only when the table is opened once more. Reading the worlds does that,
// and moves no counter of the plan. A number that a game took since then does.
func TestCounterAfterFailedInsert(t *testing.T) {
	servertest.Needs(t, servertest.MySQL)
	e := worldtest.Engines()[1]
	all := worldtest.KeyWorlds(t, e, 2,
		"CREATE TABLE mails (id INT AUTO_INCREMENT PRIMARY KEY, tag VARCHAR(20) UNIQUE)",
		"INSERT INTO mails VALUES (1, 'w%d m1'), (2, 'w%d m2')")
	for i, d := range all {
		for range 14 { // connections of the game, so that most of the server's 16 caches of open tables hold the table
			worldtest.Asked(t, d, "SELECT COUNT(*) FROM mails", "2")
		}
		worldtest.Exec(t, d, fmt.Sprintf("INSERT IGNORE INTO mails VALUES (3, 'w%d m2')", i))
	}
	p, into := worldtest.PlanOf(t, e, all, worldtest.KeyOptions(func(o *rules.Options, _ *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"mails.id"}})
	}))
	worldtest.MustApply(t, p, into, all)
	worldtest.Proved(t, p, into, all)
	worldtest.MustDrop(t, p, into, all)
	worldtest.Exec(t, all[1], "INSERT INTO mails (tag) VALUES ('sent')", "DELETE FROM mails WHERE tag = 'sent'")
	_, err := build.Apply(t.Context(), p, into, all, job.Options{})
	worldtest.RefusedBecause(t, "used", `the counter of table "mails" was 4 and is 5 since the plan was made`, err)
}
