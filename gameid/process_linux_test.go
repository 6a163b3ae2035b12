package gameid

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
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
	for _, process := range []string{"", "other-boot" + h.Process, strings.Replace(h.Process, "pid:[", "pid:[9", 1), strings.Replace(h.Process, "time:[", "time:[9", 1)} {
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

// Where a PID or a start time means something else, no process of this one counts as ended, or as running:
// in another time namespace, and where /proc shows the processes of another PID namespace.
func TestHolderOfAnotherNamespace(t *testing.T) {
	const asks = "GAMEID_TEST_HOLDER"
	if text := os.Getenv(asks); text != "" {
		var h Holder
		if err := h.Scan(text); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("ended %t, running %t; itself named %t\n", h.Ended(), h.Running(), processName(os.Getpid()) != "")
		return
	}
	self, err := newHolder(Epoch()).Value()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		namespace []string
		named     bool
	}{
		{[]string{"--time", "--boottime", "100000"}, true},
		{[]string{"--pid", "--fork"}, false},
	} {
		namespace := test.namespace
		t.Run(namespace[0], func(t *testing.T) {
			if err := exec.Command("unshare", append(namespace, "true")...).Run(); err != nil {
				t.Skip("no namespace can be made here: ", err)
			}
			cmd := exec.Command("unshare", append(namespace, os.Args[0], "-test.run=^TestHolderOfAnotherNamespace$")...)
			cmd.Env = append(os.Environ(), asks+"="+self.(string))
			out, err := cmd.CombinedOutput()
			if want := fmt.Sprintf("ended false, running false; itself named %t\n", test.named); err != nil || !strings.HasPrefix(string(out), want) {
				t.Errorf("got %q, %v, want %q", out, err, want)
			}
		})
	}
}

// That a process has the same PID in both namespaces, by chance, does not mean that /proc shows its own.
func TestSamePIDInAnotherNamespace(t *testing.T) {
	const asks = "GAMEID_TEST_SAME_PID"
	if os.Getenv(asks) != "" {
		if self, err := os.Readlink("/proc/self"); err == nil && self == strconv.Itoa(os.Getpid()) {
			fmt.Printf("same; named %q\n", processName(os.Getpid()))
		}
		return
	}
	// The next process of the namespace gets the PID that the next one outside gets, if no other comes between.
	const tries = `for i in $(seq 30); do readlink /proc/self >/proc/sys/kernel/ns_last_pid || exit; out=$("$0" -test.run='^TestSamePIDInAnotherNamespace$'); echo "$out"; [[ $out != *same* ]] || exit 0; done`
	cmd := exec.Command("unshare", "--pid", "--fork", "bash", "-c", tries, os.Args[0])
	cmd.Env = append(os.Environ(), asks+"=yes")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "same;") {
		t.Skipf("no process got the same PID: %v, %.200q", err, out)
	}
	if strings.Count(string(out), "same;") != strings.Count(string(out), `named ""`) {
		t.Errorf("it takes /proc of another namespace for its own: %.400s", out)
	}
}
