package check

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/rules"
)

// What a file says by patterns counts for its own list only; what is gone is no error; an
// exact name that is not in the list is one.
func TestDeclareReviewed(t *testing.T) {
	list := func(tables map[string][]string) *rules.Reviewed {
		return &rules.Reviewed{Name: "a game", Tables: tables}
	}
	most := list(map[string][]string{"chars": {"guid", "level", "gone"}, "items": {"id", "owner"}, "tents": {"id", "owner"}})
	for name, c := range map[string]struct {
		files []rules.Declarations
		want  map[string]string
		err   string
	}{
		"a pattern": {[]rules.Declarations{{Shared: []string{"*.*"}, Schema: most}},
			map[string]string{"chars.level": "shared", "chars.account": "open", "items.id": "shared", "items.type": "open", "mail.type": "open"}, ""},
		"a reference by a pattern": {[]rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"*.owner", "*.sender"}, To: []string{"chars.guid"}}}, Schema: list(map[string][]string{"chars": {"guid"}, "items": {"owner"}, "mail": {"id"}})}},
			map[string]string{"items.owner": "reference", "mail.sender": "open"}, ""},
		"a pattern of another file": {[]rules.Declarations{{Shared: []string{"*.*"}, Schema: most}, {Plain: []string{"mail.*"}}},
			map[string]string{"chars.level": "shared", "mail.type": "plain"}, ""},
		"a pattern of an earlier file": {[]rules.Declarations{{Plain: []string{"mail.*"}}, {Shared: []string{"*.*"}, Schema: most}},
			map[string]string{"chars.level": "shared", "mail.type": "plain"}, ""},
		"an exact name of another file": {[]rules.Declarations{{Shared: []string{"*.*"}, Schema: most}, {Shared: []string{"chars.account"}}},
			map[string]string{"chars.account": "shared"}, ""},
		"a later list": {[]rules.Declarations{{Shared: []string{"*.*"}, Schema: most}, {Plain: []string{"*.*"}, Schema: list(map[string][]string{"chars": {"account", "level"}})}},
			map[string]string{"chars.account": "plain", "chars.level": "plain", "chars.guid": "shared"}, ""},
		"gone": {[]rules.Declarations{{Plain: []string{"chars.gone", "tents.*", "tents.id"}, References: []rules.DeclaredReference{
			{At: []string{"tents.owner"}, To: []string{"chars.guid"}},
			{At: []string{"items.owner"}, To: []string{"tents.id"}},
			{At: []string{"chars.level"}, To: []string{"items.id"}, When: &rules.When{Column: "gone", Is: []string{"1"}}},
			{At: []string{"tents.owner"}, To: []string{"chars.guid"}},
		}, Schema: most}}, map[string]string{"items.owner": "open", "chars.level": "open"}, ""},
		"one of two keys is gone": {[]rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"items.owner"}, To: []string{"tents.id", "chars.guid"}}}, Schema: most}},
			map[string]string{"items.owner": "reference"}, ""},
		"gone, but of no list":         {[]rules.Declarations{{Plain: []string{"yurts.id"}, Schema: most}}, nil, `no world has a table that matches yurts`},
		"a name that the list has not": {[]rules.Declarations{{Plain: []string{"chars.account"}, Schema: most}}, nil, "chars.account is not in [schema.tables]"},
	} {
		t.Run(name, func(t *testing.T) {
			declaredAs(t, c.files, c.want, c.err)
		})
	}
}

// A policy by a pattern counts for the tables of its file's list; one by name is checked
// when the file is read.
func TestPoliciesReviewed(t *testing.T) {
	s := &rules.Reviewed{Tables: map[string][]string{"items": {"id"}, "chars": {"guid"}}}
	found, err := rules.TablePolicies(rules.Options{Tables: []rules.TablePolicy{{Tables: []string{"*"}, Policy: rules.PolicySkip, Schema: s}}}, someNames())
	if err != nil || len(found) != 2 || found["items"].Policy != rules.PolicySkip || found["chars"].Policy != rules.PolicySkip {
		t.Errorf("%v, %v", found, err)
	}
}

// What is gone leaves all other statements alone.
func TestMissing(t *testing.T) {
	s := &rules.Reviewed{Tables: map[string][]string{"chars": {"guid", "clan"}, "tents": {"id"}, "items": {"id"}}}
	opts := rules.Options{
		Rules:   []rules.Declarations{{Schema: s}},
		Uniques: []rules.DeclaredUnique{{Table: "chars", Columns: []string{"name"}}, {Table: "chars", Columns: []string{"clan"}}, {Table: "chars", Columns: []string{"none"}}},
		Rekey: &rules.Rekey{
			Spaces: []rules.Space{{Keys: []string{"chars.guid"}}, {Name: "canvas", Keys: []string{"tents.id"}}, {Name: "items", Keys: []string{"items.id", "tents.id"}}, {Name: "party"}},
			Counters: []rules.CounterRow{{At: "items.owner", Space: "canvas"}, {At: "items.owner", Space: "items"}, {At: "tents", Space: "chars.guid"}, {At: "tents.id", Space: "chars.guid"},
				{At: "chars.level", Space: "party", When: &rules.When{Column: "clan"}}, {At: "chars.level", Space: "party", When: &rules.When{Column: "name"}}},
		},
	}
	got := rules.Missing{Names: someNames(), Listed: rules.ReviewedOf(opts)}.Without(opts)
	want := opts
	want.Uniques = []rules.DeclaredUnique{opts.Uniques[0], opts.Uniques[2]}
	want.Tables = nil
	want.Rekey = &rules.Rekey{
		Spaces:   []rules.Space{{Keys: []string{"chars.guid"}}, {Name: "items", Keys: []string{"items.id"}}, {Name: "party"}},
		Counters: []rules.CounterRow{opts.Rekey.Counters[1], opts.Rekey.Counters[2], opts.Rekey.Counters[5]},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The fingerprint is that of the names, whatever their order.
func TestFingerprint(t *testing.T) {
	sum := sha256.Sum256([]byte("`b.c`.`a.x`\na.x\na.y\n"))
	want := hex.EncodeToString(sum[:6])
	for _, tables := range []map[string][]string{{"a": {"x", "y"}, "b.c": {"a.x"}}, {"b.c": {"a.x"}, "a": {"y", "x"}}} {
		if got := (&rules.Reviewed{Tables: tables}).Fingerprint(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
