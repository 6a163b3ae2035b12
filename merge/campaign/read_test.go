package campaign

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mergesafe/internal/strict"
)

const whole = `
[campaign]
name = "summer"
parallel = 4
per_server = 2
window = "22:30-06:00"
zone = "Europe/Berlin"
continue = true
retries = 2
undo = true
allow = ["table-empty"]
backup = "by hand"
stopped = "by hand"
into = "{first}_2026"

[[merge]]
worlds = ["w1", "w2", "w3"]
note = "the small ones"

[[merge]]
worlds = ["w4", "w5"]
into = "spring"

[[hook]]
on = ["verified", "failed"]
run = ["./tell.sh", "now"]
timeout = "5s"

[[hook]]
on = "stopped"
url = "http://127.0.0.1:8080/stopped"
`

func TestParse(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("c.toml", whole)
	if err != nil {
		t.Fatal(err)
	}
	want := &Campaign{
		Name: "summer", Parallel: 4, PerServer: 2, Continue: true, Retries: 2, Undo: true, Backup: ByHand, Stopped: ByHand,
		Window: &Window{From: 22*time.Hour + 30*time.Minute, To: 6 * time.Hour, Zone: berlin},
		Allow:  []string{"table-empty"},
		Into:   "{first}_2026",
		Merges: []Merge{{[]string{"w1", "w2", "w3"}, "the small ones", "{first}_2026"}, {[]string{"w4", "w5"}, "", "spring"}},
		Hooks: []Hook{{[]string{"verified", "failed"}, []string{"./tell.sh", "now"}, "", 5 * time.Second},
			{[]string{"stopped"}, nil, "http://127.0.0.1:8080/stopped", time.Minute}},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })); diff != "" {
		t.Error(diff)
	}
	least, err := Parse("c.toml", "[campaign]\nname='x'\n[[merge]]\nworlds=['a', 'b']\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Campaign{Name: "x", Parallel: 1, PerServer: 1, Into: DefaultInto, Merges: []Merge{{[]string{"a", "b"}, "", DefaultInto}}}, least); diff != "" {
		t.Error(diff)
	}
}

