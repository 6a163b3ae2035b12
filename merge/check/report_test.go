package check_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

var update = flag.Bool("update", false, "rewrite the golden files of this package")

// faulty is a pair of databases with one of most faults.
func faulty() []*mergetest.Database {
	s1, s2 := settled(1), settled(2)
	s2.Label = "s2-copy"
	// The same server for another world, and so the same keys.
	s2.Registry = append(s2.Registry, catalog.Server{Server: 1, World: "world-9", Reserved: nowMillis()})
	for n := range 4 {
		s2.Rows["items"] = append(s2.Rows["items"], mergetest.Row{"id": id(1, 100+n), "count": int64(7)})
	}
	// Names that only differ in case, one with what would disturb a terminal.
	s2.Rows["players"][0]["name"] = "PLAYER1.0"
	s1.Rows["players"][1]["name"] = "火球术士\x1b[2J"
	s2.Rows["players"][1]["name"] = "火球术士\x1b[2J"
	s2.Rows["players"][2]["mail"] = "a-rather-long-address-that-does-not-fit@example.org"
	// References into nothing, one of which the other database has.
	s2.Rows["items"][0]["owner"] = id(1, 2)
	s2.Rows["items"][1]["owner"] = id(2, 999)
	// IDs that cannot be.
	s1.Rows["items"] = append(s1.Rows["items"],
		mergetest.Row{"id": []byte("short"), "count": int64(1)},
		mergetest.Row{"id": id(12, 1), "count": int64(1)},
		mergetest.Row{"id": idAt(1, nowMillis()+hour, 0), "count": int64(1)})
	// And what nobody can see into.
	s2.Schema.Skipped = []catalog.Skipped{{Table: "chat_log", Reason: "CSV: not part of the snapshot"}}
	s2.Schema.Tables[3].Columns[2].Opaque = "JSON"
	s2.Schema.Tables[1].Columns[2].Type = "TINYINT"
	return []*mergetest.Database{s1, s2}
}

func TestReportGolden(t *testing.T) {
	clean := []*mergetest.Database{settled(1), settled(2), settled(3)}
	unregistered := settled(3)
	unregistered.Registry = nil
	for name, dbs := range map[string][]*mergetest.Database{
		"pass":        clean,
		"fail":        faulty(),
		"notverified": {settled(1), settled(2), unregistered},
	} {
		t.Run(name, func(t *testing.T) {
			report := mustCheck(t, rules.Options{}, dbs...)
			doc, err := json.MarshalIndent(report, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", append(doc, '\n'))

			var back verdict.Report
			if err := json.Unmarshal(doc, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(report, &back); diff != "" {
				t.Errorf("JSON does not read back as it was written:\n%s", diff)
			}
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (go test ./merge/check -run Golden -update rewrites it):\n%s", path, diff)
	}
}

// The first eight columns are named, the others counted, and what has no names is counted alone.
func TestPlainWithKeys(t *testing.T) {
	for want, columns := range map[string][]string{
		"1 column declared plain or shared holds values that are keys (a.b)":                               {"a.b"},
		"9 columns declared plain or shared hold values that are keys (a, b, c, d, e, f, g, h and 1 more)": {"a", "b", "c", "d", "e", "f", "g", "h", "i"},
	} {
		if got := verdict.PlainWithKeys(len(columns), columns); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got, want := verdict.PlainWithKeys(2, nil), "2 columns declared plain or shared hold values that are keys"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
