package rules

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mergesafe/internal/config"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer"
)

// parse reads a file as a tool does.
func parse(text string) (r Rules, err error) {
	_, err = config.Parse("config.toml", text, r.Reader("config.toml"))
	return r, err
}

func TestParseCheck(t *testing.T) {
	got, err := parse(`
[check]
include = ["*"]
exclude = ["log_*", 'tmp\*']
[[check.unique]]
table = "characters"
columns = ["name", "realm"]
name = "character name"
[[check.unique]]
table = "guild"
columns = ["name"]
[[check.reference]]
table = "mail"
columns = ["receiver"]
to_table = "characters"
to_columns = ["guid"]
zero_is_none = true
[[check.id]]
table = "mail"
column = "item"
[[check.account]]
table = "characters"
column = "account"
max = 4
[[check.account]]
table = "guild"
column = "founder"
`)
	if err != nil {
		t.Fatal(err)
	}
	want := declare.Options{
		Include: []string{"*"},
		Exclude: []string{"log_*", `tmp\*`},
		Uniques: []declare.DeclaredUnique{{Table: "characters", Columns: []string{"name", "realm"}, Name: "character name"}, {Table: "guild", Columns: []string{"name"}}},
		Rules: []declare.Declarations{{
			File:       "config.toml",
			References: []declare.DeclaredReference{{Table: "mail", Columns: []string{"receiver"}, ToTable: "characters", ToColumns: []string{"guid"}, ZeroIsNone: true}},
		}},
		IDs:      []declare.IDColumn{{Table: "mail", Column: "item"}},
		Accounts: []declare.AccountColumn{{Table: "characters", Column: "account", Max: 4}, {Table: "guild", Column: "founder"}},
	}
	if diff := cmp.Diff(want, got.Check, noPlaces); diff != "" {
		t.Errorf("[check] (-want +got):\n%s", diff)
	}
}

// Each new word says what the older one says.
func TestNewWords(t *testing.T) {
	for _, tt := range []struct{ older, words string }{
		{"[check]\nshared=['c.account', 'c.x']\n[[check.account]]\ntable='c'\ncolumn='account'\nmax=4", "[check]\nshared=['c.x', { at = 'c.account', max = 4 }]"},
		{"[check]\nshared=['c.account']\n[[check.account]]\ntable='c'\ncolumn='account'", "[check]\nshared=[{ at = 'c.account' }]"},
		{"[[check.unique]]\ntable='a'\ncolumns=['b', 'c']\nnone=['']", "[[check.unique]]\nat=['a.b', 'a.c']\nnone=['']"},
		{"[[check.unique]]\ntable='a.b'\ncolumns=['b']", "[[check.unique]]\nat='`a.b`.b'"},
		{"[[check.id]]\ntable='a'\ncolumn='b'", "[[check.id]]\nat='a.b'"},
		{"[[check.reference]]\ntable='a'\ncolumns=['b','c']\nto_table='d'\nto_columns=['e','f']", "[[check.reference]]\nat=['a.(b, c)']\nto='d.(e, f)'"},
		{"[[merge.copy]]\ntable='a'\ncolumn='b'\nkey='c'\nof_table='d'\nof_column='e'", "[[check.reference]]\nat=['a.b']\nby='c'\nto='d.e'"},
		{"[[merge.name]]\ntable='a'\ncolumn='b'\nmax_length=7", "[[merge.name]]\nat='a.b'\nmax=7"},
		{"[[merge.counter]]\nat='a.b'\nspace='a.c'", "[[merge.counter]]\nat='a.b'\nto='a.c'"},
		{"[[merge.table]]\ntables=['a']\nrenumber='b'\nwithin=['c']\nfrom=0\nmax=8", "[[merge.table]]\ntables=['a']\nrenumber={ column='b', within='c', from=0, max=8 }"},
		{"[[merge.table]]\ntables=['a']\npolicy='combine'\ncolumns={ b = 'sum' }", "[[merge.table]]\ntables=['a']\npolicy='combine'\nset={ b = 'sum' }"},
		{"[[check.world]]\nat='a.b'\nvalue='id / 10'", "[[check.world]]\nat='a.b'\nby='id / 10'"},
		{"[[merge.space]]\nkeys=['a.b']\nstep=100", "[[merge.space]]\nkeys=['a.b']\noffset=100"},
	} {
		older, err := parse(tt.older)
		if err != nil {
			t.Fatalf("%s: %v", tt.older, err)
		}
		words, err := parse(tt.words)
		if err != nil {
			t.Fatalf("%s: %v", tt.words, err)
		}
		if len(older.Older) == 0 || len(words.Older) > 0 {
			t.Errorf("%s: notes %q, and %q", tt.words, older.Older, words.Older)
		}
		sorted := cmpopts.SortSlices(func(a, b string) bool { return a < b })
		if diff := cmp.Diff(older, words, cmpopts.IgnoreUnexported(Rules{}), cmpopts.IgnoreFields(Rules{}, "Older"), noPlaces, sorted, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-older +words):\n%s", tt.words, diff)
		}
	}
}

