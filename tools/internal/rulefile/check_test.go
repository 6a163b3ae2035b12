package rulefile

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/config"
	"mergesafe/merge"
	"mergesafe/merge/rules"
)

// parse reads a file as a tool does.
func parse(text string) (r Rules, err error) {
	_, err = config.Parse("config.toml", text, r.ConfigReader("config.toml"))
	return r, err
}

func TestParseCheckProblems(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"[check]\nplan = ['a.b']", `2: unknown key plan (did you mean "plain"?): [check] has plain, shared, undecided, unique, reference, id, world`},
		{"[check]\nplain = 'a'", `2: check.plain is text: want a list of texts, such as plain = ["a", "b"]`},
		{"[check]\nplain = [7]", `2: check.plain has an integer in it: want a list of texts, such as plain = ["a", "b"]`},
		{"[check]\nplain = ['a']", `2: check.plain has "a" in it: want "table.column"`},
		{"[check]\n[check.unique]\nat='a.b'", `2: check.unique can be there several times: want [[check.unique]], with two brackets`},
		{"[[check]]", `1: check can be there only once: want [check], not [[check]]`},
		{"[[check.unique]]\nat='a.b'\ncolumn='b'", `3: unknown key column: [check.unique] has at, name, none`},
		{"[[check.unqiue]]\nat='a.b'", `1: unknown key unqiue (did you mean "unique"?): [check] has plain, shared, undecided, unique, reference, id, world`},
		{"[check]\nplain = 'a'\n[registyr]\n[[merge.name]]\nkeep='active'\nby='a'\n[registry]\ndsn=0", `2: check.plain is text: want a list of texts, such as plain = ["a", "b"]` + "\n" +
			`3: unknown key registyr (did you mean "registry"?): the file has registry, source, schema, check, merge, fleet` + "\n" +
			`4: merge.name.at is missing: want the column, such as at = "characters.name"` + "\n" +
			`8: registry.dsn is an integer: want text in quotes`},
		// The line of the second one of them.
		{"[[check.unique]]\nat='a.b'\n[[check.unique]]\nname='c'\n", `3: check.unique.at is missing: want the column, such as at = "characters.name"`},
		{"[[check.unique]]\nat='a.b'\n[[check.unique]]\nat=7", `4: check.unique.at is an integer: want a list of texts, such as at = ["a", "b"]`},
		{"[[check.id]]", `1: check.id.at is missing: want the column, such as at = "characters.name"`},
		{"[[check.unique]]\nat=['a.b', 'c.d']", `2: check.unique.at has columns of "a" and of "c": want those of one table`},
		{"[[check.unique]]\nat='a.*'", `2: check.unique.at has "a.*" in it: want the name of one column, such as "characters.name"`},
		{"[[check.unique]]\nname='a'", `1: check.unique.at is missing: want the column, such as at = "characters.name"`},
		{"[[check.reference]]\nat=['a.(b, c)']\nto='d.e'", `2: check.reference.at of several columns together goes with one to of the same number, and with nothing but a when: want at = ["ranks.(guild, rank)"] and to = "guild_ranks.(guild_id, rank_id)"`},
		{"[[check.reference]]\nat=['a.(b, c)']\nto='d.(e, f, g)'", `3: check.reference.to has 3 columns, but at has 2: want the same number in the same order`},
		{"[[check.reference]]\nat=['a.(b, *)']\nto='d.(e, f)'", `2: check.reference.at has "a.(b, *)" in it: want the names of columns of one table, such as "ranks.(guild, rank)"`},
		{"[[check.reference]]\nat=['a.b']\nto='d.e'\nby='c'\nnone=[0]", `5: unknown key none: [check.reference] has to, at, by`},
		{"[check]\nshared = ['a.b', { at = 'a.*', max = 4 }]", `2: check.shared.at has "a.*" in it: want the name of one column, such as "characters.name"`},
		{"[check]\nshared = ['a.b', { at = 'a.b', limit = 4 }]", `2: unknown key limit: [check.shared] has at, max`},
		{"[check]\nshared = ['a.b', 7]", `2: check.shared has an integer in it: want a list of texts, such as shared = ["a", "b"]`},
		{"[check]\nshared = [{ at = 'a.b', max = 0 }]", `2: check.shared.max 0 is out of range: want 1 to 1000000`},
	} {
		_, err := parse(tt.text)
		got := ""
		if err != nil {
			got = err.Error()
		}
		want := "config.toml:" + strings.ReplaceAll(tt.want, "\n", "\nconfig.toml:")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

// Every word comes to its field.
func TestParseAll(t *testing.T) {
	text, err := os.ReadFile("testdata/all.toml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	want := rules.Options{
		Tables: []rules.TablePolicy{{Tables: []string{"world_state*", "game_event"}, Policy: rules.PolicySame},
			{Tables: []string{"account_currency"}, Policy: rules.PolicyCombine, Columns: map[string]string{"gold": "sum", "vip": "max", "first_login": "min", "name": "first", "log": "append 80"},
				When: &rules.When{Column: "season", Is: []string{"3"}}},
			{Tables: []string{"characters"}, Policy: rules.PolicyCopy, Renumber: "slot", Within: []string{"account"}, From: new(int64(0)), Max: new(int64(8))}},
		Leave: []rules.Leave{{Table: "characters", Where: "level < 30 AND logout_time < :now - 90*86400", Best: &rules.Best{Of: "account", Keep: 5, By: []string{"level desc", "totaltime desc"}}, File: "config.toml"},
			{Table: "guild", Fewer: &rules.Fewer{Of: "guild_member.guildid", Than: 5}, File: "config.toml"}},
		Uniques: []rules.DeclaredUnique{{Table: "characters", Columns: []string{"name"}, Name: "character name", None: []string{""}},
			{Table: "guilds", Columns: []string{"realm", "name"}}, {Table: "a.b", Columns: []string{"c"}}},
		Rekey: &rules.Rekey{Spaces: []rules.Space{{Name: "objects", Keys: []string{"characters.guid", "items.id"}, Step: 10_000_000, Max: 2_147_483_647, Keep: "<1000",
			File: "config.toml"}, {Keys: []string{"accounts.id"}, Match: []string{"accounts.name"}, Offsets: map[string]uint64{"s2": 20_000_000}, File: "config.toml"}},
			Counters: []rules.CounterRow{{At: "seq.next", When: &rules.When{Column: "name", Is: []string{"item"}}, Space: "objects", Others: rules.OthersPlain, File: "config.toml"},
				{At: "object_seq", Space: "objects", File: "config.toml"}}},
		Rules: []rules.Declarations{{
			File:  "config.toml",
			Plain: []string{"*.level", "characters.money"}, Shared: []string{"*.map", "character_spell.spell", "characters.account", "guild.founder"},
			Undecided: []string{"mail.extra"},
			References: []rules.DeclaredReference{
				{At: []string{"mail.sender", "character_*.guid", "bags.item{0..18}"}, To: []string{"characters.guid"}, None: []string{"0", "-1", "<32"}, Dangling: []string{"-2"},
					When: &rules.When{Column: "type", Is: []string{"0"}}, Others: rules.OthersPlain, Gone: rules.GoneDrop},
				{At: []string{"auctions.mail_body"}, To: []string{"items.guid"}, Format: "list sep=':' pos=0", Gone: rules.GoneNone},
				{Table: "ranks", Columns: []string{"guild", "rank"}, ToTable: "guild_ranks", ToColumns: []string{"guild_id", "rank_id"}},
			},
		}},
		IDs:      []rules.IDColumn{{Table: "mail", Column: "item"}},
		Worlds:   []rules.WorldKey{{At: "characters.guid", Value: "id / 10_000_000 % 10_000", File: "config.toml"}},
		Accounts: []rules.AccountColumn{{Table: "characters", Column: "account", Max: 4}, {Table: "guild", Column: "founder"}},
	}
	copies := []merge.NameCopy{{Table: "mail", Column: "sender_name", Key: "sender", OfTable: "players", OfColumn: "name"}}
	names := []merge.NamePolicy{{Table: "guilds", Column: "name"}, {Table: "pets", Column: "name", Template: "{source}-{name}", Keep: merge.KeepOlder, By: "born_at", MaxLength: 24},
		{Table: "players", Column: "name", Template: merge.DefaultTemplate, Keep: merge.KeepActive, By: "updated_at", MaxLength: 32, None: []string{""}, Set: []rules.Setting{{Column: "at_login", Bits: 1}}}}
	if diff := cmp.Diff(names, got.Names, noPlaces); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(copies, got.Copies, noPlaces); diff != "" {
		t.Errorf("copies (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, got.Check, noPlaces); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// No text makes Read panic, and no message has a part of a DSN in it.
func FuzzRead(f *testing.F) {
	all, err := os.ReadFile("testdata/all.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(all), "")
	f.Add("[check]\nplain = [", "]\n[[check.reference]]\nat = []")
	f.Add("[[merge.name]]\ntemplate = 7\n", "\nkeep = 'older'")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "hunter2"
		_, err := parse(before + `dsn = "mysql:root:` + secret + `@tcp(db)/s1"` + after)
		if err != nil && strings.Contains(err.Error(), secret) && !strings.Contains(before+after, secret) {
			t.Errorf("the message has the secret: %v", err)
		}
	})
}
