package main

import (
	"regexp"
	"testing"
	"time"
)

// short are options under which numbers mean nothing.
func short(t *testing.T, only string) options {
	p := pace{rounds: 1, slice: time.Millisecond}
	return options{
		only: regexp.MustCompile(only), cores: 2, dir: t.TempDir(), pace: p, stressRuns: 1, sustain: 60 * time.Millisecond,
		storage: p, stock: 2000, insert: handRows, mergePlayers: 500, mergeRounds: 2,
		log: func(string, ...any) {},
	}
}

func TestSQLiteStorage(t *testing.T) {
	sections, err := sqliteStorage(t.Context(), short(t, "SQLite"))
	if err != nil {
		t.Fatal(err)
	}
	goals := make(map[string]string)
	for _, r := range sections[0].rows {
		if r.measured == "" || r.ratio == "" {
			t.Errorf("nothing measured: %+v", r)
		}
		goals[r.what] = r.goal
	}
	if len(goals) != 8 || goals[storeInsert] != "≥ 0.90" || goals[storeGet] != "≥ 0.90" || goals[storeAll] != "≥ 0.92" {
		t.Errorf("got rows with the goals %v", goals)
	}
	if sections, err := sqliteStorage(t.Context(), short(t, "MariaDB")); err != nil || sections != nil {
		t.Errorf("not asked for, and got %v, %v", sections, err)
	}
}

func TestAtTheCap(t *testing.T) {
	sections, err := atTheCap(t.Context(), short(t, "cap"))
	if err != nil {
		t.Fatal(err)
	}
	s := sections[0]
	if len(s.rows) < 10 {
		t.Errorf("got %d rows", len(s.rows))
	}
	for _, r := range s.rows {
		if measured := r.measured != "" && r.goal != "" && r.holds != ""; !measured && r.note == "" {
			t.Errorf("nothing measured and no reason given: %+v", r)
		}
	}
}

func TestMintingAndText(t *testing.T) {
	sections, err := mintingAndText(t.Context(), short(t, "mergesafe|rs/xid|under a mutex|C, 100"))
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, s := range sections {
		for _, r := range s.rows {
			if r.holds != "" {
				judged++
			}
		}
	}
	if want := mintingGoals + 1; judged != want { // the allocations are one more
		t.Errorf("%d goals were judged, want %d", judged, want)
	}
}
