package keys

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

var (
	errStopped = errors.New("it was stopped")
	errLate    = errors.New("late")
)

// process is a command that runs.
type process struct {
	cmd    *exec.Cmd
	work   context.Context // of all
	ctx    context.Context
	kill   context.CancelCauseFunc
	in     io.WriteCloser
	out    io.ReadCloser
	lines  *bufio.Reader
	stderr tail
}

func start(ctx context.Context, format string) (*process, error) {
	words, err := CommandLine(format)
	if err != nil {
		return nil, err
	}
	p := &process{work: ctx}
	p.ctx, p.kill = context.WithCancelCause(ctx)
	p.cmd = exec.CommandContext(p.ctx, words[0], words[1:]...)
	p.cmd.Env, p.cmd.Stderr = environment(), &p.stderr
	p.cmd.WaitDelay = time.Second // for children of its own that keep its standard error open
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		p.out, err = p.cmd.StdoutPipe()
	}
	if err != nil {
		p.kill(err)
		return nil, err
	}
	ownGroup(p.cmd)
	p.cmd.Cancel = func() error {
		err := killAll(p.cmd.Process)
		p.in.Close()
		p.out.Close() // whoever else has the other end
		return err
	}
	if err := p.cmd.Start(); err != nil {
		p.kill(err)
		return nil, fmt.Errorf("it cannot be started: %w", err)
	}
	p.lines = bufio.NewReaderSize(p.out, 1<<16)
	return p, nil
}

// exchange writes a line and returns the one that answers it. After an error the process has
// ended.
func (p *process) exchange(line []byte, timeout time.Duration) (answer []byte, err error) {
	late := time.AfterFunc(timeout, func() { p.kill(errLate) })
	defer late.Stop()
	_, writeErr := p.in.Write(line)
	most := 1<<20 + 32*len(line)
	for {
		piece, err := p.lines.ReadSlice('\n')
		answer = append(answer, piece...)
		switch {
		case err == nil && writeErr == nil:
			return answer, nil
		case len(answer) > most:
			return nil, p.end(fmt.Sprintf("its answer has more than %d bytes without the end of a line: %s", most, cut(answer)))
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			reason := "it ended"
			if len(answer) > 0 {
				reason += ", and had written " + cut(answer)
			}
			if errors.Is(context.Cause(p.ctx), errLate) {
				reason = fmt.Sprintf("it did not answer within %s", timeout)
			}
			return nil, p.end(reason)
		}
	}
}

// end makes an end of a process that failed, and says why.
func (p *process) end(reason string) error { return p.endWithin(time.Second, reason) }

// close lets the command end by itself, for a while.
func (p *process) close() { _ = p.endWithin(5*time.Second, "") }

func (p *process) endWithin(patience time.Duration, reason string) error {
	alone := p.ctx.Err() == nil
	if alone { // it may be about to end by itself, and say more
		p.in.Close()
		late := time.AfterFunc(patience, func() { p.kill(errStopped) })
		defer late.Stop()
	}
	err := p.cmd.Wait()
	switch {
	case p.work.Err() != nil:
		reason = "it was stopped when the work stopped"
	case alone && p.ctx.Err() == nil && err != nil:
		reason += ": " + err.Error()
	}
	p.kill(errStopped)
	if said := p.stderr.text(); said != "" {
		reason += "; its standard error is " + said
	}
	return errors.New(reason)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
	more bool
}

const tailSize = 500

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-2*tailSize):]...)
	if over := len(t.kept) - tailSize; over > 0 {
		t.kept, t.more = append(t.kept[:0], t.kept[over:]...), true
	}
	return len(b), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := bytes.TrimSpace(t.kept)
	switch {
	case len(kept) == 0:
		return ""
	case t.more:
		return fmt.Sprintf("... %+q", kept)
	}
	return fmt.Sprintf("%+q", kept)
}
