package clitest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/creack/pty"
)

// terminal runs the command of its arguments in a terminal of its own. What
// comes in is typed there, and what the terminal shows goes out as the standard
// error. The command's standard output, and its own standard error, stay as they
// are: those of sh can be sent to /dev/tty.
//
// The terminal of testscript's ttyin can lose what a program shows last: it is
// closed when the program has ended, also where not all has been read.
func terminal(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	screen, err := pty.Start(cmd)
	if err != nil {
		return err
	}
	defer screen.Close()
	const end = "\x04" // what Ctrl-D types
	if _, err := io.Copy(screen, io.MultiReader(os.Stdin, strings.NewReader(end))); err != nil {
		return err
	}
	// All has been read when the last program has closed the terminal, which Linux reports as EIO.
	if _, err := io.Copy(os.Stderr, screen); err != nil && !errors.Is(err, syscall.EIO) {
		return err
	}
	return cmd.Wait()
}