func TestParseCheckProblems(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"[check]\nexlude = ['a']", `2: unknown key exlude (did you mean "exclude"?): [check] has plain, shared, undecided, unique, reference, id, world`},
		{"[check]\nexclude = 'a'", `2: check.exclude is text: want a list of texts, such as exclude = ["a", "b"]`},
		{"[check]\nexclude = [7]", `2: check.exclude has an integer in it: want a list of texts, such as exclude = ["a", "b"]`},
		{"[check]\nexclude = []", `2: check.exclude is empty: want at least one text, or remove it`},
		{"[check]\nexclude = ['a', '[b']", `2: check.exclude is not a pattern of names: want *, ? and [a-z] as in "log_*", and a \ before a character that stands for itself`},
		{"[check]\n[check.unique]\ntable='a'", `2: check.unique can be there several times: want [[check.unique]], with two brackets`},
		{"[[check]]", `1: check can be there only once: want [check], not [[check]]`},
		{"[[check.unique]]\ntable='a'\ncolumn='b'", `3: unknown key column (did you mean "columns"?): [check.unique] has at, name, none`},
		{"[[check.unqiue]]\ntable='a'", `1: unknown key unqiue (did you mean "unique"?): [check] has plain, shared, undecided, unique, reference, id, world`},
		{"[check]\nexclude = 'a'\n[sever]\n[[merge.name]]\ntable='a'\n[server]\nnumber=0", `2: check.exclude is text: want a list of texts, such as exclude = ["a", "b"]` + "\n" +
			`3: unknown key sever (did you mean "server"?): the file has server, database, registry, public_id, source, check, merge, fleet, schema` + "\n" +
			`4: merge.name.column is missing: want the name of a column, such as column = "account"` + "\n" +
			`7: server.number 0 is out of range: want 1 to 1048575`},
		// The line of the second one of them.
		{"[[check.unique]]\ntable='a'\ncolumns=['b']\n[[check.unique]]\ntable='c'\n", `4: check.unique.columns is missing: want the names of columns, such as columns = ["name"]`},
		{"[[check.unique]]\ntable='a'\ncolumns=['b']\n[[check.unique]]\ntable=7\ncolumns=['c']", `5: check.unique.table is an integer: want text in quotes`},
		{"[[check.id]]\ncolumn='a'", `1: check.id.table is missing: want the name of a table, such as table = "characters"`},
		{"[[check.id]]\ntable='a'", `1: check.id.column is missing: want the name of a column, such as column = "account"`},
		{"[[check.reference]]\ntable='a'\ncolumns=['b','c']\nto_table='d'\nto_columns=['e']", `5: check.reference.to_columns names 1, but columns names 2: want as many, in the same order`},
		{"[[check.reference]]\ntable='a'\ncolumns=['b']\nto_table='d'\nto_columns=['e']\nzero_is_none=1", `6: check.reference.zero_is_none is an integer: want true or false`},
		{"[[check.reference]]\ntable='a'\ncolumns=['b','c']\nto_table='d'\nto_columns=['e','f']\nzero_is_none=true", `6: check.reference.zero_is_none is for a reference of one column only`},
		{"[[check.unique]]\nat=['a.b', 'c.d']", `2: check.unique.at has columns of "a" and of "c": want those of one table`},
		{"[[check.unique]]\nat='a.*'", `2: check.unique.at has "a.*" in it: want the name of one column, such as "characters.name"`},
		{"[[check.unique]]\nat='a.b'\ntable='a'\ncolumns=['b']", `2: check.unique.at is set together with table or columns, the older words for it: want at alone`},
		{"[[check.unique]]\nname='a'", `1: check.unique.at is missing: want the column, such as at = "characters.name"`},
		{"[[check.id]]\nat='a.b'\ncolumn='b'", `1: check.id.table is missing: want the name of a table, such as table = "characters"` + "\n" + `2: check.id.at is set together with table or column, the older words for it: want at alone`},
		{"[[check.reference]]\nat=['a.(b, c)']\nto='d.e'", `2: check.reference.at of several columns together is beside one to of as many, and nothing but a when: want at = ["ranks.(guild, rank)"] and to = "guild_ranks.(guild_id, rank_id)"`},
		{"[[check.reference]]\nat=['a.(b, c)']\nto='d.(e, f, g)'", `3: check.reference.to names 3 columns, and at names 2: want as many, in the same order`},
		{"[[check.reference]]\nat=['a.(b, *)']\nto='d.(e, f)'", `2: check.reference.at has "a.(b, *)" in it: want the names of columns of one table, such as "ranks.(guild, rank)"`},
		{"[[check.reference]]\nat=['a.b']\nto='d.e'\nby='c'\nnone=[0]", `5: unknown key none: [check.reference] has to, at, by`},
		{"[check]\nshared = ['a.b', { at = 'a.*', max = 4 }]", `2: check.shared.at has "a.*" in it: want the name of one column, such as "characters.name"`},
		{"[check]\nshared = ['a.b', { at = 'a.b', limit = 4 }]", `2: unknown key limit: [check.shared] has at, max`},
		{"[check]\nshared = ['a.b', 7]", `2: check.shared has an integer in it: want a list of texts, such as shared = ["a", "b"]`},
		{"[[check.account]]\ntable='a'\ncolumn='b'\nmax=0", `4: check.account.max 0 is out of range: want 1 to 1000000`},
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

