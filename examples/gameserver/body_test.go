package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A body that comes too slowly, or in a wrong framing, is the client's fault.
func TestBadBody(t *testing.T) {
	s := newTestServer(t, sqliteDSN(t), nil, time.Minute)
	slow := httptest.NewUnstartedServer(s.server)
	slow.Config.ReadTimeout, slow.Config.ReadHeaderTimeout = 200*time.Millisecond, patience
	slow.Start()
	defer slow.Close()
	ordinary := httptest.NewServer(s.server)
	defer ordinary.Close()
	for name, tt := range map[string]struct {
		server        *httptest.Server
		framing, body string
		status        int
		detail        string
	}{
		"slow":          {slow, "Content-Length: 100", `{"account":`, http.StatusRequestTimeout, "the body did not come within"},
		"slow, chunked": {slow, "Transfer-Encoding: chunked", "b\r\n{\"account\":\r\n", http.StatusRequestTimeout, "the body did not come within"},
		"wrong chunk":   {ordinary, "Transfer-Encoding: chunked", "xyz\r\n", http.StatusBadRequest, "the body could not be read to its end"},
	} {
		conn, err := net.Dial("tcp", tt.server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(patience))
		io.WriteString(conn, "POST /players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+tt.framing+"\r\n\r\n"+tt.body)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text, _ := io.ReadAll(answer.Body)
		if answer.StatusCode != tt.status || !strings.Contains(string(text), tt.detail) {
			t.Errorf("%s: %d %s; want %d with %q", name, answer.StatusCode, text, tt.status, tt.detail)
		}
		conn.Close()
	}
}

// What encoding/json would change without a word is refused: bytes that are no UTF-8, half a pair of surrogates, and a key
// that comes twice.
func TestBodyAsItIs(t *testing.T) {
	for body, want := range map[string]string{
		"{\"account\": \"a\", \"name\": \"Ar\xffia\"}":        "the body is not valid UTF-8",
		`{"account": "a", "name": "Ar\ud800ia"}`:              "half a pair of surrogates",
		`{"account": "a", "name": "Aria", "name": "Eva"}`:     "name is in the body twice",
		`{"account": "a", "name": "Aria", "NAME": "Eva"}`:     "NAME is not a known field",
		`{"account": "a", "itemſ": []}`:                       "itemſ is not a known field",
		strings.Repeat(`{"a":`, 9) + "1":                      "nested more than 8 deep",
		strings.Repeat(`{"a":[`, 100_000):                     "nested more than 8 deep",
		strings.Repeat(`{"a":`, 8) + "1":                      "",
		`{"x": [{"a": 1, "a": 2}]}`:                           "a is in the body twice",
		`{"account": "a", "name": "\ud83d\ude00 Ar\ufffdia"}`: "",
		`{"x": [{"a": 1}, {"a": "a"}, "a"], "a": {"x": "x"}}`: "",
		`{"account": "a", "name":`:                            "",
	} {
		if err := plain([]byte(body)); err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", body, err, want)
		}
	}
}
