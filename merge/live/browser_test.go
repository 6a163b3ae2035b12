package live

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/browsertest"
)

// seenPage is what the page says of itself.
type seenPage struct {
	Overflow int      // pixels by which it is wider than the screen
	Cut      []string // elements of which a part is not seen
	Dark     bool
	Styled   bool
	Script   bool // it runs
	Worlds   int
	Merges   int
	Failures int
}

const seen = `({
  Overflow: document.documentElement.scrollWidth - innerWidth,
  Cut: [...document.querySelectorAll('main *')].filter(e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1 && !e.closest('.name, .hidden')).map(e => e.outerHTML.slice(0, 80)),
  Dark: getComputedStyle(document.body).backgroundColor.match(/\d+/g).every(c => c < 64),
  Styled: getComputedStyle(document.body).margin == '0px',
  Script: document.documentElement.className == 'js',
  Worlds: document.querySelectorAll('.map li').length + document.querySelectorAll('.map i').length,
  Merges: document.querySelectorAll('[id^=m]').length,
  Failures: document.querySelectorAll('.problem').length,
})`

// TestBrowser looks at the page of 400 worlds and 60 merges in a headless Chromium. LIVE_SHOTS
// names a folder to keep the screenshots in.
func TestBrowser(t *testing.T) {
	b := browsertest.Start(t)
	h := New(night(t, 60), Options{File: "campaign.toml", Control: night(t, 1), Token: "secret", Reports: fstest.MapFS{}, Every: 50 * time.Millisecond, Beat: time.Second})
	site := httptest.NewServer(h)
	defer site.Close()
	defer h.Close()
	for _, width := range []int{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("night-%d-%s", width, scheme), func(t *testing.T) {
				b.Requests, b.Complaints = nil, nil
				b.Screen(t, width, scheme)
				b.Open(t, site.URL)
				var got seenPage
				b.Eval(t, seen, &got)
				want := seenPage{Dark: scheme == "dark", Styled: true, Script: true, Worlds: 400, Merges: 60, Failures: 2, Cut: []string{}}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if len(b.Complaints) > 0 {
					t.Errorf("the browser complains: %q", b.Complaints)
				}
				b.Shot(t, "LIVE_SHOTS")
			})
		}
	}
}

var _ http.Handler = (*Handler)(nil)
