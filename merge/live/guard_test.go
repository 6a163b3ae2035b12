package live

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"mergesafe/merge/campaign"
)

const token = "correct-horse-battery"

// ask asks a handler, and returns what it answered.
func ask(h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "localhost:9200"
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestHost(t *testing.T) {
	h := New(night(t, 3), Options{Hosts: []string{"war.example", "10.1.2.3", "2001:db8::7"}})
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:1": 200, "127.0.0.1:9200": 200, "127.9.9.9": 200, "[::1]:9200": 200, "[::1]": 200,
		"war.example": 200, "War.Example:443": 200, "10.1.2.3:80": 200, "[2001:db8::7]:1": 200,
		"": 421, "evil.example": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example:9200": 421, "10.1.2.4": 421, "localhost@evil": 421, "0.0.0.0": 421, "[::]": 421, "war.example.": 421,
	} {
		for _, path := range []string{"/", "/api/status", "/metrics", "/page.js", "/live", "/nowhere"} {
			if path == "/live" && want == 200 || path == "/nowhere" && want == 200 {
				continue
			}
			if got := ask(h, "GET", path, "", "Host", host).Code; got != want {
				t.Errorf("%s of host %q: %d, want %d", path, host, got, want)
			}
		}
	}
}

// A page that is not of this machine alone shows nothing without the token.
func TestPrivate(t *testing.T) {
	book := night(t, 3)
	h := New(book, Options{Private: true, Token: token, Control: book, Reports: fstest.MapFS{"eu-w1.plan.html": {}}})
	for _, path := range []string{"/", "/live", "/page.js", "/api/status", "/api/events", "/metrics", "/report/eu-w1.plan.html", "/nowhere"} {
		for _, headers := range [][]string{{}, {"Authorization", "Bearer "}, {"Authorization", "Bearer " + token + "x"}, {"Authorization", "Basic Zm9vOmJhcg=="}, {"Authorization", token}, {"Cookie", "token=" + token}} {
			w := ask(h, "GET", path, "", headers...)
			if w.Code != 401 || !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Basic") || strings.Contains(w.Body.String(), "eu-w1") {
				t.Errorf("%s with %q: %d, %s", path, headers, w.Code, w.Body)
			}
		}
		if w := ask(h, "GET", path+"?token="+token, ""); w.Code != 401 {
			t.Errorf("%s takes the token from the address, which is kept in logs: %d", path, w.Code)
		}
	}
	r := httptest.NewRequest("GET", "http://localhost/", nil)
	r.SetBasicAuth("me", token)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 200 || ask(h, "GET", "/", "", "Authorization", "bearer "+token).Code != 200 {
		t.Errorf("with the token: %d", w.Code)
	}
	if ask(New(book, Options{Private: true}), "GET", "/", "", "Authorization", "Bearer ").Code != 401 {
		t.Error("a page without a token is open to an empty one")
	}
}

