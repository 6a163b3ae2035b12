// Package browsertest drives a headless Chromium, for tests of pages.
package browsertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Browser is a headless Chromium, spoken to over a pipe in the protocol of its
// developer tools.
type Browser struct {
	in      io.Writer
	out     *bufio.Reader
	session string
	calls   int

	loaded     bool
	Requests   []string // addresses that were asked for
	Complaints []string // of the console, and of pages that want to talk
}

// Start starts one for a test, which is skipped if the program chromium is not installed: make
// test installs it.
func Start(t *testing.T) *Browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	// The profile is not in t.TempDir(), which fails where the browser's last
	// breath is a file.
	profile, err := os.MkdirTemp("", "report")
	if err != nil {
		t.Fatal(err)
	}
	toBrowser, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+profile, "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser} // 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toBrowser.Close()
	fromBrowser.Close()
	late := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	b := &Browser{in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		b.session = ""
		b.Call(t, "Browser.close", nil, nil)
		cmd.Wait()
		late.Stop()
		in.Close()
		out.Close()
		os.RemoveAll(profile)
	})
	var target struct{ TargetID string }
	b.Call(t, "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.Call(t, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.Call(t, domain+".enable", nil, nil)
	}
	return b
}

// message is what the browser says.
type message struct {
	ID                    int
	Method                string
	Params, Result, Error json.RawMessage
}

// Call asks the browser for something and waits for the answer.
func (b *Browser) Call(t *testing.T, method string, params, result any) {
	t.Helper()
	b.calls++
	call := map[string]any{"id": b.calls, "method": method}
	if params != nil {
		call["params"] = params
	}
	if b.session != "" {
		call["sessionId"] = b.session
	}
	raw, err := json.Marshal(call)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.in.Write(append(raw, 0)); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	for {
		answer := b.read(t)
		if answer.ID != b.calls {
			continue
		}
		if answer.Error != nil {
			t.Fatalf("%s: %s", method, answer.Error)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

// Open goes to a page, and waits until it is there.
func (b *Browser) Open(t *testing.T, url string) {
	t.Helper()
	b.loaded = false
	b.Call(t, "Page.navigate", map[string]any{"url": url}, nil)
	for !b.loaded {
		b.read(t)
	}
}

// read takes the next message, and notes what the browser tells unasked.
func (b *Browser) read(t *testing.T) message {
	t.Helper()
	raw, err := b.out.ReadBytes(0)
	if err != nil {
		t.Fatalf("the browser is gone: %v", err)
	}
	var m message
	if err := json.Unmarshal(bytes.TrimSuffix(raw, []byte{0}), &m); err != nil {
		t.Fatal(err)
	}
	switch m.Method {
	case "Page.loadEventFired":
		b.loaded = true
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		if err := json.Unmarshal(m.Params, &p); err != nil {
			t.Fatal(err)
		}
		b.Requests = append(b.Requests, p.Request.URL)
	case "Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening":
		b.Complaints = append(b.Complaints, strings.TrimSpace(m.Method+" "+string(m.Params)))
	}
	return m
}

// Screen sets the screen for the pages that are opened next: that of a telephone if it is
// narrow.
func (b *Browser) Screen(t *testing.T, width int, scheme string) {
	t.Helper()
	b.Call(t, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.Call(t, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Eval evaluates an expression in the page, awaits it if it is a promise, and stores its value
// in result.
func (b *Browser) Eval(t *testing.T, expression string, result any) {
	t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.Call(t, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	if result != nil {
		if err := json.Unmarshal(answer.Result.Value, result); err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
	}
}

// Shot is a picture of the whole page, in PNG. It is kept in the folder that a variable of the
// environment names, under the name of the test.
func (b *Browser) Shot(t *testing.T, folder string) []byte {
	t.Helper()
	var shot struct{ Data []byte }
	b.Call(t, "Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &shot)
	if dir := os.Getenv(folder); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(t.Name())+".png"), shot.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return shot.Data
}

// Await waits until an expression is true in the page.
func (b *Browser) Await(t *testing.T, expression string) {
	t.Helper()
	b.Eval(t, "new Promise(done => { const look = () => ("+expression+") ? done(true) : setTimeout(look, 20); look(); })", nil)
}

// Press presses a key: "Tab", "Enter", "Escape" or " ".
func (b *Browser) Press(t *testing.T, key string) {
	t.Helper()
	params := map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}[key]}
	if key == "Enter" {
		params["text"] = "\r"
	}
	b.Call(t, "Input.dispatchKeyEvent", params, nil)
	params["type"] = "keyUp"
	delete(params, "text")
	b.Call(t, "Input.dispatchKeyEvent", params, nil)
}
