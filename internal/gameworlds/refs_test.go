package gameworlds

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadRefs(t *testing.T) {
	refs, err := ReadRefs(strings.NewReader(`
# a comment
size items things

table things      # another
	id key
	key{1..2} key both
	owner ref players.id none 0,-1,<5,>9
	from ref players.id when kind = 0,a none 0
	from natural when kind = 2
	deed ref deeds.id things.id
	note cell things.id
	mods cell account
table empty
`))
	if err != nil {
		t.Fatal(err)
	}
	of := func(name string) Column { return Column{"things", name} }
	players := []Column{{"players", "id"}}
	want := &Refs{
		Sizes:  map[string]string{"items": "things"},
		Tables: []string{"things", "empty"},
		Columns: map[Column][]Meaning{
			of("id"):    {{Kind: Key}},
			of("key1"):  {{Kind: Key, Counter: "both"}},
			of("key2"):  {{Kind: Key, Counter: "both"}},
			of("owner"): {{Kind: Reference, To: players, None: []Range{{0, 0}, {-1, -1}, {math.MinInt64, 4}, {10, math.MaxInt64}}}},
			of("from"): {
				{Kind: Reference, To: players, When: &When{"kind", []string{"0", "a"}}, None: []Range{{0, 0}}},
				{Kind: Natural, When: &When{"kind", []string{"2"}}},
			},
			of("deed"): {{Kind: Reference, To: []Column{{"deeds", "id"}, {"things", "id"}}}},
			of("note"): {{Kind: Cell, To: []Column{{"things", "id"}}}},
			of("mods"): {{Kind: Cell}},
		},
	}
	if diff := cmp.Diff(want, refs); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What a form writes it reads, and what it does not write it does not read.
func TestForms(t *testing.T) {
	key := func() int64 { return 4711 }
	for form, others := range map[string][]string{
		`{key}\\s0\\s`:        {"", "4711", "4711 0", "x 0 "},
		"{n}:0:{n}:{key}:{n}": {"", "1:0:2:3", "1:1:2:3:4"},
		"{key}:{text}":        {"4711", ":a"},
		"{hex16}:{n}":         {"1267:1", "            126G:1"},
		"{HEX}:{n}":           {"126g:1", ":1"},
		"{keys}":              {"", "1  2", "1,2"},
		"0x4000@0":            {"0", "4711", "17383819421893267046"},
		"0xF140@24":           {"0", "4611686018427392615"},
	} {
		f, err := parseForm(form)
		if err != nil {
			t.Fatal(err)
		}
		rng := random(1, form)
		for range 100 {
			cell := fmt.Sprint(f.write(rng, key))
			keys, rest, ok := f.Read(cell)
			if !ok || len(keys) == 0 || slices.ContainsFunc(keys, func(k string) bool { return k != "4711" }) || strings.Contains(rest, "4711") {
				t.Errorf("%s wrote %q and reads %q, %q, %v", form, cell, keys, rest, ok)
			}
		}
		for _, other := range others {
			if keys, _, ok := f.Read(other); ok {
				t.Errorf("%s reads %q in %q", form, keys, other)
			}
		}
	}
	if keys, _, _ := must(parseForm("{hex16}:{n}")).Read("            1267:1"); !slices.Equal(keys, []string{"4711"}) {
		t.Error(keys)
	}
	for _, wrong := range []string{"{kay}", "0x4000@48"} {
		if _, err := parseForm(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

func must(f *Form, err error) *Form {
	if err != nil {
		panic(err)
	}
	return f
}

func TestReadRefsNamesTheLine(t *testing.T) {
	for _, c := range []struct{ list, want string }{
		{"\tid key", "line 1: "},
		{"table a\n\tid", "line 2: "},
		{"table a\ntable a", "line 2: table \"a\" is listed twice"},
		{"table a\n\tid number", "line 2: unknown kind \"number\""},
		{"table a\n\tid ref", "line 2: a reference to nothing"},
		{"table a\n\tid ref b", "line 2: \"b\" is not understood after \"ref\""},
		{"table a\n\tid natural none x", "line 2: "},
		{"tables a", "line 1: "},
	} {
		if _, err := ReadRefs(strings.NewReader(c.list)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.list, err, c.want)
		}
	}
}

const lists = "../../merge/propose/testdata"

// The lists of the public schemas can be read, and their README counts what is in them.
func TestLists(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(lists, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(lists, "*.refs"))
	if err != nil || len(paths) != 13 {
		t.Fatalf("%d lists, %v", len(paths), err)
	}
	for _, path := range paths {
		list, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		refs, err := ReadRefs(list)
		list.Close()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		of := make(map[Kind]int)
		conditional := 0
		for _, meanings := range refs.Columns {
			for _, kind := range []Kind{Reference, Key, Natural, Cell, Account, Thing} {
				if slices.ContainsFunc(meanings, func(m Meaning) bool { return m.Kind == kind }) {
					of[kind]++
				}
			}
			if slices.ContainsFunc(meanings, func(m Meaning) bool { return m.Kind == Reference && m.When != nil }) {
				conditional++
			}
		}
		name := strings.TrimSuffix(filepath.Base(path), ".refs")
		counts := fmt.Sprintf("| %d | %d | %d | %d | %d | %d | %d |", of[Reference], conditional, of[Key], of[Natural], of[Cell], of[Account], of[Thing])
		if !slices.ContainsFunc(strings.Split(string(readme), "\n"), func(line string) bool {
			return strings.HasPrefix(line, fmt.Sprintf("| %s | %d |", name, len(refs.Tables))) && strings.HasSuffix(line, counts)
		}) {
			t.Errorf("README.md does not say of %s: %d tables, and %s", name, len(refs.Tables), counts)
		}
		for c, meanings := range refs.Columns {
			for _, m := range meanings {
				for _, to := range m.To {
					if !slices.Contains(refs.Tables, to.Table) {
						t.Errorf("%s: %s names %s, a table that is not listed", name, c, to)
					} else if m.Kind == Reference && len(refs.Columns[to]) == 0 {
						t.Errorf("%s: %s refers to %s, which is plain", name, c, to)
					}
				}
			}
		}
	}
}
