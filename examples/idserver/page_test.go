package main

import (
	"log/slog"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"mergesafe/examples/idserver/answers"
	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
	"mergesafe/store/storetest"
)

// The commands in docs/other-languages.md work as they are written, and answer in
// the form that stands below them.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/other-languages.md")
	if err != nil {
		t.Fatal(err)
	}
	start := regexp.MustCompile(`(?m)^bin/idserver (.*)$`).FindSubmatch(page)
	if start == nil {
		t.Fatal("the page does not start the service")
	}
	if _, err := parse(strings.Fields(string(start[1]))); err != nil {
		t.Errorf("%s: %v", start[0], err)
	}
	node, err := gameid.OpenNode(t.Context(), 7, gameidtest.NewMemory(), storetest.NodeOptions.Options)
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	s := answers.New(node, []string{"player", "item"}, slog.New(slog.DiscardHandler))
	form := func(answer string) string {
		answer = regexp.MustCompile(`[0-9a-f]{20}`).ReplaceAllString(strings.TrimSpace(answer), "ID")
		return answer
	}
	ran := 0
	for _, c := range regexp.MustCompile(`(?m)^curl (.*)\n# (.*)$`).FindAllStringSubmatch(string(page), -1) {
		request := httptest.NewRequest("GET", regexp.MustCompile(`http://[^ ']+`).FindString(c[1]), nil)
		if strings.Contains(c[1], "-X POST") {
			request.Method = "POST"
		}
		if strings.Contains(c[1], "-H 'Accept: text/plain'") {
			request.Header.Set("Accept", "text/plain")
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, request)
		if w.Code != 200 || form(w.Body.String()) != form(c[2]) {
			t.Errorf("curl %s: %d %s, the page has %s", c[1], w.Code, w.Body, c[2])
		}
		ran++
	}
	// What the programs in other languages ask for.
	for _, url := range regexp.MustCompile(`"(http://[^"]*/ids/[^"]*)"`).FindAllStringSubmatch(string(page), -1) {
		request, w := httptest.NewRequest("POST", url[1], nil), httptest.NewRecorder()
		request.Header.Set("Accept", "text/plain")
		if s.ServeHTTP(w, request); w.Code != 200 || w.Body.Len() != 21*1000 {
			t.Errorf("%s: %d, %d bytes", url[1], w.Code, w.Body.Len())
		}
		ran++
	}
	if ran != 3+5 {
		t.Errorf("%d commands found, want 8", ran)
	}
}
