package check

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
)

// someNames are the tables that the declarations of these tests are about; lost cannot
// be read.
func someNames() rules.Names {
	n := rules.Names{"lost": nil}
	for table, columns := range map[string]string{"chars": "guid name level account", "items": "id owner type", "mail": "id sender receiver type", "dotted.name": "id"} {
		n[table] = make(map[string]*catalog.Column)
		for _, c := range strings.Fields(columns) {
			n[table][c] = &catalog.Column{Name: c}
		}
	}
	return n
}

// declaredAs resolves declarations, and compares the roles of columns, or the error, for which it returns nil.
func declaredAs(t *testing.T, files []rules.Declarations, want map[string]string, wantErr string) *rules.Declared {
	t.Helper()
	d, err := rules.Declare(rules.Options{Rules: files}, someNames())
	if err != nil || wantErr != "" {
		if wantErr == "" || err == nil || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%v, want %q", err, wantErr)
		}
		return nil
	}
	got := make(map[string]string)
	for at := range want {
		i := strings.LastIndex(at, ".")
		got[at] = d.Role(at[:i], at[i+1:]).Kind.String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	return d
}

func TestDeclare(t *testing.T) {
	ref := func(to string, at ...string) rules.DeclaredReference {
		return rules.DeclaredReference{At: at, To: []string{to}}
	}
	when := func(r rules.DeclaredReference, c rules.When) rules.DeclaredReference { r.When = &c; return r }
	is := func(v ...string) rules.When { return rules.When{Column: "type", Is: v} }
	not := func(v ...string) rules.When { return rules.When{Column: "type", Not: v} }
	for name, c := range map[string]struct {
		files      []rules.Declarations
		want       map[string]string // the role of columns
		beaten     int
		err        string
		references string // those of mail.sender
	}{
		"lists": {files: []rules.Declarations{{Plain: []string{"chars.level"}, Shared: []string{"chars.account", "items.type"}, Undecided: []string{"mail.id"}}},
			want: map[string]string{"chars.level": "plain", "items.type": "shared", "chars.account": "shared", "mail.id": "undecided", "chars.guid": "open"}},
		"a pattern skips tables without the column": {files: []rules.Declarations{{Plain: []string{"*.type"}}}, want: map[string]string{"items.type": "plain", "mail.type": "plain", "chars.level": "open"}},
		"an exact name beats a pattern":             {files: []rules.Declarations{{Plain: []string{"*.type"}, Shared: []string{"mail.type"}}}, want: map[string]string{"items.type": "plain", "mail.type": "shared"}},
		"an exact name beats a later pattern":       {files: []rules.Declarations{{Shared: []string{"mail.type"}}, {Plain: []string{"*.type"}}}, want: map[string]string{"mail.type": "shared", "items.type": "plain"}, beaten: 1},
		"a later file beats an earlier one":         {files: []rules.Declarations{{Shared: []string{"mail.type"}}, {Plain: []string{"mail.type"}}}, want: map[string]string{"mail.type": "plain"}, beaten: 1},
		"backquotes":                                {files: []rules.Declarations{{Plain: []string{"`dotted.name`.id"}}}, want: map[string]string{"dotted.name.id": "plain"}},
		"of a table that cannot be read":            {files: []rules.Declarations{{Plain: []string{"lost.x"}}}, want: map[string]string{}},
		"a reference by a pattern is none to itself": {files: []rules.Declarations{{References: []rules.DeclaredReference{ref("chars.guid", "*.guid", "items.owner")}}},
			want: map[string]string{"chars.guid": "open", "items.owner": "reference"}},
		"two references for different rows": {files: []rules.Declarations{{References: []rules.DeclaredReference{when(ref("chars.guid", "mail.sender"), is("0")), when(ref("items.id", "mail.sender"), is("1", "2"))}}},
			want: map[string]string{"mail.sender": "reference"}},
		"two references, one for the others": {files: []rules.Declarations{{References: []rules.DeclaredReference{when(ref("chars.guid", "mail.sender"), is("0")), when(ref("items.id", "mail.sender"), not("0"))}}},
			want: map[string]string{"mail.sender": "reference"}},
		"references of two files for different rows": {files: []rules.Declarations{{References: []rules.DeclaredReference{when(ref("chars.guid", "mail.sender"), is("0")), when(ref("chars.guid", "mail.sender"), is("1"))}},
			{References: []rules.DeclaredReference{when(ref("items.id", "mail.sender"), is("1", "2"))}}},
			want: map[string]string{"mail.sender": "reference"}, beaten: 1, references: "items.id when type is 1, 2; chars.guid when type is 0"},
		"a reference of a later file for all rows": {files: []rules.Declarations{{References: []rules.DeclaredReference{when(ref("chars.guid", "mail.sender"), is("0"))}}, {References: []rules.DeclaredReference{ref("items.id", "mail.sender")}}},
			want: map[string]string{"mail.sender": "reference"}, beaten: 1, references: "items.id"},
		"two references that overlap": {files: []rules.Declarations{{References: []rules.DeclaredReference{when(ref("chars.guid", "mail.sender"), is("0", "1")), when(ref("items.id", "mail.sender"), is("1"))}}}, err: "both may cover the same row"},
		"two that leave out others":   {files: []rules.Declarations{{References: []rules.DeclaredReference{when(ref("chars.guid", "mail.sender"), not("0")), when(ref("items.id", "mail.sender"), not("1"))}}}, err: "both may cover the same row"},
		"two words of one rank":       {files: []rules.Declarations{{Plain: []string{"mail.type"}, Shared: []string{"mail.type"}}}, err: `mail.type is also declared by plain "mail.type"`},
		"two patterns of one rank":    {files: []rules.Declarations{{Plain: []string{"*.type"}, Shared: []string{"mail.*"}}}, err: "mail.type is also declared by"},
		"a word and a reference":      {files: []rules.Declarations{{Plain: []string{"mail.sender"}, References: []rules.DeclaredReference{ref("chars.guid", "mail.sender")}}}, err: "mail.sender is also declared by"},
		"nothing matches a table":     {files: []rules.Declarations{{Plain: []string{"male.*"}}}, err: `"male.*": no world has a table`},
		"nothing matches a column":    {files: []rules.Declarations{{Plain: []string{"mail.*x"}}}, err: "no such table has a column"},
		"no column":                   {files: []rules.Declarations{{File: "r.toml", Plain: []string{"mail"}}}, err: `in r.toml: "mail" is not the name of a column`},
		"to a pattern":                {files: []rules.Declarations{{References: []rules.DeclaredReference{ref("chars.g*", "mail.sender")}}}, err: "not a pattern"},
		"when without its column":     {files: []rules.Declarations{{References: []rules.DeclaredReference{when(ref("items.id", "chars.level"), is("1"))}}}, err: `no column "type"`},
		"others without when":         {files: []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"mail.sender"}, To: []string{"chars.guid"}, Others: "plain"}}}}, err: "together with a when"},
		"when with is and not":        {files: []rules.Declarations{{References: []rules.DeclaredReference{when(ref("chars.guid", "mail.sender"), rules.When{Column: "type", Is: []string{"1"}, Not: []string{"2"}})}}}, err: "one of the two"},
		"none that is no bound":       {files: []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"mail.sender"}, To: []string{"chars.guid"}, None: []string{"<x"}}}}}, err: `none has "<x"`},
	} {
		t.Run(name, func(t *testing.T) {
			d := declaredAs(t, c.files, c.want, c.err)
			if d == nil {
				return
			}
			if len(d.Beaten) != c.beaten {
				t.Errorf("%d beaten: %v", len(d.Beaten), d.Beaten)
			}
			var references []string
			for _, r := range d.Role("mail", "sender").References {
				text := r.ToTable + "." + r.ToColumns[0]
				if r.When != nil {
					text += " when " + r.When.Text()
				}
				references = append(references, text)
			}
			if got := strings.Join(references, "; "); c.references != "" && got != c.references {
				t.Errorf("mail.sender: %s, want %s", got, c.references)
			}
		})
	}
}

