package prove_test

import (
	"fmt"
	"slices"
	"testing"

	"mergesafe/merge/check"
	"mergesafe/merge/job"
	"mergesafe/merge/prove"
	"mergesafe/merge/rules"
	"mergesafe/merge/worldtest"
)

// The progress of plan and verify says of which tables rows are read once more for want of memory, and why: here each row
// names one that is read after it.
func TestReadingAgainIsSaid(t *testing.T) {
	e := worldtest.OnSQLite(t)
	rows := check.HeavyValues + 2
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE kin (id INTEGER NOT NULL PRIMARY KEY, next INTEGER NOT NULL, tag VARCHAR(20) NOT NULL)",
		fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO kin SELECT i, i %% %[1]d + 1, 'w%%d' FROM n", rows))
	opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		d.References = append(d.References, rules.DeclaredReference{At: []string{"kin.next"}, To: []string{"kin.id"}})
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"kin.id"}})
	})
	var told []string
	note := func(p job.Progress) {
		if p.Again != "" {
			told = append(told, p.Database+"."+p.Table+": "+p.Again)
		}
	}
	said := func(databases ...string) {
		t.Helper()
		for i := range databases {
			databases[i] += ".kin: too many values of next may be keys that are read later"
		}
		if slices.Sort(told); !slices.Equal(told, databases) {
			t.Errorf("told %q, want %q", told, databases)
		}
		told = nil
	}
	opts.Progress = note
	into := e.Fresh(t, "new")
	p := worldtest.Planned(t, into, all, opts)
	said("w0", "w1")
	worldtest.MakeAll(t, p, into, all)
	if _, err := prove.Verify(t.Context(), p, into, all, job.Options{Progress: note}); err != nil {
		t.Fatal(err)
	}
	said("new")
}
