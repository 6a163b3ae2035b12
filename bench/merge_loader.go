package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// loader is what one would do by hand with several threads: mydumper, then myloader.
type loader struct {
	dump, load string // the programs
	missing    error  // why there are none
}

func findLoader() (l loader) {
	if l.dump, l.missing = exec.LookPath("mydumper"); l.missing == nil {
		l.load, l.missing = exec.LookPath("myloader")
	}
	if l.missing != nil {
		l.missing = fmt.Errorf("%w; on Debian or Ubuntu: apt-get install mydumper", l.missing)
	}
	return l
}

// run copies the tables of a merge into those of another database, by files in a
// folder. Both programs are left as they are but for what is asked: 4 threads, as
// servermerge has, and rows for tables that are there.
func (l loader) run(ctx context.Context, account, from, to, dir string) error {
	files, err := os.MkdirTemp(dir, "mydumper-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(files)
	for _, cmd := range []*exec.Cmd{
		exec.CommandContext(ctx, l.dump, "--defaults-file="+account, "-t", "4", "--no-schemas", "-B", from, "-T", strings.Join(mergeTables[:], ","), "-o", files),
		exec.CommandContext(ctx, l.load, "--defaults-file="+account, "-t", "4", "-B", to, "-d", files),
	} {
		if says, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", cmd.Path, err, says)
		}
	}
	return nil
}
