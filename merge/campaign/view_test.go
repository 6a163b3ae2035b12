package campaign

import (
	"strings"
	"testing"

	"mergesafe/merge/report"
)

// A plan says what failed or could not be read, of an earlier command too.
func TestVerdictPlanned(t *testing.T) {
	for _, c := range []struct {
		other  MergeStatus
		word   string
		ending report.Ending
	}{
		{MergeStatus{Phase: Verified}, "PLANNED", report.Done},
		{MergeStatus{Phase: Refused, Problem: "it runs"}, "REFUSED", report.Refused},
		{MergeStatus{Phase: Failed, Problem: "it differs"}, "FAILED", report.Refused},
		{MergeStatus{Phase: Failed, Problem: "it is away", Incomplete: true}, "INCOMPLETE", report.Incomplete},
		{MergeStatus{Phase: Refused, Problem: "it is away", Incomplete: true}, "INCOMPLETE", report.Incomplete},
	} {
		s := Status{Name: "night", Merges: []MergeStatus{c.other}}
		v := s.Say(telling("plan"))
		if v.Word != c.word || v.Ending != c.ending {
			t.Errorf("%+v: got %s, %s", c.other, v.Word, v.Ending)
		}
	}
}

// A script goes on after what was left out whole, but not while a new database is not open.
func TestVerdictSkipped(t *testing.T) {
	done, skipped := MergeStatus{Phase: Verified}, MergeStatus{Phase: Skipped}
	begun := MergeStatus{Phase: Skipped, Problem: "its new database is not open"}
	for _, c := range []struct {
		merges   []MergeStatus
		word     string
		sentence string
		ending   report.Ending
	}{
		{[]MergeStatus{done, done}, "DONE", "2 of 2 merges verified", report.Done},
		{[]MergeStatus{done, skipped, done}, "DONE", "2 of 2 merges verified; 1 skipped", report.Done},
		{[]MergeStatus{done, begun}, "NOT VERIFIED", "1 of 2 merges verified; nothing failed", report.NotVerified},
	} {
		s := Status{Name: "night", Merges: c.merges}
		v := s.Say(telling("apply"))
		if v.Word != c.word || v.Sentence != "night: "+c.sentence || v.Ending != c.ending {
			t.Errorf("%+v: got %s: %s, %s", c.merges, v.Word, v.Sentence, v.Ending)
		}
	}
}

// An undo is judged by what it did to the merges that it was asked for.
func TestVerdictUndone(t *testing.T) {
	for _, c := range []struct {
		merge    MergeStatus
		word     string
		sentence string
		ending   report.Ending
	}{
		{MergeStatus{Phase: Failed, Undo: UndidNothing}, "FAILED", "1 of 2 merges not undone: see below", report.Refused},
		{MergeStatus{Phase: Failed, Undo: UndidNothing, Incomplete: true}, "INCOMPLETE", "1 of 2 merges not undone: see below", report.Incomplete},
		{MergeStatus{Phase: Verified, Undo: UndidNothing}, "REFUSED", "1 of 2 merges not undone, and still open: see below", report.Refused},
		{MergeStatus{Phase: Planned, Undo: UndidFences}, "UNDONE", "1 of 2 merges undone; the fences of 1 of 2 merges lifted", report.Done},
		{MergeStatus{Phase: Failed, Problem: "it differs"}, "UNDONE", "1 of 2 merges undone", report.Done}, // by an earlier command
	} {
		s := Status{Name: "night", Merges: []MergeStatus{{Phase: Undone, Undo: UndidMerge}, c.merge}}
		v := s.Say(telling("undo"))
		if v.Word != c.word || v.Sentence != "night: "+c.sentence || v.Ending != c.ending {
			t.Errorf("%+v: got %s: %s, %s", c.merge, v.Word, v.Sentence, v.Ending)
		}
	}
}

// telling is for who types commands without flags.
func telling(name string) Telling {
	return Telling{File: "night.toml", Plans: "plans", Name: name, Command: func(name string, merges ...string) string {
		return strings.Join(append([]string{"fleet", name, "night.toml"}, merges...), " ")
	}}
}

// At the end it says which game server is started where, with what rights, of open databases alone.
func TestStart(t *testing.T) {
	s := &Status{Name: "night", Merges: []MergeStatus{
		{Worlds: []string{"w1", "w2"}, Phase: Verified, Open: true, Was: "mysql:tcp(db:3306)/w1", Address: "mysql:tcp(db:3306)/w1_m2", Grants: []string{"GRANT SELECT ON w1_m2.* TO game"}},
		{Worlds: []string{"w3", "w4"}, Phase: Made, Was: "sqlite:w3.db", Address: "sqlite:w3_m2.db", Grants: []string{"GRANT of another"}}}}
	var b strings.Builder
	if err := s.Say(telling("apply")).WriteText(&b, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n  w1              mysql:tcp(db:3306)/w1  mysql:tcp(db:3306)/w1_m2\n", "\n  GRANT SELECT ON w1_m2.* TO game\n", "do not start their game servers"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "w3_m2.db") || strings.Contains(b.String(), "GRANT of another") {
		t.Errorf("it says where to start what is not open:\n%s", &b)
	}
}
