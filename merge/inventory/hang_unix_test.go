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
	oneAtATime := newGate(1, 1)
	if w := readWorld(t.Context(), at("hangs", "sqlite:"+pipe), Options{Connect: 50 * time.Millisecond}.withDefaults(), oneAtATime); w.Problem != "it did not answer within 50ms" {
		t.Errorf("got %q", w.Problem)
	}
	if w := readWorld(t.Context(), sqlite(t, "w1", characters), Options{Connect: time.Minute}.withDefaults(), oneAtATime); w.Problem != "" {
		t.Errorf("the next world: %q", w.Problem)
	}
	release, err := os.OpenFile(pipe, os.O_RDWR, 0) // whoever still opens it gets it now
	if err != nil {
		t.Fatal(err)
	}
	release.Close()
}