// An action needs the token in a header, and a page of this place or no page at all.
func TestControl(t *testing.T) {
	book := night(t, 3)
	h := New(book, Options{Token: token, Control: book})
	bearer := []string{"Authorization", "Bearer " + token}
	with := func(more ...string) []string { return slices.Concat(bearer, more) }
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		want                     int
	}{
		{"no token", "POST", "/api/pause", "", nil, 401},
		{"wrong token", "POST", "/api/pause", "", []string{"Authorization", "Bearer wrong"}, 401},
		{"token as a password, which a browser sends by itself", "POST", "/api/pause", "", []string{"Authorization", "Basic eDpjb3JyZWN0LWhvcnNlLWJhdHRlcnk="}, 401},
		{"another site", "POST", "/api/pause", "", with("Origin", "https://evil.example"), 403},
		{"another port", "POST", "/api/pause", "", with("Origin", "http://localhost:1"), 403},
		{"a sandbox", "POST", "/api/pause", "", with("Origin", "null"), 403},
		{"cross-site", "POST", "/api/pause", "", with("Sec-Fetch-Site", "cross-site"), 403},
		{"same-site", "POST", "/api/pause", "", with("Sec-Fetch-Site", "same-site"), 403},
		{"another host", "POST", "/api/pause", "", with("Host", "evil.example"), 421},
		{"get", "GET", "/api/pause", "", bearer, 405},
		{"put", "PUT", "/api/pause", "", bearer, 405},
		{"post to the page", "POST", "/", "", bearer, 405},
		{"delete a report", "DELETE", "/report/x", "", bearer, 405},
		{"unknown", "POST", "/api/undo", "", bearer, 404},
		{"large", "POST", "/api/skip", `{"merge":"` + strings.Repeat("x", 1<<20) + `"}`, bearer, 413},
		{"other field", "POST", "/api/skip", `{"merges":"w1"}`, bearer, 400},
		{"no JSON", "POST", "/api/skip", `target=w1`, bearer, 400},
		{"skip nothing", "POST", "/api/skip", `{}`, bearer, 400},
		{"skip without a body", "POST", "/api/skip", "", bearer, 400},
		{"pause one merge", "POST", "/api/pause", `{"merge":"eu-w1"}`, bearer, 400},
		{"resume one merge", "POST", "/api/resume", `{"merge":"eu-w1"}`, bearer, 400},
		{"pause with another field", "POST", "/api/pause", `{"target":"eu-w1"}`, bearer, 400},
		{"other case", "POST", "/api/skip", `{"Merge":"eu-w1"}`, bearer, 400},
		{"more than one value", "POST", "/api/skip", `{"merge":"eu-w1"} {}`, bearer, 400},
		{"refused by the campaign", "POST", "/api/skip", `{"merge":"unknown"}`, bearer, 409},
	} {
		if w := ask(h, c.method, c.path, c.body, c.headers...); w.Code != c.want {
			t.Errorf("%s: %d, want %d: %s", c.name, w.Code, c.want, w.Body)
		}
	}
	if got := book.asked(); len(got) > 0 {
		t.Fatalf("the campaign was told to %q", got)
	}
	for _, c := range [][]string{{"/api/pause", ""}, {"/api/resume", "{}"}, {"/api/skip", `{"merge":"eu-w1"}`}} {
		if w := ask(h, "POST", c[0], c[1], with("Origin", "http://localhost:9200", "Sec-Fetch-Site", "same-origin")...); w.Code != 204 {
			t.Errorf("%s: %d, %s", c[0], w.Code, w.Body)
		}
	}
	if got, want := book.asked(), []string{"pause", "resume", "skip eu-w1"}; !slices.Equal(got, want) {
		t.Errorf("the campaign was told to %q, want %q", got, want)
	}
	// Read-only: there is nothing to ask.
	page := ask(New(book, Options{Token: token}), "GET", "/", "").Body.String()
	if code := ask(New(book, Options{Token: token}), "POST", "/api/pause", "", bearer...).Code; code != 404 || strings.Contains(page, "data-do") || strings.Contains(page, "<dialog") {
		t.Errorf("a page that is read-only answers %d, or has buttons", code)
	}
}

