package campaign

import (
	"os"
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/report"
)

// What a proof finds in an open database stays, however often apply finds it open; and one that is open already was proved when it
// was opened, which is not said to be now.
func TestOpenIsNoProof(t *testing.T) {
	p := newPlace(t, 2, 3)
	b := p.book("", "w1 w2")
	planned(t, b, p.options())
	must(t, second(Apply(t.Context(), b, p.options())))
	made := p.made("w1")
	made.exec("", "UPDATE players SET gold = gold + 1 WHERE name = 'n1-0'")
	must(t, second(Verify(t.Context(), b, p.options())))
	found := statusOf(t, b).Merges[0]
	if found.Phase != Failed || !strings.Contains(found.Problem, "player") {
		t.Fatalf("%+v", found)
	}
	must(t, second(Apply(t.Context(), b, p.options())))
	if now := statusOf(t, b).Merges[0]; now.Phase != Failed || now.Problem != found.Problem {
		t.Errorf("apply after it: %+v", now)
	}

	// The state of the campaign from before the merge comes back.
	must(t, b.Close())
	must(t, os.Remove(b.statePath()))
	b = opened(t, b.file)
	must(t, second(Plan(t.Context(), b, p.options())))
	must(t, second(Apply(t.Context(), b, p.options())))
	events, err := b.Events(t.Context(), 0, 1<<20)
	must(t, err)
	for _, e := range events {
		if strings.Contains(e.Text, "every row is as planned") {
			t.Errorf("%+v, and nothing was proved", e)
		}
	}
}

// A merge whose new database is gone is not verified, whether it is named or not.
func TestVerifyOfAGoneMerge(t *testing.T) {
	for _, named := range []bool{false, true} {
		p := newPlace(t, 2, 3, 2, 3)
		b := p.book("", "w1 w2", "w3 w4")
		planned(t, b, p.options())
		must(t, second(Apply(t.Context(), b, p.options())))
		plan, err := b.readPlan("w3")
		must(t, err)
		must(t, second(merge.Undo(t.Context(), plan, p.newDatabase("w3"), []merge.Database{p.database("w3"), p.database("w4")}, merge.UndoOptions{})))
		o := p.options()
		if named {
			o.Merges = []string{"w3"}
		}
		must(t, second(Verify(t.Context(), b, o)))
		s := statusOf(t, b)
		if got := phases(t, b); got != "w1 verified, w3 undone" || !strings.Contains(s.Merges[1].Problem, "another program undid the merge") {
			t.Errorf("%s: %+v", got, s.Merges[1])
		}
		if said := s.Say(Telling{Name: "verify"}); said.Ending == report.Done {
			t.Errorf("it says %s: %s", said.Word, said.Sentence)
		}
	}
}

// A verify that is refused, here since the new database was dropped by hand, leaves nothing verified, also for apply and status.
func TestVerifyThatIsRefused(t *testing.T) {
	p := newPlace(t, 2, 3, 2, 3)
	b := p.book("", "w1 w2", "w3 w4")
	planned(t, b, p.options())
	must(t, second(Apply(t.Context(), b, p.options())))
	must(t, os.Remove(strings.TrimPrefix(p.newDatabase("w3").DSN, "sqlite:")))
	must(t, second(Verify(t.Context(), b, p.options())))
	for _, command := range []string{"verify", "apply", "status"} {
		if command == "apply" {
			must(t, second(Apply(t.Context(), b, p.options())))
		}
		s := statusOf(t, b)
		if said := s.Say(Telling{Name: command}); said.Ending == report.Done || s.Merges[1].Phase == Verified {
			t.Errorf("%s: %s %s: %+v", command, said.Word, said.Sentence, s.Merges[1])
		}
	}
}

// A verify that could not read a merge, and an apply that began none, have not come to their end.
func TestNothingIsNotDone(t *testing.T) {
	of := func(all ...MergeStatus) *Status { return &Status{Name: "night", Merges: all} }
	verified := MergeStatus{Worlds: []string{"w1"}, Phase: Verified}
	unread := MergeStatus{Worlds: []string{"w3"}, Phase: Verified, Problem: "it could not be verified: the disk is full"}
	waiting := MergeStatus{Worlds: []string{"w1"}, Phase: Waiting}
	for _, c := range []struct {
		command string
		s       *Status
		ending  report.Ending
		word    string
	}{
		{"verify", of(verified, unread), report.Incomplete, "INCOMPLETE"},
		{"apply", of(verified, unread), report.Done, "DONE"},
		{"apply", of(waiting), report.NotVerified, "NOT BEGUN"},
		{"verify", of(waiting), report.NotVerified, "NOT BEGUN"},
		{"status", of(waiting), report.Done, "NOT PLANNED"},
		{"status", of(MergeStatus{Worlds: []string{"w1"}, Phase: Planned}), report.Done, "NOT BEGUN"},
	} {
		if said := c.s.Say(Telling{Name: c.command}); said.Ending != c.ending || said.Word != c.word {
			t.Errorf("%s: %s %s: %s", c.command, said.Word, said.Ending, said.Sentence)
		}
	}
}
