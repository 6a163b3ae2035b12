package main

import (
	"strings"
	"testing"
)

const events = `{"Action":"run","Package":"p","Test":"TestA"}
not JSON
{"Action":"output","Package":"p","Test":"TestA","Output":"fine\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":1}
{"Action":"output","Package":"p","Test":"TestB/x","Output":"    b_test.go:3: got 1\n"}
{"Action":"fail","Package":"p","Test":"TestB/x","Elapsed":1}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p","Elapsed":2.5}
{"Action":"output","Package":"q","Output":"panic: boom\n"}
{"Action":"fail","Package":"q","Elapsed":0.1}
{"Action":"pass","Package":"r","Test":"TestA"}
{"Action":"pass","Package":"r","Elapsed":1}
`

func TestTable(t *testing.T) {
	all, err := count(strings.NewReader(events))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	failed := all.print(&out, "8.4.5 MySQL")
	first, rest, _ := strings.Cut(out.String(), "\n\n")
	want := `package  passed  skipped  failed  seconds
p        1       1        1       2
q        0       0        0       0
r        1       0        0       1

p TestB/x
    b_test.go:3: got 1

q (the package)
panic: boom
`
	if !failed || !strings.HasPrefix(first, "Tested on 8.4.5 MySQL, 20") || rest != want {
		t.Errorf("%t, %s\n\n%s", failed, first, rest)
	}
	if all["r"].output["TestA"] != nil {
		t.Error("it keeps what a test said that passed")
	}
}

func TestWrongServer(t *testing.T) {
	for dsn, want := range map[string]string{
		"":                                   "want a server: make test-on",
		"mysql:u:hunter2@tcp(127.0.0.1:1)/x": "want a server: make test-on",
		"mysql:u:hunter2@tcp(127.0.0.1:1)/":  "the server does not answer",
	} {
		_, err := run(t.Context(), dsn, nil, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, want %s", dsn, err, want)
		}
	}
}
