package main

import (
	"os"
	"syscall"
)

// dieWithParent asks for SIGTERM when the parent ends: "go run" does not hand on the SIGTERM that ends it.
func dieWithParent() {
	parent := os.Getppid()
	syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0)
	if os.Getppid() != parent { // it ended before we asked
		syscall.Kill(os.Getpid(), syscall.SIGTERM)
	}
}
