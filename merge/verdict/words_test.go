package verdict_test

import (
	"strings"
	"testing"

	"mergesafe/merge/declare"
	"mergesafe/merge/verdict"
)

// The flag that a finding names allows just that finding, whatever its code and its names.
func TestAllowFlag(t *testing.T) {
	for _, code := range verdict.Codes() {
		for _, at := range [][2]string{{"rates", "rate"}, {"a.b", "it's"}, {"x*", "`y`"}} {
			r := &verdict.Result{Code: code.Code, Table: at[0], Subject: "s", Columns: []string{at[1]}, Verdict: verdict.NotVerified}
			flag, ok := strings.CutPrefix(r.AllowFlag(), "-allow ")
			if !ok {
				t.Errorf("%s: %q", code.Code, r.AllowFlag())
			}
			if place, quoted := strings.CutPrefix(flag, code.Code+":'"); quoted { // as a shell reads it
				flag = code.Code + ":" + strings.ReplaceAll(strings.TrimSuffix(place, "'"), `'\''`, "'")
			}
			all, err := verdict.Allowances(declare.Options{Allow: []string{flag}})
			if err != nil || !all[0].Allows(r) || all[0].Allows(&verdict.Result{Code: code.Code, Table: "other", Columns: r.Columns}) {
				t.Errorf("%s: %v", flag, err)
			}
		}
		whole := &verdict.Result{Code: code.Code, Verdict: verdict.NotVerified}
		if want := map[bool]string{false: "-allow " + code.Code}[code.OneColumn]; whole.AllowFlag() != want {
			t.Errorf("%s of no table: %q, want %q", code.Code, whole.AllowFlag(), want)
		}
	}
}
