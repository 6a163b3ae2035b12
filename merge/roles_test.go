package merge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// someNames are the tables that the declarations of these tests are about; lost cannot
// be read.
func someNames() names {
	n := names{"lost": nil}
	for table, columns := range map[string]string{"chars": "guid name level account", "items": "id owner type", "mail": "id sender receiver type", "dotted.name": "id"} {
		n[table] = make(map[string]*Column)
		for _, c := range strings.Fields(columns) {
			n[table][c] = &Column{Name: c}
		}
	}
	return n
}

func TestDeclare(t *testing.T) {
	ref := func(to string, at ...string) DeclaredReference { return DeclaredReference{At: at, To: []string{to}} }
	when := func(r DeclaredReference, c When) DeclaredReference { r.When = &c; return r }
	is := func(v ...string) When { return When{Column: "type", Is: v} }
	not := func(v ...string) When { return When{Column: "type", Not: v} }
	for name, c := range map[string]struct {
		files  []Declarations
		want   map[string]string // the role of columns
		beaten int
		err    string
	}{
		"lists": {files: []Declarations{{Plain: []string{"chars.level"}, Natural: []string{"items.type"}, Shared: []string{"chars.account"}, Undecided: []string{"mail.id"}}},
			want: map[string]string{"chars.level": "plain", "items.type": "natural", "chars.account": "shared", "mail.id": "undecided", "chars.guid": "open"}},
		"a pattern skips tables without the column": {files: []Declarations{{Plain: []string{"*.type"}}}, want: map[string]string{"items.type": "plain", "mail.type": "plain", "chars.level": "open"}},
		"an exact name beats a pattern":             {files: []Declarations{{Plain: []string{"*.type"}, Natural: []string{"mail.type"}}}, want: map[string]string{"items.type": "plain", "mail.type": "natural"}},
		"an exact name beats a later pattern":       {files: []Declarations{{Natural: []string{"mail.type"}}, {Plain: []string{"*.type"}}}, want: map[string]string{"mail.type": "natural", "items.type": "plain"}, beaten: 1},
		"a later file beats an earlier one":         {files: []Declarations{{Natural: []string{"mail.type"}}, {Plain: []string{"mail.type"}}}, want: map[string]string{"mail.type": "plain"}, beaten: 1},
		"backquotes":                                {files: []Declarations{{Plain: []string{"`dotted.name`.id"}}}, want: map[string]string{"dotted.name.id": "plain"}},
		"of a table that cannot be read":            {files: []Declarations{{Plain: []string{"lost.x"}}}, want: map[string]string{}},
		"a reference by a pattern is none to itself": {files: []Declarations{{References: []DeclaredReference{ref("chars.guid", "*.guid", "items.owner")}}},
			want: map[string]string{"chars.guid": "open", "items.owner": "reference"}},
		"two references for different rows": {files: []Declarations{{References: []DeclaredReference{when(ref("chars.guid", "mail.sender"), is("0")), when(ref("items.id", "mail.sender"), is("1", "2"))}}},
			want: map[string]string{"mail.sender": "reference"}},
		"two references, one for the others": {files: []Declarations{{References: []DeclaredReference{when(ref("chars.guid", "mail.sender"), is("0")), when(ref("items.id", "mail.sender"), not("0"))}}},
			want: map[string]string{"mail.sender": "reference"}},
		"two references that overlap": {files: []Declarations{{References: []DeclaredReference{when(ref("chars.guid", "mail.sender"), is("0", "1")), when(ref("items.id", "mail.sender"), is("1"))}}}, err: "both may cover a row"},
		"two that leave out others":   {files: []Declarations{{References: []DeclaredReference{when(ref("chars.guid", "mail.sender"), not("0")), when(ref("items.id", "mail.sender"), not("1"))}}}, err: "both may cover a row"},
		"two words of one rank":       {files: []Declarations{{Plain: []string{"mail.type"}, Natural: []string{"mail.type"}}}, err: `mail.type is also declared by plain "mail.type"`},
		"two patterns of one rank":    {files: []Declarations{{Plain: []string{"*.type"}, Natural: []string{"mail.*"}}}, err: "mail.type is also declared by"},
		"a word and a reference":      {files: []Declarations{{Plain: []string{"mail.sender"}, References: []DeclaredReference{ref("chars.guid", "mail.sender")}}}, err: "mail.sender is also declared by"},
		"nothing matches a table":     {files: []Declarations{{Plain: []string{"male.*"}}}, err: `"male.*": no source has a table`},
		"nothing matches a column":    {files: []Declarations{{Plain: []string{"mail.*x"}}}, err: "no such table has a column"},
		"no column":                   {files: []Declarations{{File: "r.toml", Plain: []string{"mail"}}}, err: `in r.toml: "mail" names no column`},
		"to a pattern":                {files: []Declarations{{References: []DeclaredReference{ref("chars.g*", "mail.sender")}}}, err: "not a pattern"},
		"when without its column":     {files: []Declarations{{References: []DeclaredReference{when(ref("items.id", "chars.level"), is("1"))}}}, err: `no column "type"`},
		"others without when":         {files: []Declarations{{References: []DeclaredReference{{At: []string{"mail.sender"}, To: []string{"chars.guid"}, Others: "plain"}}}}, err: "beside a when"},
		"when with is and not":        {files: []Declarations{{References: []DeclaredReference{when(ref("chars.guid", "mail.sender"), When{Column: "type", Is: []string{"1"}, Not: []string{"2"}})}}}, err: "one of the two"},
		"none that is no bound":       {files: []Declarations{{References: []DeclaredReference{{At: []string{"mail.sender"}, To: []string{"chars.guid"}, None: []string{"<x"}}}}}, err: `none has "<x"`},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := declare(Options{Rules: c.files}, someNames())
			if err != nil || c.err != "" {
				if c.err == "" || err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("%v, want %q", err, c.err)
				}
				return
			}
			got := make(map[string]string)
			for at := range c.want {
				i := strings.LastIndex(at, ".")
				got[at] = d.role(at[:i], at[i+1:]).kind.String()
			}
			if diff := cmp.Diff(c.want, got); diff != "" || len(d.beaten) != c.beaten {
				t.Errorf("%d beaten: %v\n%s", len(d.beaten), d.beaten, diff)
			}
		})
	}
}

func TestHashes(t *testing.T) {
	room := int64(5)
	h := newHashes(&room)
	for _, k := range []string{"b", "a", "c", "a"} {
		h.add([]byte(k))
	}
	h.finish()
	for key, want := range map[string]bool{"a": true, "b": true, "c": true, "d": false, "": false} {
		if has, sure := h.has([]byte(key)); has != want || !sure {
			t.Errorf("%q: %v, %v", key, has, sure)
		}
	}
	if h.n != 4 || len(h.values) != 3 {
		t.Errorf("%d keys, %d values", h.n, len(h.values))
	}
	other := newHashes(&room)
	other.add([]byte("c"))
	other.finish()
	none := newHashes(&room)
	none.finish()
	if !h.meets(other) || !other.meets(h) || h.meets(none) || none.meets(h) {
		t.Error("meets")
	}
	// Without room, a set cannot tell, and gives back what it had.
	full := newHashes(&room)
	full.add([]byte("x"))
	full.finish()
	if has, sure := full.has([]byte("x")); has || sure || room != 0 || !full.meets(h) {
		t.Errorf("%v, %v, room %d", has, sure, room)
	}
}
