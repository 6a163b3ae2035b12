//go:build !linux

package main

import (
	"os/exec"
	"syscall"
)

func dieWithParent() {}

func ownGroup(*exec.Cmd) {}

func signalGroup(cmd *exec.Cmd, sig syscall.Signal) error { return cmd.Process.Signal(sig) }
