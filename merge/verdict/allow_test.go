package verdict

import (
	"strings"
	"testing"
)

// The flag that the advice for a result prints allows that result, whatever its code is.
func TestAllowFlagAllows(t *testing.T) {
	flags := 0
	for _, c := range Codes() {
		for _, r := range []Result{
			{Code: c.Code}, {Code: c.Code, Table: "mail"}, {Code: c.Code, Table: "mail", Columns: []string{"to"}},
			{Code: c.Code, Table: "mail", Columns: []string{"to", "at"}}, {Code: c.Code, Table: "a.b*", Columns: []string{"it's $x"}},
		} {
			flag := r.AllowFlag()
			if flag == "" {
				continue
			}
			flags++
			shell := strings.NewReplacer(`'\''`, "'", "'", "")
			a, err := parseAllowance(shell.Replace(strings.TrimPrefix(flag, "-allow ")), Codes())
			if err != nil || !a.Allows(&r) {
				t.Errorf("%q does not allow %+v (%v)", flag, r, err)
			}
		}
	}
	if flags < 2*len(Codes()) {
		t.Errorf("%d flags of %d codes", flags, len(Codes()))
	}
}
