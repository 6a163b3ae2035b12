//go:build unix

package life

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/merge"
	"mergesafe/merge/report"
)

// program is the built servermerge. It is killed by SIGKILL, interrupted where the library has a connection cut, and
// frozen while another process works at its side, each after a part of the time that it takes if nothing happens.
type program struct {
	path string
	took map[string]time.Duration
}

func built(t *testing.T) *program {
	p := &program{filepath.Join(t.TempDir(), "servermerge"), make(map[string]time.Duration)}
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", p.path, "mergesafe/tools/servermerge").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

const rulesText = `
[merge]
rekey = true

[check]
plain = ["pl.gold", "item.n", "mail.n"]

[[check.reference]]
to = "pl.id"
at = ["item.owner", "mail.owner"]

[[merge.counter]]
at = "seq.next"
when = { column = "name", is = ["pl"] }
to = "pl.id"

[[merge.table]]
tables = ["seq"]
policy = "skip"

[[merge.table]]
tables = ["kind"]
policy = "same"

[[merge.name]]
at = "pl.name"
template = "{name}.{source}"
`

// configure writes config.toml as the operator has it now.
func (p *program) configure(l *life) string {
	var b strings.Builder
	for _, name := range locations {
		fmt.Fprintf(&b, "[[source]]\nname = %q\ndsn = %q\n", name, l.dsn(name))
	}
	if l.kind == fleetKind {
		fmt.Fprintf(&b, "[registry]\ndsn = %q\n", l.fleetDSN())
	}
	path := filepath.Join(l.dir, "config.toml")
	l.must(os.WriteFile(path, []byte(b.String()+rulesText), 0o666))
	return path
}

// call runs a command, to which something may happen on its way.
func (p *program) call(l *life, command string, f *fault, args ...string) (out []byte, code int) {
	words := append(strings.Fields(command), "-config", p.configure(l), "-json")
	if command != "plan" && command != "status" {
		words = append(words, "-patience", map[bool]string{true: "1m", false: "0s"}[l.calm(f)])
	}
	cmd := exec.Command(p.path, append(words, args...)...)
	var said, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &said, &complained, l.dir
	began := time.Now()
	l.must(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	if f.kind != "" {
		at := f.at
		if f.writes { // most often at its end
			at = 1000 - f.at*f.at*f.at/1e6
		}
		select {
		case err = <-ended:
		case <-time.After(p.took[command] * time.Duration(at) / 1000):
			switch f.kind {
			case killBefore, killAfter:
				cmd.Process.Kill()
			case cut:
				cmd.Process.Signal(syscall.SIGINT)
			case meanwhile:
				cmd.Process.Signal(syscall.SIGSTOP)
				func() {
					defer func() { f.ends = recover() }()
					f.do()
				}()
				cmd.Process.Signal(syscall.SIGCONT)
			}
			err = <-ended
		}
	} else if err = <-ended; err == nil {
		p.took[command] = (p.took[command] + time.Since(began)) / 2 // a machine is now busy, now not
	}
	exit := new(exec.ExitError)
	switch {
	case err == nil:
		return said.Bytes(), 0
	case !errors.As(err, &exit):
		l.must(err)
	case exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
		f.died = true
		return nil, -1
	}
	if said.Len() == 0 {
		said = complained
	}
	return said.Bytes(), exit.ExitCode()
}

// exits are the exit codes of the tools.
var exits = map[int]string{-1: killed, 0: done, 1: refused, 2: failed, 3: notVerified, 4: stopped}

func (p *program) plan(l *life, m *aMerge, f *fault) answer {
	l.planFiles++
	m.file = filepath.Join(l.dir, fmt.Sprintf("plan%d.json", l.planFiles))
	out, code := p.call(l, "plan", f, append([]string{"-o", m.file, "-into", m.into}, m.worlds...)...)
	a := answer{word: exits[code], reason: string(out)}
	if code != 0 {
		return a
	}
	file, err := os.Open(m.file)
	l.must(err)
	defer file.Close()
	m.plan, err = merge.ReadPlan(file)
	l.must(err)
	return answer{word: ready}
}

func (p *program) run(l *life, m *aMerge, command string, f *fault) answer {
	words := strings.Replace(command, "try", "apply -try", 1)
	if command != "verify" {
		words += " -yes"
	}
	out, code := p.call(l, words, f, m.file)
	a := answer{word: exits[code], reason: string(out)}
	var o report.Outcome
	if bytes.Contains(out, []byte("\"reason\"")) {
		json.Unmarshal(out, &o)
		a.reason = fmt.Sprint(o.Reason, o.Refusals)
	}
	if json.Unmarshal(out, &o) != nil {
		if strings.Contains(a.reason, "there is nothing to undo") && code == 2 {
			a.word = nothing
		}
		return a
	}
	for _, r := range o.Refusals {
		a.about = append(a.about, r.Source)
	}
	switch o.Ending {
	case report.Differs:
		a.word = fail
	case report.Changed:
		a.word = changed
	case report.Done:
		if command == "verify" {
			a.word = pass
		}
	}
	return a
}

func (p *program) status(l *life, m *aMerge) (string, error) {
	out, _ := p.call(l, "status", &fault{}, m.file)
	var o report.Outcome
	if err := json.Unmarshal(out, &o); err != nil || o.Status == nil {
		return "", fmt.Errorf("%s", out)
	}
	return words[string(o.Status.State)], nil
}

// The same with the built servermerge, and kill -9.
func TestLifeKilled(t *testing.T) {
	if *sequences == 0 {
		servertest.Long(t)
	}
	t.Run("sqlite", func(t *testing.T) {
		check(t, 200, func(dir string) places { return newFiles(dir) }, built(t))
	})
}
