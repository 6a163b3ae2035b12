package main

import (
	"flag"
	"io"
	"testing"
	"time"

	"mergesafe/tools/internal/cli/clitest"
)

var everySecret = flag.Bool("every-secret", false, "try each odd DSN at each place of each command line")

// No command line shows the password of a DSN that is written wrongly, wherever it is given.
func TestSecrets(t *testing.T) {
	t.Chdir(t.TempDir())
	start := time.Now()
	clitest.Secrets(t, run, command(nil, io.Discard), map[string][]string{"mergecheck": {"sqlite:a.db", "sqlite:b.db", "sqlite:c.db"}}, *everySecret)
	t.Log(time.Since(start))
}
