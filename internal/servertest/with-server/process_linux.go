package main

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// dieWithParent asks for SIGTERM when the parent ends: "go run" does not hand
// on the SIGTERM that ends it.
func dieWithParent() {
	// What the parent of a thread is to us, main's thread is to the command;
	// see Pdeathsig below.
	runtime.LockOSThread()
	parent := os.Getppid()
	syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0)
	if os.Getppid() != parent { // it ended before we asked
		syscall.Kill(os.Getpid(), syscall.SIGTERM)
	}
}

// ownGroup gives the command a process group, so that what it starts can be
// ended with it: "go test" leaves its test programs running when it is ended.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// signalGroup sends a signal to the command and all that it started.
func signalGroup(cmd *exec.Cmd, sig syscall.Signal) error {
	return syscall.Kill(-cmd.Process.Pid, sig)
}
