package merge

import "testing"

func TestExitCode(t *testing.T) {
	for verdict, want := range map[Verdict]int{Pass: 0, Fail: 1, NotVerified: 3, "": 3, "pass": 3} {
		if got := (&Report{Verdict: verdict}).ExitCode(); got != want {
			t.Errorf("%q: %d, want %d", verdict, got, want)
		}
	}
}

func TestWorst(t *testing.T) {
	for want, verdicts := range map[Verdict][][]Verdict{
		Pass:        {{Pass}, {Pass, Pass}},
		NotVerified: {{}, {NotVerified}, {Pass, NotVerified}, {NotVerified, Pass}, {Pass, NotVerified, Pass}, {Pass, ""}, {""}},
		Fail:        {{Fail}, {Pass, Fail}, {Fail, Pass}, {NotVerified, Fail, Pass}, {Fail, NotVerified}},
	} {
		for _, list := range verdicts {
			var results []Result
			for _, v := range list {
				results = append(results, Result{Verdict: v})
			}
			if got := worst(results); got != want {
				t.Errorf("%v: %s, want %s", list, got, want)
			}
		}
	}
}
