package check

import (
	"testing"

	"mergesafe/merge/verdict"
)

func TestExitCode(t *testing.T) {
	for judged, want := range map[verdict.Verdict]int{verdict.Pass: 0, verdict.Fail: 1, verdict.NotVerified: 3, "": 3, "pass": 3} {
		if got := (&verdict.Report{Verdict: judged}).ExitCode(); got != want {
			t.Errorf("%q: %d, want %d", judged, got, want)
		}
	}
}

func TestWorst(t *testing.T) {
	for want, verdicts := range map[verdict.Verdict][][]verdict.Verdict{
		verdict.Pass:        {{verdict.Pass}, {verdict.Pass, verdict.Pass}},
		verdict.NotVerified: {{}, {verdict.NotVerified}, {verdict.Pass, verdict.NotVerified}, {verdict.NotVerified, verdict.Pass}, {verdict.Pass, verdict.NotVerified, verdict.Pass}, {verdict.Pass, ""}, {""}},
		verdict.Fail:        {{verdict.Fail}, {verdict.Pass, verdict.Fail}, {verdict.Fail, verdict.Pass}, {verdict.NotVerified, verdict.Fail, verdict.Pass}, {verdict.Fail, verdict.NotVerified}},
	} {
		for _, list := range verdicts {
			var results []verdict.Result
			for _, v := range list {
				results = append(results, verdict.Result{Verdict: v})
			}
			if got := worst(results); got != want {
				t.Errorf("%v: %s, want %s", list, got, want)
			}
		}
	}
}
