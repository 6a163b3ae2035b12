//go:build unix

package campaign

import (
	"os"
	"os/exec"
	"syscall"
)

// apart gives the command a process group of its own, and ends the whole group when it is
// cancelled. Ctrl-C in a terminal is for the campaign, not for its hooks.
func apart(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
}

// endGroup kills what is left of the group of a command that ended.
func endGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
