package integrations

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"entgo.io/ent/entc"
	"entgo.io/ent/entc/gen"
)

// ent generates its code from ent/schema, in a temporary copy of this module, and
// testdata/ent_test.go runs there.
func TestEnt(t *testing.T) {
	root, err := filepath.Abs("..")
	must(t, err)
	dir := t.TempDir()
	must(t, os.CopyFS(filepath.Join(dir, "ent"), os.DirFS("ent")))
	for _, name := range []string{"go.mod", "go.sum", "helpers_test.go", "testdata/ent_test.go"} {
		text, err := os.ReadFile(name)
		must(t, err)
		text = bytes.Replace(text, []byte("mergesafe => .."), strconv.AppendQuote([]byte("mergesafe => "), root), 1)
		must(t, os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o644))
	}
	t.Chdir(dir)
	must(t, entc.Generate("./ent/schema", new(gen.Config)))
	out, err := exec.CommandContext(t.Context(), "go", "test", "-v", ".").CombinedOutput()
	if t.Logf("%s", out); err != nil {
		t.Error(err)
	}
}