// What the sample has to be uncommented is right, and has every key there is.
func TestSampleCheck(t *testing.T) {
	text, err := os.ReadFile("../../../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "\n# [check]\n")
	if !found {
		t.Fatal("no commented [check] in the sample")
	}
	var lines []string
	for line := range strings.Lines("# [check]\n" + after) {
		if line, ok := strings.CutPrefix(line, "# "); ok && regexp.MustCompile(`^(\[|[a-z_]+ +?=)`).MatchString(line) {
			lines = append(lines, line)
		}
	}
	got, err := parse(strings.Join(lines, ""))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, strings.Join(lines, ""))
	}
	want := declare.Options{
		Tables: []declare.TablePolicy{{Tables: []string{"world_state*", "game_event"}, Policy: declare.PolicySame}, {Tables: []string{"auctions"}, Policy: declare.PolicySkip}, {Tables: []string{"respawns"}, Policy: declare.PolicySkip, When: &declare.When{Column: "instance", Is: []string{"0"}}},
			{Tables: []string{"account_currency"}, Policy: declare.PolicyCombine, Columns: map[string]string{"gold": "sum", "vip": "max", "first_login": "min", "name": "target", "log": "append 80"},
				When: &declare.When{Column: "season", Is: []string{"3"}}},
			{Tables: []string{"characters"}, Policy: declare.PolicyCopy, Renumber: "slot", Within: []string{"account"}, From: new(int64(0)), Max: new(int64(8))}},
		Leave: []declare.Leave{{Table: "characters", Where: "level < 30 AND logout_time < :now - 90*86400", Best: &declare.Best{Of: "account", Keep: 5, By: []string{"level desc", "totaltime desc"}}, File: "config.toml"},
			{Table: "guild", Fewer: &declare.Fewer{Of: "guild_member.guildid", Than: 5}, File: "config.toml"}},
		Uniques: []declare.DeclaredUnique{{Table: "characters", Columns: []string{"name"}, Name: "character name", None: []string{""}}},
		Rekey: &declare.Rekey{Spaces: []declare.Space{{Name: "objects", Keys: []string{"characters.guid", "items.id"}, Step: 10_000_000, Max: 2_147_483_647, Keep: "<1000",
			File: "config.toml"}, {Keys: []string{"accounts.id"}, Match: []string{"accounts.name"}, Offsets: map[string]uint64{"s2": 20_000_000}, File: "config.toml"}},
			Counters: []declare.CounterRow{{At: "seq.next", When: &declare.When{Column: "name", Is: []string{"item"}}, Space: "objects", Others: declare.OthersPlain, File: "config.toml"}}},
		Rules: []declare.Declarations{{
			File:  "config.toml",
			Plain: []string{"*.level", "characters.money"}, Shared: []string{"*.map", "character_spell.spell", "characters.account"},
			Undecided: []string{"mail.extra"},
			References: []declare.DeclaredReference{
				{At: []string{"mail.sender", "character_*.guid", "bags.item{0..18}"}, To: []string{"characters.guid"}, None: []string{"0", "-1", "<32"}, Dangling: []string{"-2"},
					When: &declare.When{Column: "type", Is: []string{"0"}}, Others: declare.OthersPlain, Gone: declare.RowsDrop},
				{At: []string{"auctions.mail_body"}, To: []string{"items.guid"}, Format: "list sep=':' pos=0"},
				{At: []string{"chests.content"}, To: []string{"items.guid"}, Format: "exec ./codec chests"},
				{Table: "ranks", Columns: []string{"guild", "rank"}, ToTable: "guild_ranks", ToColumns: []string{"guild_id", "rank_id"}},
				{At: []string{"mail.auction"}, To: []string{"auctions.id"}, Gone: declare.RowsDrop},
			},
		}},
		IDs:      []declare.IDColumn{{Table: "mail", Column: "item"}},
		Worlds:   []declare.WorldKey{{At: "characters.guid", Value: "id / 10_000_000 % 10_000", File: "config.toml"}},
		Accounts: []declare.AccountColumn{{Table: "characters", Column: "account", Max: 4}},
	}
	copies := []transfer.NameCopy{{Table: "mail", Column: "sender_name", Key: "sender", OfTable: "players", OfColumn: "name"}}
	if diff := cmp.Diff(copies, got.Copies, noPlaces); diff != "" {
		t.Errorf("copies (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, got.Check, noPlaces); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// No text makes Read panic, and no message has a part of a DSN in it.
func FuzzRead(f *testing.F) {
	sample, err := os.ReadFile("../../../config.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(sample), "")
	f.Add("[check]\ninclude = [", "]\n[[check.reference]]\ncolumns = []")
	f.Add("[[merge.name]]\ntemplate = 7\n", "\nkeep = 'older'")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "hunter2"
		_, err := parse(before + `dsn = "mysql:root:` + secret + `@tcp(db)/s1"` + after)
		if err != nil && strings.Contains(err.Error(), secret) && !strings.Contains(before+after, secret) {
			t.Errorf("the message has the secret: %v", err)
		}
	})
}
