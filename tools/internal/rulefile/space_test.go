package rulefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A space may take its map from a plan, which is looked for beside the file.
func TestMapOfPlan(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "auth.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"auth.json": "the plan has version 0", "other.json": "no such file"} {
		file := filepath.Join(dir, "rules.toml")
		if err := os.WriteFile(file, []byte("[[merge.space]]\nname = 'accounts'\noffset = '"+name+"'\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := new(Rules).Load(file); err == nil || !strings.Contains(err.Error(), "merge.space.offset") || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "3:") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
