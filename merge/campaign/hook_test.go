//go:build unix

package campaign

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The example in the documents is what a hook gets.
func TestHookDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```json\n")
	example, _, ok := strings.Cut(rest, "\n```")
	m := asked
	m.Text = "is there a backup of the world?"
	b, err := json.Marshal(m)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if diff := cmp.Diff(string(b), example); diff != "" {
		t.Error(diff)
	}
	for _, kind := range Kinds {
		if !strings.Contains(string(text), "`"+kind+"`") {
			t.Errorf("docs/fleet.md does not name %q", kind)
		}
	}
	fields := reflect.TypeFor[Message]()
	for i := range fields.NumField() {
		key, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		if !strings.Contains(string(text), "`"+key+"`") {
			t.Errorf("docs/fleet.md does not explain %q", key)
		}
	}
}

var asked = Message{Campaign: "autumn", Event: AskBackedUp, At: time.Date(2026, 11, 21, 3, 9, 8, 413e6, time.UTC), World: "w2", Merge: "w1", Worlds: []string{"w1", "w2", "w3"}, Text: "is w2 backed up?"}

func shell(script string) Hook { return Hook{Run: []string{"/bin/sh", "-c", script}} }

// A command gets the message on its standard input, and its exit code is the answer.
func TestHookCommand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "got")
	if err := shell(`cat > '`+file+`'; echo "$FLEET_EVENT $FLEET_WORLD $FLEET_MERGE" >> '`+file+`'`).Call(t.Context(), asked); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"campaign":"autumn","event":"backed-up","at":"2026-11-21T03:09:08.413Z","world":"w2","merge":"w1","worlds":["w1","w2","w3"],"text":"is w2 backed up?"}` + "\nbacked-up w2 w1\n"
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Error(diff)
	}
	if err := (Hook{Run: []string{"true"}}).Call(t.Context(), asked); err != nil { // reads nothing
		t.Error(err)
	}
	for _, c := range []struct {
		hook Hook
		want string
	}{
		{shell("echo one; printf 'two\\033[31m\\n' >&2; exit 3"), `it ended with exit code 3; it says: one / two`},
		{shell("i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done; exit 1"), `ended with exit code 1; it says: ... line 490 / line 491`},
		{shell("kill -9 $$"), "signal: killed"},
		{Hook{Run: []string{"/no/such/command"}}, "the hook /no/such/command: it cannot be started"},
		{Hook{}, "no command and no address"},
	} {
		err := c.hook.Call(t.Context(), asked)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\033") {
			t.Errorf("got %q, want %q", err, c.want)
		}
	}
}

// A command that takes too long ends, and with it all that it started, as does what a command
// that ended left running.
func TestHookEndsItsGroup(t *testing.T) {
	t.Parallel()
	for _, script := range []string{
		"(trap '' TERM; exec sleep 600) & echo $! > FILE; wait",
		"sleep 600 & echo $! > FILE; exit 0",
	} {
		file := filepath.Join(t.TempDir(), "pid")
		h := shell(strings.ReplaceAll(script, "FILE", "'"+file+"'"))
		var b []byte
		if strings.Contains(script, "wait") {
			h.Timeout = 150 * time.Millisecond
			for len(b) == 0 && h.Timeout < time.Minute { // a busy machine takes longer until the script is so far
				h.Timeout *= 2
				if err := h.Call(t.Context(), asked); err == nil || !strings.Contains(err.Error(), "it took longer than "+h.Timeout.String()) {
					t.Errorf("%s: %v", script, err)
				}
				b, _ = os.ReadFile(file)
			}
		} else if err := h.Call(t.Context(), asked); err != nil {
			t.Errorf("%s: %v", script, err)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		// Killed, it is a zombie until its new parent looks at it.
		for end := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil && !zombie(pid); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: the process %d still runs", script, pid)
			}
		}
	}
}

func zombie(pid int) bool {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, state, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(state, "Z")
}

// A request is a POST, 2xx is yes, and no redirect is followed.
func TestHookRequest(t *testing.T) {
	t.Parallel()
	var got Message
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	wait := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/yes":
			if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s with %s", r.Method, r.Header.Get("Content-Type"))
			}
			if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
				t.Error(err)
			}
			w.WriteHeader(http.StatusNoContent)
		case "/no":
			http.Error(w, "not yet", http.StatusConflict)
		case "/elsewhere":
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		case "/late":
			<-wait
		}
	}))
	defer server.Close()
	defer close(wait)
	if err := (Hook{URL: server.URL + "/yes"}).Call(t.Context(), asked); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asked, got); diff != "" {
		t.Error(diff)
	}
	secret := strings.Replace(server.URL, "://", "://user:pass@", 1)
	closed := httptest.NewServer(nil)
	closed.Close()
	late := 200 * time.Millisecond
	for _, c := range []struct {
		url     string
		timeout time.Duration
		want    string
	}{
		{secret + "/no?key=s3cret", 0, "/no: it answers 409 Conflict; it says: not yet"},
		{server.URL + "/elsewhere", 0, "it answers 307, a redirect"},
		{server.URL + "/late", late, "it took longer than 200ms"},
		{strings.Replace(closed.URL, "://", "://user:pass@", 1) + "/?key=s3cret", 0, "connection refused"},
	} {
		err := Hook{URL: c.url, Timeout: c.timeout}.Call(t.Context(), asked)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "pass") || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("it tells a secret: %v", err)
		}
	}
}

// A notice that fails is no error of the campaign; of a question every hook has to say yes.
func TestHooksOn(t *testing.T) {
	t.Parallel()
	c := &Campaign{Name: "autumn", Hooks: []Hook{{On: []string{"merged", AskStopped}, Run: []string{"true"}}, {On: []string{"merged"}, Run: []string{"false"}}}}
	if failed := c.notify(t.Context(), Message{Event: "merged"}); len(failed) != 1 {
		t.Errorf("got %v", failed)
	}
	if asked, err := c.ask(t.Context(), Message{Event: AskStopped}); !asked || err != nil {
		t.Errorf("got %v, %v", asked, err)
	}
	if asked, err := c.ask(t.Context(), Message{Event: AskBackedUp}); asked || err != nil {
		t.Errorf("nobody to ask: got %v, %v", asked, err)
	}
	c.Hooks[1].On = []string{AskStopped}
	if asked, err := c.ask(t.Context(), Message{Event: AskStopped}); !asked || err == nil {
		t.Errorf("one says no: got %v, %v", asked, err)
	}
}
