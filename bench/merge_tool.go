package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tool is the command servermerge, with a configuration that names the worlds.
type tool struct {
	program, config string
	plan            string // the file of the plan
}

// buildTool builds the command, of the module that this one measures.
func buildTool(ctx context.Context, m *measuring) tool {
	m.log("building servermerge")
	t := tool{filepath.Join(m.dir, "servermerge"), filepath.Join(m.dir, "config.toml"), filepath.Join(m.dir, "plan.json")}
	module, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Module.Dir}}", "mergesafe/gameid").Output()
	if err != nil {
		m.must(fmt.Errorf("look for the module that is measured, which is found from within bench: %w", err))
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", t.program, "./tools/servermerge")
	build.Dir = strings.TrimSpace(string(module))
	if says, err := build.CombinedOutput(); err != nil {
		m.must(fmt.Errorf("build servermerge: %w\n%s", err, says))
	}
	return t
}

// configure writes the configuration, which names databases and their addresses.
func (t tool) configure(m *measuring, dsn func(name string) string, names ...string) {
	var config []byte
	for _, name := range names {
		config = fmt.Appendf(config, "[[source]]\nname = %q\ndsn = %q\n", name, dsn(name))
	}
	m.must(os.WriteFile(t.config, config, 0o600))
}

// usage is what a process took.
type usage struct {
	time time.Duration
	peak uint64 // bytes of memory; 0 where the system does not tell
}

// run runs one of the tool's commands. An exit code other than 0 is an
// [*exec.ExitError] with what the tool said.
func (t tool) run(ctx context.Context, command string, args ...string) (u usage, err error) {
	cmd := exec.CommandContext(ctx, t.program, append([]string{command, "-config", t.config}, args...)...)
	var says bytes.Buffer
	cmd.Stdout, cmd.Stderr = &says, &says
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return u, err
	}
	peak := watchMemory(cmd.Process.Pid)
	err = cmd.Wait()
	u = usage{time.Since(began), peak()}
	if err != nil {
		err = fmt.Errorf("servermerge %s: %w\n%s", command, err, says.Bytes())
	}
	return u, err
}

// watchMemory watches a process until the function that it returns is called,
// which tells the most memory that the process ever had, in bytes.
//
// What the system tells of a child that has ended is of no use: it is at least
// as much as we have ourselves, from the moment before the child was another
// program.
func watchMemory(pid int) (peak func() uint64) {
	file := fmt.Sprintf("/proc/%d/status", pid)
	var most uint64
	stop := often(10*time.Millisecond, func() {
		// A high-water mark, so that nothing is missed between two looks.
		kib, _ := strconv.ParseUint(strings.TrimSuffix(field(file, ":", "VmHWM"), " kB"), 10, 64)
		most = max(most, kib<<10)
	})
	return func() uint64 {
		stop()
		return most
	}
}
