package planner_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A plan that was changed by hand is not carried out, nor read.
func TestPlanChanged(t *testing.T) {
	e := worldtest.Engines()[0]
	worlds := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "a"), worldtest.GameWorld(t, e, "s2", 2, 4, "b")}
	p, into := worldtest.PlanOf(t, e, worlds, planner.PlanOptions{})
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Contains(text, strings.TrimPrefix(worlds[0].DSN, "sqlite:")) {
		t.Error("the plan has a DSN in it")
	}
	again, err := plan.ReadPlan(strings.NewReader(text))
	if err != nil || again.ID != p.ID {
		t.Fatal(err)
	}
	var b2 bytes.Buffer
	again.Write(&b2)
	if b2.String() != text {
		t.Error("what was read is written otherwise")
	}
	for _, c := range []string{
		strings.Replace(text, `"name": "s2"`, `"name": "s3"`, 1), strings.Replace(text, `"rows": 4`, `"rows": 5`, 1),
		text + "x", strings.Replace(text, `"engine"`, `"engines"`, 1), "{}", "",
	} {
		if _, err := plan.ReadPlan(strings.NewReader(c)); err == nil {
			t.Errorf("read: %.100s", c)
		}
	}
	// One of another version is refused as such, whatever fields it has.
	for _, fields := range []string{"", `"fields_of_then": 7, `} {
		text := strings.Replace(text, `"version": 1`, fields+`"version": 2`, 1)
		if _, err := plan.ReadPlan(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "the plan has version 2 and this program knows version 1: plan again") {
			t.Error(err)
		}
	}
	p.Tables[0].Worlds[0].Rows++
	if _, err := build.Apply(t.Context(), p, into, worlds, job.Options{}); err == nil || !strings.Contains(err.Error(), "was changed after it was made") {
		t.Error(err)
	}
	p.Tables[0].Worlds[0].Rows--
	if later := worldtest.MustPlan(t, into, worlds, planner.PlanOptions{}); later.ID != p.ID {
		t.Error("the same databases give another plan")
	}
}

// The report that a plan rests on can be had, with samples.
func TestPlanReport(t *testing.T) {
	e := worldtest.Engines()[0]
	worlds := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 5, "same"), worldtest.GameWorld(t, e, "s2", 2, 5, "same")}
	var report *verdict.Report
	p := worldtest.Planned(t, e.Fresh(t, "new"), worlds, planner.PlanOptions{Report: func(r *verdict.Report) { report = r }})
	if report == nil || report.Verdict != p.Check.Verdict || report.Verdict != verdict.Fail || len(p.Refusals) == 0 {
		t.Fatalf("%+v", report)
	}
	for _, r := range report.Results {
		if r.Verdict == verdict.Fail && len(r.Samples) == 0 {
			t.Errorf("no samples: %s", fmt.Sprint(r))
		}
	}
}

// A list without an entry is [] in JSON.
func TestEmptyListsOfPlan(t *testing.T) {
	e := worldtest.Engines()[0]
	all := []world.Database{e.Fresh(t, "a"), e.Fresh(t, "b")}
	for _, d := range all {
		worldtest.Exec(t, d, "CREATE TABLE t (id INTEGER PRIMARY KEY)")
	}
	worldtest.Exec(t, all[0], "INSERT INTO t VALUES (1)")
	var b bytes.Buffer
	p, _ := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
	if err := p.Write(&b); err != nil || strings.Contains(b.String(), "null") {
		t.Errorf("%s, %v", &b, err)
	}
}
