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

	"mergesafe/gameid"
)

// A body that comes too slowly, or in a wrong framing, is the client's fault.
func TestBadBody(t *testing.T) {
	s := newTestServer(t, sqliteDSN(t), nil, gameid.Options{})
	slow := httptest.NewUnstartedServer(s.server)
	slow.Config.ReadTimeout = 200 * time.Millisecond
	slow.Start()
	defer slow.Close()
	for name, tt := range map[string]struct {
		framing, body string
		status        int
		detail        string
	}{
		"slow":          {"Content-Length: 100", `{"account":`, http.StatusRequestTimeout, "the body did not come within"},
		"slow, chunked": {"Transfer-Encoding: chunked", "b\r\n{\"account\":\r\n", http.StatusRequestTimeout, "the body did not come within"},
		"wrong chunk":   {"Transfer-Encoding: chunked", "xyz\r\n", http.StatusBadRequest, "the body could not be read to its end"},
	} {
		conn, err := net.Dial("tcp", slow.Listener.Addr().String())
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
