package gameid

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// machineName tells apart what must be the same for a PID and a start time to mean
// the same process: the boot of the kernel, the PID namespace, and the time namespace,
// in which /proc says when a process began. It is empty if the kernel does not say, or
// if /proc shows another PID namespace.
func machineName() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	pids, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	times, err := os.Readlink("/proc/self/ns/time")
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a kernel without time namespaces
		return ""
	}
	// Its PIDs, from the namespace of /proc to its own: one, if these are the same. To compare the first
	// with getpid(2) would not do: they may be equal by chance.
	status, err := os.ReadFile("/proc/self/status")
	_, pidsOf, _ := bytes.Cut(status, []byte("\nNSpid:"))
	pidsOf, _, _ = bytes.Cut(pidsOf, []byte("\n"))
	if err != nil || len(bytes.Fields(pidsOf)) != 1 {
		return ""
	}
	return string(bytes.TrimSpace(boot)) + "/" + pids + "/" + times
}

// processState returns the state letter and the start time of a process, from
// /proc/PID/stat: see proc_pid_stat(5). The name in parentheses may itself
// hold spaces and parentheses, so fields are counted after the last one.
func processState(pid int) (state, start string, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", "", err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const stateField, startField = 0, 19 // 3 and 22 in proc(5), where the name is 2
	if len(fields) <= startField {
		return "", "", fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	return fields[stateField], fields[startField], nil
}

// processName returns the text for Holder.Process, or "".
func processName(pid int) string {
	machine := machineName()
	_, start, err := processState(pid)
	if machine == "" || err != nil {
		return ""
	}
	return fmt.Sprintf("%s/%d/%s", machine, pid, start)
}

// Ended reports whether the process of h ran on this machine and is certainly
// gone. A restart after a crash need then not wait for the end of the lease.
// A process that is merely stopped (SIGSTOP) has not ended.
func (h Holder) Ended() bool {
	machine := machineName()
	if machine == "" || !strings.HasPrefix(h.Process, machine+"/") {
		return false
	}
	// /proc may hide the processes of other users, kill(2) does not.
	if err := syscall.Kill(h.PID, 0); errors.Is(err, syscall.ESRCH) {
		return true
	}
	state, start, err := processState(h.PID)
	if err != nil {
		return false
	}
	return state == "Z" || state == "X" || h.Process != fmt.Sprintf("%s/%d/%s", machine, h.PID, start)
}
