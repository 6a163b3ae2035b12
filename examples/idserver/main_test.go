package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mergesafe/gameid"
)

// envProgram makes the test binary the program itself, in a process of its own.
const envProgram = "IDSERVER_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(envProgram) != "" {
		main() // does not return
	}
	os.Exit(m.Run())
}

// patience is for what should take no time, on a machine that is very busy.
const patience = time.Minute

// program is an id server in a process of its own.
type program struct {
	cmd           *exec.Cmd
	ended         chan struct{}
	http, sockets *http.Client // over TCP and over the Unix socket

	mu     sync.Mutex
	stderr bytes.Buffer
}

var servingAt = regexp.MustCompile(`msg=serving .*network=(\S+) address=(\S+)`)

// world writes a config.toml for a world in a new SQLite file.
func world(t *testing.T) (path, dsn string) {
	t.Helper()
	dsn = "sqlite:" + filepath.Join(t.TempDir(), "world.db")
	return worldAt(t, dsn), dsn
}

func worldAt(t *testing.T, dsn string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "config.toml")
	text := fmt.Sprintf("[server]\nnumber = 7\nname = \"s7\"\nlisten = \"127.0.0.1:0\"\n[database]\ndsn = %q\n", dsn)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// launch starts the program and returns when it serves at both its addresses, or
// has ended.
func launch(t *testing.T, config string, more ...string) *program {
	t.Helper()
	socket := filepath.Join(filepath.Dir(config), "s") // short: its address has little room
	p := &program{cmd: exec.Command(os.Args[0], append([]string{"-config", config, "-socket", socket}, more...)...), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), envProgram+"=1")
	pipe, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	serving := make(chan *http.Client, 10)
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(pipe)
		for lines.Scan() {
			p.mu.Lock()
			p.stderr.WriteString(lines.Text() + "\n")
			p.mu.Unlock()
			if at := servingAt.FindStringSubmatch(lines.Text()); at != nil {
				serving <- clientOf(at[1], at[2])
			}
		}
		p.cmd.Wait()
	}()
	t.Cleanup(func() {
		p.kill()
		if strings.Contains(p.log(), "DATA RACE") || strings.Contains(p.log(), "panic") || t.Failed() {
			t.Errorf("log of the id server:\n%s", p.log())
		}
	})
	for _, client := range []**http.Client{&p.http, &p.sockets} {
		select {
		case *client = <-serving:
			t.Cleanup((*client).CloseIdleConnections)
		case <-p.ended:
			return p
		case <-time.After(patience):
			t.Fatalf("the id server neither serves nor ends; its log:\n%s", p.log())
		}
	}
	return p
}

// serving is launch for a program that must come up.
func serving(t *testing.T, config string) *program {
	t.Helper()
	p := launch(t, config)
	if p.sockets == nil {
		t.Fatalf("the id server did not start: exit code %d\n%s", p.wait(t), p.log())
	}
	return p
}

func clientOf(network, address string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost:   100,
		ExpectContinueTimeout: time.Minute, // a body that is asked for comes when it is asked for
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}}
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
		t.Fatalf("the id server does not end; its log:\n%s", p.log())
	}
	return p.cmd.ProcessState.ExitCode()
}

// terminate stops the program as an operator does.
func (p *program) terminate(t *testing.T, want int) {
	t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.wait(t); code != want {
		t.Errorf("exit code %d after SIGTERM, want %d\n%s", code, want, p.log())
	}
}

// kill ends the program as a crash does.
func (p *program) kill() {
	p.cmd.Process.Kill()
	<-p.ended
}

// ask sends a request. An answer that broke off is an error, and what came of it
// is returned.
func ask(client *http.Client, method, path, accept, body string) (status int, header http.Header, answer string, err error) {
	request, err := http.NewRequest(method, "http://idserver"+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, "", err
	}
	request.Header.Set("Accept", accept)
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, "", err
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	return response.StatusCode, response.Header, string(b), err
}

// idsIn returns the IDs of an answer in either form.
func idsIn(answer string) (ids []gameid.ID, err error) {
	var object struct{ IDs []gameid.ID }
	if strings.HasPrefix(answer, "{") {
		err := json.Unmarshal([]byte(answer), &object)
		return object.IDs, err
	}
	for line := range strings.Lines(answer) {
		id, err := gameid.Parse(strings.TrimSuffix(line, "\n"))
		if err != nil || !strings.HasSuffix(line, "\n") {
			return ids, fmt.Errorf("%.40q is not a line with an ID: %v", line, err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
