package keys

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"
)

// Timeout is how long a command may take to answer.
const Timeout = 30 * time.Second

// Commands makes codecs of those formats that are commands. None of them is started yet, and
// those that were are killed with the context. stop ends them: it must be called.
func Commands(ctx context.Context, formats []string) (codecs Codecs, stop func()) {
	return commands(ctx, formats, Timeout)
}

func commands(ctx context.Context, formats []string, timeout time.Duration) (codecs Codecs, stop func()) {
	codecs = make(Codecs)
	ctx, cancel := context.WithCancel(ctx)
	var all []*command
	for _, f := range formats {
		if IsCommand(f) && codecs[f] == nil {
			c := &command{ctx: ctx, format: f, timeout: timeout}
			codecs[f], all = c, append(all, c)
		}
	}
	return codecs, func() {
		for _, c := range all {
			c.stop()
		}
		cancel()
	}
}

// command is a codec that is a command. All workers share one process.
type command struct {
	ctx     context.Context
	format  string
	timeout time.Duration

	mu      sync.Mutex
	process *process // nil: not started
	asked   uint64
	failed  error // for good: what else it says is not to be trusted
}

// Keys asks for the keys of a cell.
func (c *command) Keys(b []byte) ([]Integer, error) {
	a, err := c.ask(request{Cell: b})
	return a.keys, err
}

// Splice asks for the cell with other keys.
func (c *command) Splice(b []byte, keys []Integer) ([]byte, error) {
	r := request{Cell: b}
	for _, k := range keys {
		r.Keys = append(r.Keys, k.String())
	}
	a, err := c.ask(r)
	return a.cell, err
}

func (c *command) ask(r request) (a reply, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return a, c.failed
	}
	if c.process == nil {
		if c.process, err = start(c.ctx, c.format); err != nil {
			return a, c.fail(err)
		}
	}
	c.asked++
	r.N = c.asked
	line, err := c.process.exchange(r.line(), c.timeout)
	if err != nil {
		return a, c.fail(err)
	}
	a, nonsense := read(line, r)
	if nonsense != "" {
		return a, c.fail(c.process.end(nonsense))
	}
	return a, a.refused
}

func (c *command) fail(err error) error {
	c.failed = &CodecError{Codec: c.format, Err: err}
	return c.failed
}

func (c *command) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process != nil && c.failed == nil {
		c.process.close()
	}
	c.fail(errStopped)
}

// Environment are the names of the variables that a command gets.
var Environment = []string{"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TMP", "TEMP", "SystemRoot"}

func environment() (all []string) {
	for _, name := range Environment {
		if v, is := os.LookupEnv(name); is && !strings.ContainsRune(v, 0) {
			all = append(all, name+"="+v)
		}
	}
	return all
}
