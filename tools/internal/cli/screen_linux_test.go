package cli

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// A terminal that does not say how wide it is, as a serial line or a container's, gets lines: a bar would be cut off to nothing.
func TestShowsBars(t *testing.T) {
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this machine has no pseudo terminals: ", err)
	}
	defer control.Close()
	var number uint32
	ioctl(t, control, syscall.TIOCGPTN, unsafe.Pointer(&number))
	ioctl(t, control, syscall.TIOCSPTLCK, unsafe.Pointer(new(int32)))
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	log := &Log{w: terminal}
	if !isTerminal(terminal) || log.ShowsBars() {
		t.Errorf("without a width: a terminal %v, bars %v", isTerminal(terminal), log.ShowsBars())
	}
	ioctl(t, control, syscall.TIOCSWINSZ, unsafe.Pointer(&[4]uint16{24, 80}))
	if !log.ShowsBars() {
		t.Error("no bars on 80 columns")
	}
}

func ioctl(t *testing.T, f *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(arg)); err != 0 {
		t.Fatal(err)
	}
}
