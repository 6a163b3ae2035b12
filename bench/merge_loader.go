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
	after      string // the flag of myloader that makes indexes after the rows; "" if it has none
}

func findLoader(ctx context.Context) (l loader) {
	if l.dump, l.missing = exec.LookPath("mydumper"); l.missing == nil {
		l.load, l.missing = exec.LookPath("myloader")
	}
	if l.missing != nil {
		l.missing = fmt.Errorf("%w; on Debian or Ubuntu: apt-get install mydumper", l.missing)
		return l
	}
	help, _ := exec.CommandContext(ctx, l.load, "--help").Output()
	for _, flag := range []string{"--innodb-optimize-keys", "--optimize-keys"} {
		if strings.Contains(string(help), flag) {
			l.after = flag
		}
	}
	return l
}

func (l loader) note() string {
	if l.after == "" {
		return "; this version makes indexes first"
	}
	return "; indexes after the rows"
}

// run copies tables of worlds into an empty database, by files in a folder. The
// first world makes them. There are 4 threads, as servermerge has.
func (l loader) run(ctx context.Context, account, dir, to string, tables []string, worlds ...string) error {
	files, err := os.MkdirTemp(dir, "mydumper-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(files)
	for i, world := range worlds {
		dump := []string{"--defaults-file=" + account, "-t", "4", "-B", world, "-T", strings.Join(tables, ","), "-o", files + "/" + world}
		load := []string{"--defaults-file=" + account, "-t", "4", "-B", to, "-d", files + "/" + world}
		if i > 0 {
			dump = append(dump, "--no-schemas")
		} else if l.after != "" {
			load = append(load, l.after)
		}
		for _, cmd := range []*exec.Cmd{exec.CommandContext(ctx, l.dump, dump...), exec.CommandContext(ctx, l.load, load...)} {
			if says, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", cmd.Path, err, says)
			}
		}
	}
	return nil
}
