package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// When another process has taken the number over, the program goes on to say so,
// and ends with another exit code. A second process with the same configuration does not
// start, and leaves the first one's socket alone.
func TestProcess(t *testing.T) {
	t.Parallel()
	path, dsn := world(t)
	p := serving(t, path)
	if status, _, answer, err := ask(p.sockets, "POST", "/ids/guild", "text/plain", ""); status != 200 || len(answer) != 21 || err != nil {
		t.Fatalf("%d %q %v", status, answer, err)
	}
	second := launch(t, path)
	if code := second.wait(t); code != exitNotStarted || !strings.Contains(second.log(), "server 7 is already running") {
		t.Fatalf("the second process: %d\n%s", code, second.log())
	}
	p.sockets.CloseIdleConnections()
	if status, _, _, err := ask(p.sockets, "GET", "/healthz", "", ""); status != 200 || err != nil {
		t.Errorf("after the second process: %d %v", status, err)
	}
	if info, err := os.Stat(filepath.Join(filepath.Dir(path), "s")); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("the socket: %v, %v", info, err)
	}

	db, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	thief := gameid.Holder{Token: "another", Host: "host-b", PID: 4711, Program: "thief", Since: time.Now()}
	storetest.Await(t, "the lease is taken away", func() bool { // a renewal may come between
		rec, err := storetest.World(db).Load(t.Context(), 7)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := storetest.World(db).CompareAndSet(t.Context(), 7, rec, gameid.Claim{Reserved: rec.Reserved, Holder: thief, Lease: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return ok
	})
	var last string
	storetest.Await(t, "the program notices", func() bool {
		status, _, answer, err := ask(p.http, "POST", "/ids/guild", "text/plain", "")
		if err != nil {
			t.Fatal(err)
		}
		last = answer
		return status == http.StatusServiceUnavailable
	})
	if !strings.Contains(last, "thief (pid 4711) on host-b") {
		t.Errorf("the reason: %s", last)
	}
	p.terminate(t, exitFailed)
}

// A request that is under way when the program is told to stop gets its answer;
// afterwards the lease is free, and the socket gone.
func TestShutdown(t *testing.T) {
	t.Parallel()
	path, _ := world(t)
	p := serving(t, path)
	body, send := io.Pipe()
	request, err := http.NewRequest("POST", "http://idserver/ids/item?count=3", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Expect", "100-continue") // the server asks for the body when it is at it
	type answered struct {
		response *http.Response
		err      error
	}
	got := make(chan answered, 1)
	go func() {
		response, err := p.http.Transport.RoundTrip(request)
		got <- answered{response, err}
	}()
	io.WriteString(send, "x") // was read, so the request is under way
	p.cmd.Process.Signal(os.Interrupt)
	storetest.Await(t, "it stops", func() bool { return strings.Contains(p.log(), "msg=stopping") })
	send.Close()
	a := <-got
	if a.err != nil {
		t.Fatal(a.err)
	}
	text, err := io.ReadAll(a.response.Body)
	if ids, problem := idsIn(string(text)); a.response.StatusCode != 200 || err != nil || problem != nil || len(ids) != 3 {
		t.Errorf("%d %s, %v", a.response.StatusCode, text, err)
	}
	if code := p.wait(t); code != exitOK {
		t.Errorf("exit code %d\n%s", code, p.log())
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(path), "s")); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
	serving(t, path).terminate(t, exitOK)
}

// What keeps it from starting is one clear line, and exit code 2.
func TestDoesNotStart(t *testing.T) {
	t.Parallel()
	path, _ := world(t)
	ranged := filepath.Join(t.TempDir(), "ranged.toml")
	text := "[server]\nnumbers = \"40-59\"\n[database]\ndsn = \"sqlite:x.db\"\n"
	if err := os.WriteFile(ranged, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-kinds", "player,"}, "-kinds has"},
		{[]string{"-kinds", "Player"}, "-kinds has"},
		{[]string{"-listen", "off", "-socket", ""}, "nowhere else to listen"},
		{[]string{"-config", "nowhere.toml"}, "nowhere.toml"},
		{[]string{"-socket", other}, "address already in use"}, // no socket, so it stays
		{[]string{"more"}, "unexpected argument"},
		{[]string{"-config", ranged}, "has numbers: want a number"},
		{[]string{"-nonsense"}, "For help: idserver -h"},
	} {
		p := launch(t, path, c.args...)
		if code := p.wait(t); code != exitNotStarted || !strings.Contains(p.log(), c.want) {
			t.Errorf("%v: exit code %d\n%s", c.args, code, p.log())
		}
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

// An address that others can reach is mentioned.
func TestListensToOthers(t *testing.T) {
	t.Parallel()
	path, _ := world(t)
	p := launch(t, path, "-listen", ":0")
	if p.sockets == nil || !strings.Contains(p.log(), "level=WARN msg=\"other machines can reach this address") {
		t.Errorf("it does not say so:\n%s", p.log())
	}
	p.terminate(t, exitOK)
	p = launch(t, path)
	if strings.Contains(p.log(), "level=WARN") {
		t.Errorf("on loopback it warns:\n%s", p.log())
	}
}

// The help names every flag and every path.
func TestHelp(t *testing.T) {
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"-h"}, os.LookupEnv, &out, &errs); code != exitOK || errs.Len() > 0 {
		t.Fatalf("exit code %d, %s", code, &errs)
	}
	for _, want := range []string{"\n  -config ", "\n  -listen ", "\n  -socket ", "\n  -kinds ", "POST /ids/{kind}",
		"GET  /healthz", "GET  /metrics", "Exit codes"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the help does not mention %q", want)
		}
	}
}