// Only files that the state lists are served, and none outside of the folder.
func TestReports(t *testing.T) {
	dir := t.TempDir()
	plans := filepath.Join(dir, "plans")
	for name, text := range map[string]string{"secret": "SECRET", "plans/w1.html": "<script>alert(1)</script>", "plans/unlisted.html": "SECRET", "plans/a b%2f#?.txt": "odd", "plans/w1.csv": "a,b"} {
		os.MkdirAll(plans, 0o700)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret", filepath.Join(plans, "link.html")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(plans)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	book := night(t, 1)
	book.status.Merges[0].Reports = []string{"w1.html", "w1.csv", "a b%2f#?.txt", "link.html", "gone.html", "../secret", "/etc/passwd", ".", ""}
	h := New(book, Options{Reports: root.FS()})
	for path, want := range map[string]int{
		"w1.html": 200, "w1.csv": 200, "a%20b%252f%23%3F.txt": 200,
		"unlisted.html": 404, "link.html": 404, "gone.html": 404, "..%2Fsecret": 404, "%2e%2e%2fsecret": 404, "%2Fetc%2Fpasswd": 404, ".%2Fw1.html": 404, "": 404, "%2e": 404, "w1.html%00": 404, "W1.html": 404, "..%5Csecret": 404,
	} {
		w := ask(h, "GET", "/report/"+path, "")
		if w.Code != want || strings.Contains(w.Body.String(), "SECRET") {
			t.Errorf("%q: %d, want %d: %s", path, w.Code, want, w.Body)
		}
		if want == 200 && (!strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "sandbox; default-src 'none'") || w.Header().Get("X-Content-Type-Options") != "nosniff") {
			t.Errorf("%q may do something: %v", path, w.Header())
		}
	}
	if w := ask(h, "GET", "/report/../../secret", ""); w.Code == 200 {
		t.Error("a path with .. is served")
	}
	if !strings.Contains(ask(h, "GET", "/", "").Body.String(), `href="report/a%20b%252f%23%3F.txt"`) {
		t.Error("the link to an odd name leads elsewhere")
	}
}

// Every answer forbids what it does not need.
func TestHeaders(t *testing.T) {
	h := New(night(t, 1), Options{})
	for _, path := range []string{"/", "/page.js", "/page.css", "/icon.svg", "/api/status", "/metrics", "/nowhere"} {
		header := ask(h, "GET", path, "").Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store, no-transform",
		} {
			if !strings.HasPrefix(header.Get(name), want) {
				t.Errorf("%s: %s is %q", path, name, header.Get(name))
			}
		}
		if strings.Contains(header.Get("Content-Security-Policy"), "unsafe") || header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s allows too much: %v", path, header)
		}
	}
}

// Names, problems and events are hostile: they stay text wherever they are shown.
func TestHostile(t *testing.T) {
	evil := "w\"'><script>pwned()</script>\u202e\x1b[2J\r\nevent: parts\r\nSet-Cookie: a=b\n\ndata: x"
	book := &book{status: campaign.Status{Name: evil, Now: noon, Doing: "apply", Waits: evil}}
	for _, phase := range []campaign.Phase{campaign.Failed, campaign.Copying, campaign.Verified, campaign.Waiting, campaign.Phase(evil)} {
		book.status.Merges = append(book.status.Merges, campaign.MergeStatus{Worlds: []string{evil, evil, evil, evil, evil}, Phase: phase, Active: true, Problem: evil, Advice: []string{evil, "fleet undo " + evil}, Reports: []string{evil}, Step: evil})
	}
	book.happens(evil, evil, evil)
	h := New(book, Options{File: evil, Control: book, Token: token})
	var exported strings.Builder
	if err := (&Record{Status: &book.status, Events: book.events, Program: evil}).WriteHTML(&exported); err != nil {
		t.Fatal(err)
	}
	shown, inside, _ := strings.Cut(exported.String(), `<script type="application/json"`) // which is data, for programs
	if strings.Count(inside, "<") != strings.Count("</script>\n</body>\n</html>\n", "<") {
		t.Error("the JSON of the export ends early")
	}
	for what, text := range map[string]string{"page": ask(h, "GET", "/", "").Body.String(), "export": shown + "</script>"} {
		if strings.Contains(text, "<script>pwned") || strings.Contains(text, "\u202e") || strings.Contains(text, "\x1b") || strings.Count(text, "</script>") != 1 {
			t.Errorf("the %s lets a name through", what)
		}
	}
	w := ask(h, "GET", "/report/x%0d%0aSet-Cookie:%20a=b", "")
	if len(w.Result().Cookies()) > 0 || w.Code != 404 {
		t.Errorf("a path became a header: %d %v", w.Code, w.Header())
	}
	stream := listen(t, h, "")
	defer stream.close()
	if f := stream.next(); f.event != "parts" || len(f.message.Parts) != len(partIDs) || strings.Contains(f.message.Parts["head"], "<script>") {
		t.Errorf("the stream says %+v", f)
	}
}
