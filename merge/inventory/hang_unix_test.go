//go:build unix

package inventory

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mergesafe/internal/servertest"
)

// A file that hangs when it is opened, as on a disk of the network that is away, is given up.
func TestHangingFile(t *testing.T) {
	servertest.NotShort(t)
	pipe := filepath.Join(t.TempDir(), "hangs.db")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	worlds := []Database{at("hangs", "sqlite:"+pipe), sqlite(t, "w1", characters)}
	inv := Read(t.Context(), worlds, Options{Parallel: 1, Connect: 50 * time.Millisecond})
	if w := inv.Worlds; w[0].Problem != "it did not answer within 50ms" || w[1].Problem != "" {
		t.Errorf("got %q", problems(inv))
	}
	release, err := os.OpenFile(pipe, os.O_RDWR, 0) // whoever still opens it gets it now
	if err != nil {
		t.Fatal(err)
	}
	release.Close()
}
