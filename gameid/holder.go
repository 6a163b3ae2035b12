package gameid

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// newHolder describes this process.
func newHolder(now time.Time) Holder {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	pid := os.Getpid()
	return Holder{
		Token:   rand.Text(),
		Host:    host,
		PID:     pid,
		Program: filepath.Base(os.Args[0]),
		Since:   now.UTC().Truncate(time.Millisecond),
		Process: processName(pid),
	}
}

// String names the process for a message, such as
// "gameserver (pid 4711) on host-a since 2026-11-21T03:00:00.000Z".
func (h Holder) String() string {
	if h.IsZero() {
		return "no process"
	}
	return fmt.Sprintf("%s (pid %d) on %s since %s", h.Program, h.PID, h.Host, stamp(h.Since))
}

// Running reports whether the process of h certainly runs on this machine, or
// is stopped there (SIGSTOP). Elsewhere than on Linux it is never certain.
func (h Holder) Running() bool {
	return h.Process != "" && processName(h.PID) == h.Process && !h.Ended()
}
