package schema_test

import (
	"os"
	"path/filepath"
	"testing"

	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/schema"
)

// All that follows "sqlite:" is the path of the file, whatever is in it.
func TestFileNames(t *testing.T) {
	for _, name := range []string{"a?b.db", "a?mode=ro", "a%3fb#c.db"} {
		d := rowio.Database{Name: "w", DSN: "sqlite:" + filepath.Join(t.TempDir(), name)}
		run(t, d, "CREATE TABLE t (a)")
		if there, err := schema.Exists(t.Context(), d); err != nil || !there {
			t.Errorf("%s: there: %v, %v", name, there, err)
		}
		if err := schema.Remove(t.Context(), d); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(d.DSN[len("sqlite:"):]); !os.IsNotExist(err) {
			t.Errorf("%s is there after it was removed: %v", name, err)
		}
	}
}
