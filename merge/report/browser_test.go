package report

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/browsertest"
	"mergesafe/internal/servertest"
)

// TestBrowser looks at documents in a headless Chromium: on a telephone and on
// a desk, light and dark. It needs the program chromium, which make test
// installs. REPORT_SHOTS names a folder to keep the screenshots in.
func TestBrowser(t *testing.T) {
	servertest.NotShort(t)
	b := browsertest.Start(t)
	// What is hostile is long, and is so at any width.
	both, schemes := []int{390, 1400}, []string{"light", "dark"}
	merged := sampleOutcome()
	merged.Plan.Renames = slices.Repeat(merged.Plan.Renames, 3) // so many are folded
	for name, tt := range map[string]struct {
		document string
		bars     int
		widths   []int
		schemes  []string
	}{
		"sample":        {written(t, NewCheck(sample1()).WriteHTML), 5, both, schemes},
		"merge":         {written(t, merged.WriteHTML), 0, both, schemes},
		"plan":          {written(t, (&Planned{Plan: merged.Plan, Check: sample1(), Then: merged.Then}).WriteHTML), 5, both, schemes},
		"proof":         {written(t, sampleProof().WriteHTML), 1, both, schemes},
		"hostile":       {written(t, NewCheck(hostile()).WriteHTML), 4, both[:1], schemes[:1]},
		"hostile-merge": {written(t, hostileOutcome().WriteHTML), 4, both[:1], schemes[:1]},
	} {
		file := filepath.Join(t.TempDir(), name+".html")
		if err := os.WriteFile(file, []byte(tt.document), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, width := range tt.widths {
			for _, scheme := range tt.schemes {
				t.Run(fmt.Sprintf("%s-%d-%s", name, width, scheme), func(t *testing.T) {
					lookAt(t, b, file, width, scheme, tt.bars)
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
	Bars     int
	Folded   bool // details are not seen before they are asked for
	Unfolded bool // and then they are
	Dark     bool
	Styled   bool // the policy lets the style sheet through
}

const look = `(async () => {
  const visible = e => e.checkVisibility({contentVisibilityAuto: true});
  const drawn = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const detail = document.querySelector('#failed details, #reasons details, #renames details'), grid = detail.querySelector('table, ul, p');
  const folded = !visible(grid);
  document.querySelectorAll('details').forEach(d => d.open = true);
  await drawn();
  const unfolded = visible(grid);
  const style = getComputedStyle(document.body);
  return {
    Pwned: typeof pwned != 'undefined',
    Scripts: document.scripts.length,
    Foreign: document.querySelectorAll('img,iframe,object,embed,form,input,base,audio,video,link,[onload],[onerror],[style]').length,
    Overflow: document.documentElement.scrollWidth - innerWidth,
    Cut: innerWidth > 600 ? 0 : [...document.querySelectorAll('.wide, pre, .label, td, th, li, p')].filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).length,
    Contents: [...document.querySelectorAll('nav a')].map(a => a.hash).join() == [...document.querySelectorAll('section')].map(s => '#' + s.id).join(),
    Bars: document.querySelectorAll('svg .bar').length,
    Folded: folded, Unfolded: unfolded,
    Dark: style.backgroundColor.match(/\d+/g).every(c => c < 64),
    Styled: style.margin == '0px',
  };
})()`

func lookAt(t *testing.T, b *browsertest.Browser, file string, width int, scheme string, bars int) {
	b.Requests, b.Complaints = nil, nil
	b.Screen(t, width, scheme)
	b.Open(t, "file://"+file)

	var got looks
	b.Eval(t, look, &got)
	want := looks{Contents: true, Bars: bars, Folded: true, Unfolded: true, Dark: scheme == "dark", Styled: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.Equal(b.Requests, []string{"file://" + file}) {
		t.Errorf("the browser asked for %q", b.Requests)
	}
	if len(b.Complaints) > 0 {
		t.Errorf("the browser complains: %q", b.Complaints)
	}

	data := b.Shot(t, "REPORT_SHOTS")
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
