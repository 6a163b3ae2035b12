package report

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestBrowser looks at documents in a headless Chromium: on a telephone and on
// a desk, light and dark. It needs the program chromium, which make test
// installs. REPORT_SHOTS names a folder to keep the screenshots in.
func TestBrowser(t *testing.T) {
	b := startBrowser(t)
	// What is hostile is long, and is so at any width.
	both, schemes := []int{390, 1280}, []string{"light", "dark"}
	for name, tt := range map[string]struct {
		document string
		bars     int
		widths   []int
		schemes  []string
	}{
		"sample":         {written(t, NewCheck(sample1()).WriteHTML), 5, both, schemes},
		"matrix":         {written(t, NewMatrix(sampleMatrix()).WriteHTML), 0, both, schemes},
		"merge":          {written(t, sampleOutcome().WriteHTML), 0, both, schemes},
		"proof":          {written(t, sampleProof().WriteHTML), 1, both, schemes},
		"inventory":      {written(t, NewInventory(sampleInventory()).WriteHTML), 0, both, schemes},
		"hostile":        {written(t, NewCheck(hostile()).WriteHTML), 4, both[:1], schemes[:1]},
		"hostile-merge":  {written(t, hostileOutcome().WriteHTML), 4, both[:1], schemes[:1]},
		"hostile-matrix": {written(t, NewMatrix(hostileMatrix()).WriteHTML), 0, both[:1], schemes[:1]},
	} {
		file := filepath.Join(t.TempDir(), name+".html")
		if err := os.WriteFile(file, []byte(tt.document), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, width := range tt.widths {
			for _, scheme := range tt.schemes {
				t.Run(fmt.Sprintf("%s-%d-%s", name, width, scheme), func(t *testing.T) {
					b.page(t, file, width, scheme, tt.bars)
				})
			}
		}
	}
}

// looks is what a page says of itself.
type looks struct {
	Pwned    bool // a script of the report ran
	Scripts  int
	Foreign  int  // elements that a report has no use for
	Overflow int  // pixels by which the page is wider than the screen
	Cut      int  // elements of which a part is not seen on a telephone before they are moved
	Contents bool // every entry of the contents leads to a section, and every section has one
	Report   bool // the JSON inside can be read
	Bars     int
	Folded   bool // details are not seen before they are asked for
	Unfolded bool // and then they are
	Dark     bool
	Styled   bool // the policy lets the style sheet through
}

const look = `(async () => {
  const visible = e => e.checkVisibility({contentVisibilityAuto: true});
  const drawn = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const detail = document.querySelector('#failed details, #reasons details, #renames details, #schemas details'), grid = detail.querySelector('table, ul, p');
  const folded = !visible(grid);
  document.querySelectorAll('details').forEach(d => d.open = true);
  await drawn();
  const unfolded = visible(grid);
  const style = getComputedStyle(document.body);
  let report = null;
  try { report = JSON.parse(document.getElementById('report').textContent) } catch {}
  return {
    Pwned: typeof pwned != 'undefined',
    Scripts: document.scripts.length,
    Foreign: document.querySelectorAll('img,iframe,object,embed,form,input,base,audio,video,link,[onload],[onerror],[style]').length,
    Overflow: document.documentElement.scrollWidth - innerWidth,
    Cut: innerWidth > 600 ? 0 : [...document.querySelectorAll('.wide, pre, .label, td, th, li, p')].filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).length,
    Contents: [...document.querySelectorAll('nav a')].map(a => a.hash).join() == [...document.querySelectorAll('section')].map(s => '#' + s.id).join(),
    Report: report !== null && report.version !== undefined,
    Bars: document.querySelectorAll('svg .bar').length,
    Folded: folded, Unfolded: unfolded,
    Dark: style.backgroundColor.match(/\d+/g).every(c => c < 64),
    Styled: style.margin == '0px',
  };
})()`

func (b *browser) page(t *testing.T, file string, width int, scheme string, bars int) {
	b.requests, b.complaints = nil, nil
	b.call(t, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call(t, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.open(t, "file://"+file)

	var answer struct{ Result struct{ Value looks } }
	b.call(t, "Runtime.evaluate", map[string]any{"expression": look, "returnByValue": true, "awaitPromise": true}, &answer)
	got := answer.Result.Value
	want := looks{Scripts: 1, Report: true, Contents: true, Bars: bars, Folded: true, Unfolded: true, Dark: scheme == "dark", Styled: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.Equal(b.requests, []string{"file://" + file}) {
		t.Errorf("the browser asked for %q", b.requests)
	}
	if len(b.complaints) > 0 {
		t.Errorf("the browser complains: %q", b.complaints)
	}

	var shot struct{ Data string }
	b.call(t, "Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("REPORT_SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(t.Name())+".png"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if got := picture.Bounds().Dx(); got != width {
		t.Errorf("the screenshot is %d pixels wide, want %d", got, width)
	}
	if blank(picture) {
		t.Error("the screenshot is blank")
	}
}

// blank reports whether a picture has fewer colours than letters have edges.
func blank(picture image.Image) bool {
	seen := make(map[color.Color]bool)
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			if seen[picture.At(x, y)] = true; len(seen) > 16 {
				return false
			}
		}
	}
	return true
}

// browser is a headless Chromium, spoken to over a pipe in the protocol of its
// developer tools.
type browser struct {
	in      io.Writer
	out     *bufio.Reader
	session string
	calls   int

	loaded     bool
	requests   []string // addresses that were asked for
	complaints []string // of the console, and of pages that want to talk
}

func startBrowser(t *testing.T) *browser {
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
	b := &browser{in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		b.session = ""
		b.call(t, "Browser.close", nil, nil)
		cmd.Wait()
		late.Stop()
		in.Close()
		out.Close()
		os.RemoveAll(profile)
	})
	var target struct{ TargetID string }
	b.call(t, "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call(t, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(t, domain+".enable", nil, nil)
	}
	return b
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`

	Session string `json:"sessionId,omitempty"`
}

// call asks the browser for something and waits for the answer.
func (b *browser) call(t *testing.T, method string, params, result any) {
	t.Helper()
	b.calls++
	m := message{ID: b.calls, Method: method, Session: b.session}
	if params != nil {
		raw, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		m.Params = raw
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.in.Write(append(raw, 0)); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	for {
		answer := b.read(t)
		if answer.ID != m.ID {
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

// open goes to a page, and waits until it is there.
func (b *browser) open(t *testing.T, url string) {
	t.Helper()
	b.loaded = false
	b.call(t, "Page.navigate", map[string]any{"url": url}, nil)
	for !b.loaded {
		b.read(t)
	}
}

// read takes the next message, and notes what the browser tells unasked.
func (b *browser) read(t *testing.T) message {
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
		b.requests = append(b.requests, p.Request.URL)
	case "Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening":
		b.complaints = append(b.complaints, strings.TrimSpace(m.Method+" "+string(m.Params)))
	}
	return m
}