// What the operator has to choose stands in the file that is written, to be taken as it is.
func TestWriteChoices(t *testing.T) {
	t.Parallel()
	c := &Campaign{Name: "x", Merges: []Merge{{Worlds: []string{"a", "b"}}}}
	var b strings.Builder
	if _, err := c.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	got, err := Parse("c.toml", regexp.MustCompile(`(?m)^# (\w+ = )`).ReplaceAllString(b.String(), "$1"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Into != DefaultInto || got.Backup != ByHand || got.Stopped != ByHand {
		t.Errorf("got backup %q, stopped %q from:\n%s", got.Backup, got.Stopped, &b)
	}
}

// Every problem names its line, and what would be right.
func TestParseProblems(t *testing.T) {
	t.Parallel()
	const head = "[campaign]\nname = 'x'\n"
	const merge = "[[merge]]\nworlds = ['a', 'b']\n"
	for _, c := range []struct{ text, want string }{
		{"", "c.toml: campaign is missing: want a section [campaign]"},
		{head, "c.toml: merge is missing: want a section [[merge]]"},
		{"[campaign]\n" + merge, "c.toml:1: campaign.name is missing"},
		{head + "paralel = 2\n" + merge, `c.toml:3: unknown key paralel (did you mean "parallel"?)`},
		{head + "parallel = 0\n" + merge, "c.toml:3: campaign.parallel 0 is out of range: want 1 to 64"},
		{head + "window = '02:00-06:00'\n" + merge, "c.toml:1: campaign.zone is missing"},
		{head + "zone = 'UTC'\n" + merge, "c.toml:3: campaign.zone is there without a window"},
		{head + "window = '2-6'\nzone = 'UTC'\n" + merge, "c.toml:3: campaign.window is no window"},
		{head + "window = '25:00-26:00'\nzone = 'UTC'\n" + merge, "c.toml:3: campaign.window is no window"},
		{head + "window = '02:00-02:00'\nzone = 'UTC'\n" + merge, "c.toml:3: campaign.window is empty"},
		{head + "window = '02:00-03:00'\nzone = 'Mars'\n" + merge, "c.toml:4: campaign.zone is no time zone"},
		{head + "window = '02:00-03:00'\nzone = 'Local'\n" + merge, "c.toml:4: campaign.zone is no time zone"},
		{head + "backup = 'yes'\n" + merge, `c.toml:3: campaign.backup is not known: want "by hand"`},
		{head + "window = '24:00-00:00'\nzone = 'UTC'\n" + merge, "c.toml:3: campaign.window is empty"},
		{head + "allow = ['']\n" + merge, "c.toml:3: campaign.allow is empty"},
		{head + "[[merge]]\nnote = 'x'\n", "c.toml:3: merge.worlds is missing"},
		{head + "[[merge]]\nworlds = []\n", "c.toml:4: merge.worlds is empty"},
		{head + "[[merge]]\nworlds = ['a']\n", "c.toml:4: merge.worlds has one world: want two or more"},
		{head + "[[merge]]\ntarget = 'a'\nworlds = ['a', 'b']\n", "c.toml:4: unknown key target"},
		{head + "[[merge]]\nworlds = ['a/b', 'b']\n", "c.toml:4: merge.worlds is not a valid name of a world"},
		{head + "[[merge]]\nworlds = [\n'a',\n'b',\n'c', 'b']\n", `c.toml:6: merge.worlds has "b" twice`},
		{head + merge + "[[merge]]\nworlds = [\n  'd',\n  'b']\n", `c.toml:8: merge.worlds "b" is already in the merge in line 4`},
		{head + merge + "[[merge]]\nworlds = ['d', 'A']\n", `c.toml:6: merge.worlds "A" is already in the merge in line 4`},
		{head + merge + "[[hook]]\non = ['merge']\nrun = ['x']\n", `c.toml:6: hook.on contains "merge", which is not a kind of event (did you mean "merged"?)`},
		{head + merge + "[[hook]]\nrun = ['x']\n", "c.toml:5: hook.on is missing"},
		{head + merge + "[[hook]]\non = 'failed'\n", "c.toml:5: hook.run is missing"},
		{head + merge + "[[hook]]\non = 'failed'\nrun = ['x']\nurl = 'http://h/'\n", "c.toml:8: hook.url and run are both given"},
		{head + merge + "[[hook]]\non = 'failed'\nurl = 'ftp://h/'\n", "c.toml:7: hook.url is no address"},
		{head + merge + "[[hook]]\non = 'failed'\nrun = ['']\n", "c.toml:7: hook.run begins with an empty text"},
		{head + merge + "[[hook]]\non = 'failed'\nrun = ['x']\ntimeout = '5'\n", "c.toml:8: hook.timeout is no duration"},
		{head + "into = 'all'\n" + merge, `c.toml:3: campaign.into is the same database for all merges: want {first} in it`},
		{head + "into = '{first}_{date}'\n" + merge, "c.toml:3: campaign.into has braces other than {first}, or than {n} after a letter at the end of the name"},
		{head + "into = '{first}_{n}'\n" + merge, "c.toml:3: campaign.into has braces other than {first}, or than {n} after a letter at the end of the name"},
		{head + "into = '{first}{n}'\n" + merge, "c.toml:3: campaign.into has braces other than {first}, or than {n} after a letter at the end of the name"},
		{head + "into = 'm{n}_{first}'\n" + merge, "c.toml:3: campaign.into has braces other than {first}, or than {n} after a letter at the end of the name"},
		{head + "into = '{first}_{first}'\n" + merge, "c.toml:3: campaign.into has braces other than {first}"},
		{head + "into = '{first} 2026'\n" + merge, "c.toml:3: campaign.into is not a valid name of a database"},
		{head + "into = '{first}" + strings.Repeat("ü", 64) + "'\n" + merge, "c.toml:3: campaign.into is not a valid name of a database"},
		{head + "into = 'mysql:u:hunter2@tcp(h:1)/{first}'\n" + merge, "c.toml:3: campaign.into contains an account: want no user and no password"},
		{head + "into = 'mysql:tcp(h:1)/?x={first}'\n" + merge, "c.toml:3: campaign.into is no address"},
		{head + "into = ''\n" + merge, "c.toml:3: campaign.into is empty"},
		{head + merge + "into = ''\n", "c.toml:5: merge.into is empty"},
		{head + "[[merge]]\nworlds = ['a?', 'b']\n", "c.toml:3: merge.into with the name of the first world inserted is not a valid name of a database"},
		{head + merge + "into = 'postgres:x'\n", "c.toml:5: merge.into is no address"},
		{head + merge + "into = 'sqlite::memory:'\n", "c.toml:5: merge.into is no address"}, // no file
		{head + merge + "into = 'B'\n", "c.toml:5: merge.into is the name of the world in line 4"},
		{head + merge + "into = 'a_2'\n[[merge]]\nworlds = ['c', 'd']\ninto = 'A_2'\n", "c.toml:8: merge.into is already the new database of the merge in line 4"},
		{head + "into = '{first}_2'\n[[merge]]\nworlds = ['c', 'd']\ninto = 'a_2'\n" + merge, "c.toml:7: merge.into is already the new database of the merge in line 5"},
	} {
		_, err := Parse("c.toml", c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("a password is shown: %v", err)
		}
	}
	if _, err := Parse("c.toml", head+"into = '{first}"+strings.Repeat("ü", 63)+"'\n"+merge); err != nil {
		t.Errorf("a name of 64 characters: %v", err)
	}
}

// What is written is read as the same campaign.
func TestWriteTo(t *testing.T) {
	t.Parallel()
	fits := func(s string) bool { return !strict.LooksLikeDSN(s) && !strings.Contains(s, ":@") } // the file may not have others
	text := rapid.StringN(0, 20, -1).Filter(fits)
	name := rapid.StringMatching(`[a-zA-Z0-9_é][a-zA-Z0-9_.é-]{0,7}`)
	rapid.Check(t, func(t *rapid.T) {
		label := rapid.StringMatching(`[ -~ü"\\]{1,20}`).Filter(fits)
		c := &Campaign{
			Name: label.Draw(t, "name"), Parallel: rapid.IntRange(1, maxParallel).Draw(t, "parallel"), Retries: rapid.IntRange(0, maxRetries).Draw(t, "retries"),
			Continue: rapid.Bool().Draw(t, "continue"), Undo: rapid.Bool().Draw(t, "undo"),
		}
		c.PerServer = rapid.IntRange(1, c.Parallel).Draw(t, "per server")
		byHand := rapid.SampledFrom([]string{"", ByHand})
		c.Backup, c.Stopped, c.Room = byHand.Draw(t, "backup"), byHand.Draw(t, "stopped"), byHand.Draw(t, "room")
		c.Allow = rapid.SliceOfN(label, 0, 2).Draw(t, "allow")
		if rapid.Bool().Draw(t, "window") {
			c.Window = &Window{From: time.Duration(rapid.IntRange(0, 600).Draw(t, "from")) * time.Minute, To: time.Duration(rapid.IntRange(601, 1440).Draw(t, "to")) * time.Minute, Zone: time.UTC}
		}
		c.Into = rapid.SampledFrom([]string{DefaultInto, "new_{first}_2026", "sqlite:new/{first}_m{n}.db"}).Draw(t, "into")
		worlds := rapid.SliceOfNDistinct(name, 2, 8, folded).Draw(t, "worlds")
		for len(worlds) > 1 {
			n := rapid.IntRange(2, len(worlds)).Draw(t, "of one merge")
			c.Merges = append(c.Merges, Merge{worlds[:n:n], text.Draw(t, "note"), rapid.SampledFrom([]string{c.Into, "made_for_{first}", "mysql:tcp(db4:3306)/{first}_m{n}?tls=true"}).Draw(t, "into of one")})
			worlds = worlds[n:]
		}
		for range rapid.IntRange(0, 2).Draw(t, "hooks") {
			h := Hook{On: []string{rapid.SampledFrom(Kinds).Draw(t, "on")}, URL: "http://127.0.0.1:1/x", Timeout: time.Duration(rapid.IntRange(1, 1e6).Draw(t, "timeout")) * time.Millisecond}
			if rapid.Bool().Draw(t, "run") {
				h.URL, h.Run = "", append([]string{"x"}, text.Draw(t, "argument"))
			}
			c.Hooks = append(c.Hooks, h)
		}
		var b bytes.Buffer
		if _, err := c.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		got, err := Parse("c.toml", b.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, &b)
		}
		equal := cmp.Options{cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() }), cmp.Comparer(func(a, b []string) bool {
			return strings.Join(a, "\x00") == strings.Join(b, "\x00") && len(a) == len(b)
		})}
		if diff := cmp.Diff(c, got, equal); diff != "" {
			t.Fatalf("%s\n%s", diff, &b)
		}
	})
}
