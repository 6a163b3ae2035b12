package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/verdict"
)

var update = flag.Bool("update", false, "rewrite the golden files of this package")

// The reports that package check keeps as JSON read as they always did.
func TestTextGolden(t *testing.T) {
	for _, name := range []string{"pass", "fail", "notverified"} {
		doc, err := os.ReadFile(filepath.Join("..", "check", "testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		r := new(verdict.Report)
		if err := json.Unmarshal(doc, r); err != nil {
			t.Fatal(err)
		}
		var text, back bytes.Buffer
		if err := NewCheck(r).WriteText(&text, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".txt", text.Bytes())
		if err := NewCheck(r).WriteJSON(&back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(doc), back.String()); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (go test ./merge/report -run Golden -update rewrites it):\n%s", path, diff)
	}
}
