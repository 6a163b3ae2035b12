package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mergesafe/gameid/gameidtest"
	"mergesafe/internal/config"
	"mergesafe/internal/servertest"
)

// These make the test binary the program itself, in a process of its own. Only
// here can its clock be set wrong.
const (
	envProgram = "GAMESERVER_TEST_PROGRAM"
	envClock   = "GAMESERVER_TEST_CLOCK" // by how much the clock is wrong
)

func TestMain(m *testing.M) {
	if os.Getenv(envProgram) == "" {
		os.Unsetenv(config.PublicKeyEnv) // tests say themselves whether there is a key
		os.Exit(m.Run())
	}
	offset := os.Getenv(envClock)
	if offset == "" {
		main() // does not return
	}
	d, err := time.ParseDuration(offset)
	if err != nil {
		panic(err)
	}
	clock := gameidtest.NewClock()
	clock.Step(d)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr, clock))
}

// patience is for what should take no time, on a machine that is very busy.
const patience = time.Minute

// eachDatabase runs a test on a fresh database of each kind.
func eachDatabase(t *testing.T, f func(t *testing.T, dsn string)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, sqliteDSN(t))
	})
	t.Run("mariadb", func(t *testing.T) {
		t.Parallel()
		f(t, mariadbDSN(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		f(t, servertest.PostgresDSN(t))
	})
}

func sqliteDSN(t *testing.T) string  { return "sqlite:" + filepath.Join(t.TempDir(), "game.db") }
func mariadbDSN(t *testing.T) string { return "mysql:" + servertest.DSN(t) }

// writeConfig makes a config.toml, with the key of testPublicIDs. The port is
// any that is free.
func writeConfig(t *testing.T, number int, dsn string) (path string) {
	t.Helper()
	return writeConfigWithKeys(t, number, dsn, publicKeySection(1, testKey))
}

func publicKeySection(version int, key string) string {
	return fmt.Sprintf("\n[[public_id]]\nversion = %d\nkey = %q\n", version, key)
}

func writeConfigWithKeys(t *testing.T, number int, dsn, keys string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "config.toml")
	text := fmt.Sprintf("[server]\nnumber = %d\nname = \"s%d\"\nlisten = \"127.0.0.1:0\"\n\n[database]\ndsn = %q\n", number, number, dsn) + keys
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// program is a game server in a process of its own.
type program struct {
	client
	cmd   *exec.Cmd
	ended chan struct{}

	mu     sync.Mutex
	stderr bytes.Buffer
}

var servingAt = regexp.MustCompile(`msg=serving .*address=(\S+)`)

// launch starts the program and returns when it serves or has ended.
func launch(t *testing.T, env []string, args ...string) *program {
	t.Helper()
	p := &program{cmd: exec.Command(os.Args[0], args...), ended: make(chan struct{})}
	p.cmd.Env = append(append(os.Environ(), envProgram+"=1"), env...)
	pipe, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	serving := make(chan string, 1)
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(pipe)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			p.mu.Lock()
			p.stderr.WriteString(lines.Text() + "\n")
			p.mu.Unlock()
			if found := servingAt.FindStringSubmatch(lines.Text()); found != nil {
				serving <- found[1]
			}
		}
		p.cmd.Wait()
	}()
	t.Cleanup(func() {
		p.kill()
		if strings.Contains(p.log(), "DATA RACE") || strings.Contains(p.log(), "msg=panic") || t.Failed() {
			t.Errorf("log of the game server %v:\n%s", args, p.log())
		}
	})
	select {
	case address := <-serving:
		p.client = client{t: t, base: "http://" + address}
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("the game server neither serves nor ends; its log:\n%s", p.log())
	}
	return p
}

// serving is launch for a program that must come up.
func serving(t *testing.T, env []string, args ...string) *program {
	t.Helper()
	p := launch(t, env, args...)
	if p.base == "" {
		t.Fatalf("the game server did not start: exit code %d\n%s", p.wait(t), p.log())
	}
	return p
}

func (p *program) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// wait returns the exit code.
func (p *program) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("the game server does not end; its log:\n%s", p.log())
	}
	return p.cmd.ProcessState.ExitCode()
}

// terminate stops the program as an operator does.
func (p *program) terminate(t *testing.T) {
	t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.wait(t); code != exitOK {
		t.Errorf("exit code %d after SIGTERM, want %d\n%s", code, exitOK, p.log())
	}
}

// kill ends the program as a crash does.
func (p *program) kill() {
	p.cmd.Process.Kill()
	<-p.ended
}

// client talks to a game server.
type client struct {
	t    testing.TB
	base string
	hear func(http.Header, []byte) // gets all that the server says; may be nil
}

// send sends a request with a JSON body, unless it is nil, and returns status
// and body of the answer. A request that gets no answer is an error.
func (c client) send(method, path string, body any) (status int, answer []byte, err error) {
	c.t.Helper()
	var reader io.Reader
	if text, ok := body.(string); ok {
		reader = strings.NewReader(text)
	} else if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		reader = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, reader)
	if err != nil {
		c.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if c.hear != nil {
		c.hear(resp.Header, answer)
	}
	return resp.StatusCode, answer, err
}

// ask sends a request that must succeed, and reads the answer into out.
func (c client) ask(method, path string, body, out any) {
	c.t.Helper()
	if err := c.try(method, path, body, out); err != nil {
		c.t.Fatal(err)
	}
}

// try is ask for a server that may be killed meanwhile. An answer that is not
// a success is a statusError.
func (c client) try(method, path string, body, out any) error {
	status, answer, err := c.send(method, path, body)
	if err != nil {
		return err
	}
	if status/100 != 2 {
		return statusError{status, fmt.Sprintf("%s %s: %d %s", method, path, status, answer)}
	}
	return json.Unmarshal(answer, out)
}

type statusError struct {
	status int
	text   string
}

func (e statusError) Error() string { return e.text }

// statusOf returns the status of an answer that was an error, or 0.
func statusOf(err error) int {
	e, _ := errors.AsType[statusError](err)
	return e.status
}
