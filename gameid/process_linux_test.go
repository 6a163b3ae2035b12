package gameid

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// A process counts as ended only if it certainly is: the one that was killed,
// not the one that was stopped, nor one of another machine or boot. Nor does
// that count as running.
func TestHolderEnded(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	h := Holder{Token: "x", PID: cmd.Process.Pid, Process: processName(cmd.Process.Pid)}
	if h.Process == "" {
		t.Fatal("the process has no name")
	}
	if h.Ended() || !h.Running() {
		t.Error("a running process is said to have ended")
	}
	// The same PID, given to another process later.
	earlier := h
	earlier.Process = h.Process + "0"
	if !earlier.Ended() || earlier.Running() {
		t.Error("an earlier process with this PID is said to run")
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if h.Ended() || !h.Running() {
		t.Error("a stopped process is said to have ended")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if !h.Ended() || h.Running() {
		t.Error("a killed process is said to run")
	}
	for _, process := range []string{"", "other-boot" + h.Process, strings.Replace(h.Process, "pid:[", "pid:[9", 1)} {
		elsewhere := h
		elsewhere.Process = process
		if elsewhere.Ended() || elsewhere.Running() {
			t.Errorf("a process named %q, which cannot be seen from here, is said to have ended", process)
		}
	}
	self := newHolder(Epoch())
	if self.Ended() || !self.Running() || self.PID != os.Getpid() || self.Token == newHolder(Epoch()).Token {
		t.Errorf("this process is %+v", self)
	}
}