func TestHashes(t *testing.T) {
	room := int64(4)
	h := newHashes(&room)
	for _, k := range []string{"b", "a", "c", "a"} {
		h.Add([]byte(k))
	}
	h.Finish()
	for key, want := range map[string]bool{"a": true, "b": true, "c": true, "d": false, "": false} {
		if has, sure := h.Has([]byte(key)); has != want || !sure {
			t.Errorf("%q: %v, %v", key, has, sure)
		}
	}
	if h.N != 4 || len(h.Values) != 3 {
		t.Errorf("%d keys, %d values", h.N, len(h.Values))
	}
	other := newHashes(&room)
	other.Add([]byte("c"))
	other.Finish()
	none := newHashes(&room)
	none.Finish()
	if !h.Meets(other) || !other.Meets(h) || h.Meets(none) || none.Meets(h) {
		t.Error("meets")
	}
	// Without room, a set cannot tell, and gives back what it had.
	full := newHashes(&room)
	full.Add([]byte("x"))
	full.Finish()
	if has, sure := full.Has([]byte("x")); has || sure || room != 0 || !full.Meets(h) {
		t.Errorf("%v, %v, room %d", has, sure, room)
	}
}

// A later file that replaces the format of a column says which one it was.
func TestBeatenFormat(t *testing.T) {
	bag := func(format string) rules.Declarations {
		return rules.Declarations{References: []rules.DeclaredReference{{At: []string{"mail.receiver"}, To: []string{"items.id"}, Format: format}}}
	}
	names := someNames()
	names["items"]["id"].Kind, names["mail"]["receiver"].Kind = catalog.KindInteger, catalog.KindText
	d, err := rules.Declare(rules.Options{Rules: []rules.Declarations{bag("list sep=';' every"), bag("list sep=' ' every")}}, names)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Beaten) != 1 || !strings.HasSuffix(d.Beaten[0], `, with the format "list sep=';' every"`) {
		t.Errorf("%q", d.Beaten)
	}
}
