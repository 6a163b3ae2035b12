package world

import (
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Tables of engines without transactions are read, with an account that may only
// SELECT, and what was read holds if nothing changed between the first and the last
// look.
func TestTablesOutsideOfTheSnapshot(t *testing.T) {
	t.Parallel()
	engines := []string{"MyISAM", "MEMORY"}
	if servertest.OnMariaDB(t) {
		engines = append(engines, "Aria")
	}
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			target, source := newServerWorld(t), newServerWorld(t)
			target.exec(t, "CREATE TABLE logs (id INT PRIMARY KEY, v VARCHAR(9)) ENGINE=InnoDB", "INSERT INTO logs VALUES (1, 'a')")
			source.exec(t, "CREATE TABLE logs (id INT PRIMARY KEY, v VARCHAR(9)) ENGINE="+engine, "INSERT INTO logs VALUES (2, 'b'), (3, NULL)")
			for _, tt := range []struct {
				name, write string
				want        verdict.Verdict
			}{
				{"quiet", "", verdict.Pass},
				{"written", "UPDATE logs SET v = 'c' WHERE id = 2", verdict.NotVerified},
				{"one more", "INSERT INTO logs VALUES (4, 'd')", verdict.NotVerified},
			} {
				t.Run(tt.name, func(t *testing.T) {
					a, err := Open(t.Context(), "a", target.dsn)
					if err != nil {
						t.Fatal(err)
					}
					defer a.Close()
					b, err := Open(t.Context(), "b", "mysql:"+grant(t, "SELECT", source))
					if err != nil {
						t.Fatal(err)
					}
					defer b.Close()
					report, err := mergeCheck(t.Context(), []catalog.Source{a, b}, rules.Options{}, func(*verdict.Report) {
						if tt.write != "" {
							source.exec(t, tt.write)
						}
					})
					if err != nil {
						t.Fatal(err)
					}
					for _, r := range report.Results {
						if r.Table != "logs" {
							continue
						}
						if r.Verdict != tt.want {
							t.Errorf("%s: %s, want %s: %v", r.Code, r.Verdict, tt.want, r.Gaps)
						}
						if tt.want == verdict.NotVerified && r.Code != verdict.CodeTableChanged && !strings.Contains(r.Gaps[len(r.Gaps)-1].Reason, "logs is "+engine+": not part of the snapshot, and its rows changed while the check read them") {
							t.Errorf("%s: %v", r.Code, r.Gaps)
						}
					}
				})
			}
		})
	}
}

// A look at such a table leaves the snapshot of the others as it is.
func TestStampKeepsTheSnapshot(t *testing.T) {
	t.Parallel()
	w := newServerWorld(t)
	w.exec(t, "CREATE TABLE old (id INT PRIMARY KEY) ENGINE=MyISAM", "CREATE TABLE k (id INT PRIMARY KEY)", "INSERT INTO k VALUES (1)")
	s := w.open(t)
	w.exec(t, "INSERT INTO k VALUES (2)")
	if _, err := s.Stamp(t.Context(), "old"); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Count(t.Context(), "k"); n != 1 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
}
