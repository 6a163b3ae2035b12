//go:build linux

package torture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
)

// patience is how long a test waits for what must happen, on a slow and busy
// machine.
const patience = 10 * time.Minute

// pollEvery is how often it looks whether that has happened.
const pollEvery = 5 * time.Millisecond

// Process is one process that a [World] started. Its methods end the test
// where the process does not do what is asked of it.
type Process struct {
	PID int

	t      testing.TB
	cmd    *exec.Cmd
	log    string
	stdin  io.WriteCloser
	stderr bytes.Buffer
	exited chan struct{} // closed when the process has ended and all events are there
	seen   int           // events, by Await

	mu     sync.Mutex
	events []Event
}

func start(t testing.TB, o order) *Process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{t: t, cmd: exec.Command(program), log: o.Log, exited: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), environ+"=1")
	p.cmd.Stderr = &p.stderr
	// It ends with us also while it is stopped, and cannot read that its
	// standard input has ended. The terminal's Ctrl-C is for us alone.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		p.stdin, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.PID = p.cmd.Process.Pid
	go p.listen(stdout)
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.exited
		if p.stderr.Len() > 0 {
			t.Errorf("process %d wrote to its standard error:\n%s", p.PID, &p.stderr)
		}
	})
	if err := json.NewEncoder(p.stdin).Encode(o); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *Process) listen(stdout io.Reader) {
	defer close(p.exited)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		var e Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			continue // the end of a process that was killed
		}
		p.mu.Lock()
		p.events = append(p.events, e)
		p.mu.Unlock()
	}
	p.cmd.Wait()
}

// Await returns the next event of one of these kinds, after the one that was
// returned last. It is the end of the test if the process ends without.
func (p *Process) Await(what ...string) (e Event) {
	p.t.Helper()
	p.await(strings.Join(what, ", "), func() bool {
		for events := p.Events(); p.seen < len(events); {
			e = events[p.seen]
			p.seen++
			if slices.Contains(what, e.What) {
				return true
			}
		}
		return false
	})
	return e
}

// await waits for something that the process does, and ends the test if it ends without.
func (p *Process) await(what string, met func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(pollEvery) {
		ended := false
		select {
		case <-p.exited:
			ended = true
		default:
		}
		switch {
		case met():
			return
		case ended:
			p.t.Fatalf("process %d ended, wanted: %s; it told\n%v\n%s", p.PID, what, p.Events(), &p.stderr)
		case time.Now().After(deadline):
			p.t.Fatalf("process %d: nothing for %s, wanted: %s; it told\n%v", p.PID, patience, what, p.Events())
		}
	}
}

// Events returns every event that the process has reported so far.
func (p *Process) Events() []Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.events)
}

// Told returns how many events of a kind there were.
func (p *Process) Told(what string) (n int) {
	for _, e := range p.Events() {
		if e.What == what {
			n++
		}
	}
	return n
}

// Go lets a process continue that was started with Config.Hold.
func (p *Process) Go() {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, "\n"); err != nil {
		p.t.Fatal(err)
	}
}

// Minted returns how many IDs have left the process.
func (p *Process) Minted() int64 {
	p.t.Helper()
	return p.logged("-*"+logSuffix, gameid.Size)
}

// Confirmed returns how many players the database has confirmed to the process.
func (p *Process) Confirmed() int64 {
	p.t.Helper()
	return p.logged(rowsSuffix, gameid.Size)
}

func (p *Process) logged(suffix string, size int64) (n int64) {
	p.t.Helper()
	paths, err := filepath.Glob(p.log + suffix)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			p.t.Fatal(err)
		}
		n += info.Size() / size
	}
	return n
}

// AwaitMore waits until n more IDs have left the process.
func (p *Process) AwaitMore(n int64) {
	p.t.Helper()
	p.awaitMore("IDs", n, p.Minted)
}

// AwaitRows waits until the database has confirmed n more players.
func (p *Process) AwaitRows(n int64) {
	p.t.Helper()
	p.awaitMore("confirmed players", n, p.Confirmed)
}

// AwaitNumbers waits until n more short numbers have left the process.
func (p *Process) AwaitNumbers(n int64) {
	p.t.Helper()
	p.awaitMore("numbers", n, func() int64 { return p.logged(numbersSuffix, numberSize) })
}

func (p *Process) awaitMore(what string, n int64, count func() int64) {
	p.t.Helper()
	want := count() + n
	p.await(fmt.Sprintf("%d more %s", n, what), func() bool { return count() >= want })
}

// Freeze stops the process as SIGSTOP does, and returns when all its threads
// stand still.
func (p *Process) Freeze() { p.must(servertest.Freeze(p.cmd.Process)) }

// Thaw lets the process continue.
func (p *Process) Thaw() { p.must(servertest.Thaw(p.cmd.Process)) }

func (p *Process) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("process %d: %v", p.PID, err)
	}
}

// Kill ends the process as kill -9 does, and returns when it is gone.
func (p *Process) Kill() {
	p.t.Helper()
	p.must(p.cmd.Process.Signal(syscall.SIGKILL))
	<-p.exited
}

// Close asks the process to close its node, and returns when it has ended.
func (p *Process) Close() {
	p.t.Helper()
	p.must(p.cmd.Process.Signal(syscall.SIGTERM))
	e := p.Await(Closed, Refused, Lost)
	late := slices.Contains(e.Is, context.DeadlineExceeded.Error()) // on a busy machine the lease is not given back in time, and ends by itself
	if e.What != Closed || e.Error != "" && !late {
		p.t.Errorf("process %d at its end: %+v", p.PID, e)
	}
	p.Wait()
}

// Wait returns when the process has ended by itself.
func (p *Process) Wait() {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Fatalf("process %d has not ended after %s; it told\n%v", p.PID, patience, p.Events())
	}
}
