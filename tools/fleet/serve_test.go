package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"mergesafe/tools/internal/cli"
)

// startServe serves a campaign of one merge, and returns where, and what ends it.
func startServe(t *testing.T, dir string, flags ...string) (site string, stop func() cli.Code) {
	t.Helper()
	file := filepath.Join(dir, "night.toml")
	if err := os.WriteFile(file, []byte("[campaign]\nname = \"night\"\n[[merge]]\nworlds = [\"w1\", \"w2\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	from, to := io.Pipe()
	ended := make(chan cli.Code, 1)
	go func() {
		ended <- run(ctx, append(append([]string{"fleet", "serve"}, flags...), file), os.LookupEnv, io.Discard, to)
		to.Close()
	}()
	lines := bufio.NewScanner(from)
	for site == "" && lines.Scan() {
		if m := regexp.MustCompile(`live page: (http://\S+/)`).FindStringSubmatch(lines.Text()); m != nil {
			site = m[1]
		}
	}
	go func() {
		for lines.Scan() {
		}
	}()
	if site == "" {
		t.Fatalf("it ended with %d", <-ended)
	}
	return site, func() cli.Code { cancel(); return <-ended }
}

func get(t *testing.T, address, password string) (int, string) {
	t.Helper()
	r, err := http.NewRequest("GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if password != "" {
		r.SetBasicAuth("me", password)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestServe(t *testing.T) {
	dir := t.TempDir()
	site, stop := startServe(t, dir, "-http", "127.0.0.1:0")
	if code, text := get(t, site, ""); code != 200 || !strings.Contains(text, "NOT PLANNED") || strings.Contains(text, "data-do") {
		t.Errorf("%d %s", code, text)
	}
	if code, text := get(t, site+"api/status", ""); code != 200 || !strings.Contains(text, `"parallel": 1`) {
		t.Errorf("%d %s", code, text)
	}
	for query, want := range map[string]struct {
		code int
		text string
	}{
		"?name=Anna&world=w2": {200, `"old_world":"w2","new_world":"w1","old_name":"Anna","new_name":"Anna"`},
		"?name=Anna&world=w9": {200, `"players":[]`},
		"":                    {400, "want ?name=NAME"},
	} {
		if code, text := get(t, site+"api/players"+query, ""); code != want.code || !strings.Contains(text, want.text) {
			t.Errorf("%s: %d %s", query, code, text)
		}
	}
	if code := stop(); code != cli.OK {
		t.Errorf("exit code %d", code)
	}
}

// An address that others reach shows nothing without the token, which is made if it is missing.
func TestServePrivate(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "token.txt")
	site, stop := startServe(t, dir, "-http", "0.0.0.0:0", "-control", "-token-file", file)
	defer stop()
	site = "http://127.0.0.1:" + site[strings.LastIndex(site, ":")+1:]
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(string(text))
	if info, _ := os.Stat(file); len(token) < 26 || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("a token of %d letters, in %v", len(token), info.Mode())
	}
	if code, text := get(t, site, ""); code != 401 || strings.Contains(text, "w1") {
		t.Errorf("without the token: %d %s", code, text)
	}
	if code, text := get(t, site, token); code != 200 || !strings.Contains(text, "w1") {
		t.Errorf("with the token: %d %s", code, text)
	}
}

func TestToken(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string // of the error
	}{
		"good":   {"0123456789abcdef\nnote\n", 0o600, ""},
		"short":  {"0123456789abcde\n", 0o600, "is not a token"},
		"empty":  {"", 0o600, "is not a token"},
		"spaced": {"0123456789 abcdefgh\n", 0o600, "is not a token"},
		"open":   {"0123456789abcdef\n", 0o644, "other users can read"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		token, err := tokenOf(cli.NewLog(io.Discard, "fleet", false), file, true, true)
		switch {
		case c.want == "" && (err != nil || token != "0123456789abcdef"):
			t.Errorf("%s: %q, %v", name, token, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "0123456789")):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A link in the folder of the plans leads nowhere else.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	plans := folder(filepath.Join(dir, "plans"))
	if _, err := plans.Open("w1.html"); !os.IsNotExist(err) {
		t.Errorf("before there are plans: %v", err)
	}
	os.Mkdir(string(plans), 0o700)
	os.WriteFile(filepath.Join(dir, "secret"), []byte("SECRET"), 0o600)
	os.WriteFile(filepath.Join(string(plans), "w1.html"), []byte("page"), 0o600)
	if err := os.Symlink("../secret", filepath.Join(string(plans), "link")); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"link", "../secret", filepath.Join(dir, "secret")} {
		if f, err := plans.Open(name); err == nil {
			f.Close()
			t.Errorf("%s is opened", name)
		}
	}
	f, err := plans.Open("w1.html")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); string(text) != "page" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
