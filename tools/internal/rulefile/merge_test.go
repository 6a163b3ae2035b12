package rulefile

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/strict"
	"mergesafe/merge/rules"
)

// noPlaces leaves out where statements are; see TestPlaces.
var noPlaces = cmp.FilterPath(func(p cmp.Path) bool {
	name := p.Last().String()
	return name == ".Line" || name == ".LineOf" || name == ".File" && p.Index(-2).Type() != reflect.TypeFor[rules.Declarations]()
}, cmp.Ignore())

// Statements that a check can refuse have their file and line.
func TestPlaces(t *testing.T) {
	got, err := parse("[[merge.name]]\nat='a.b'\n\n\n[[merge.name]]\nat='c.b'\n\n[[merge.space]]\nkeys=['a.b']\n[[merge.counter]]\nat='a.c'\nto='a.b'\n" +
		"[[merge.table]]\ntables=['a']\npolicy='skip'\n[[check.reference]]\nat=['a.d']\nto='a.b'\n[[merge.leave]]\ntable='a'\nwhere='b'\n")
	if err != nil {
		t.Fatal(err)
	}
	c := got.Check
	places := fmt.Sprint(got.Names[0].File, got.Names[0].Line, got.Names[1].Line, " ", c.Rekey.Spaces[0].File, c.Rekey.Spaces[0].Line, " ", c.Rekey.Counters[0].File, c.Rekey.Counters[0].Line,
		" ", c.Tables[0].File, c.Tables[0].Line, " ", c.Rules[0].File, c.Rules[0].References[0].Line, " ", c.Leave[0].File, c.Leave[0].Line)
	said, err := parse("[[check.unique]]\nat='a.b'\n[[check.id]]\nat='a.c'\n[[check.world]]\nat='a.b'\nby='id'\n[check]\nplain = [\n  'a.x',\n  'a.y',\n]\nshared = [{ at = 'a.z' }]\n" +
		"[[check.reference]]\nat=['a.n']\nto='a.m'\nby='k'\n")
	if err != nil {
		t.Fatal(err)
	}
	c = said.Check
	if got := fmt.Sprint(c.Uniques[0].Line, c.IDs[0].Line, c.Worlds[0].Line, c.Rules[0].LineOf("plain", "a.y"), c.Accounts[0].Line, said.Copies[0].Line); got != "1 3 5 11 13 14" {
		t.Errorf("lines %s", got)
	}
	if want := "config.toml1 5 config.toml8 config.toml10 config.toml13 config.toml16 config.toml19"; places != want {
		t.Errorf("%s, want %s", places, want)
	}
}

func TestParseMergeProblems(t *testing.T) {
	const name = "[[merge.name]]\nat='a.b'\n"
	for _, tt := range []struct{ text, want string }{
		{"[merge]\nnames = 1", `2: unknown key names (did you mean "name"?): [merge] has rules, rekey, engine, space, counter, table, leave, name`},
		{"[merge.name]\nat='a.b'", `1: merge.name can be there several times: want [[merge.name]], with two brackets`},
		{"[[merge.table]]\ntables=['a']\nrenumber={ column='b' }", `3: merge.table.renumber.within is missing: want the columns in which it is unique, such as within = "account"`},
		{"[[merge.table]]\ntables=['a']\nrenumber={ column='b', within='c' }\nwithin='c'", `4: unknown key within: [merge.table] has tables, policy, set, when, renumber`},
		{"[[merge.table]]\ntables=['a']\nrenumber={ column='b', within='c', to=8 }", `3: unknown key to: [merge.table.renumber] has column, within, from, max`},
		{"[[merge.table]]\ntables=['a']\nrenumber=7", `3: merge.table.renumber is an integer: want a table, such as renumber = { column = "slot", within = "account" }`},
		{"[[merge.space]]\nmatch=['a.b']", `1: merge.space.keys is missing: want the key of the table in match, such as keys = ["accounts.id"]`},
		{"[[merge.space]]\nname='a'\nmatch=['a.b']", `1: merge.space.keys is missing: want the key of the table in match, such as keys = ["accounts.id"]`},
		{name + "templat='x'", `3: unknown key templat (did you mean "template"?): [merge.name] has at, template, keep, by, max, none, set`},
		{name + "template='s{server}'", `3: merge.name.template is "s{server}": want {name} in it once, as in "{name}.s{server}"`},
		{name + "template='{name}.{n}'", `3: merge.name.template is "{name}.{n}": {n} is not a placeholder; there are {name}, {server}, {source}`},
		{name + "template='{Name}'", `3: merge.name.template is "{Name}": {Name} is not a placeholder; there are {name}, {server}, {source}`},
		{name + "template='{name}.{server'", `3: merge.name.template is "{name}.{server": {server is not a placeholder; there are {name}, {server}, {source}`},
		{name + "template='{name}}'", `3: merge.name.template is "{name}}": } is not a placeholder; there are {name}, {server}, {source}`},
		{name + "keep='newest'\nby='c'", `3: merge.name.keep is "newest": want "older" or "active", or remove it`},
		{name + "keep='older'", `1: merge.name.by is missing: want the column for keep, such as by = "created_at"`},
		{name + "by='c'", `1: merge.name.keep is missing: want "older" or "active", by the column in by`},
		{name + "max=0", `3: merge.name.max 0 is out of range: want 1 to 10000`},
		{name + "set={ flag = '|x' }", `3: merge.name.set flag is "|x": want bits to set as a decimal number from 1, such as "| 1"`},
		{name + "set={ flag = '' }", `3: merge.name.set flag is "": want a constant without spaces around it, such as "1", or bits to set, such as "| 1"`},
		{"[[merge.table]]\ntables=['a']\npolicy='combine'\nset={ gold = 'add' }", `4: merge.table.set gold is "add": want "sum", "max", "min", "first", "last", or "append N" with the largest number of characters of the result, such as "append 80"`},
		{"[[merge.table]]\ntables=['a']\npolicy='combine'\nset={ gold = 1 }", `4: merge.table.set has an integer in it: want a table of texts, such as set = { gold = "sum", name = "first" }`},
		{"[[merge.table]]\ntables=['a']\npolicy='combined'", `3: merge.table.policy is "combined": want "same", "skip", "reset", "combine" or "copy"`},
	} {
		_, err := parse(tt.text)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff("config.toml:"+tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

// A name or a unique statement of a later file takes the place of the earlier one, with what it says of none.
func TestLaterFile(t *testing.T) {
	r := new(Rules)
	for _, f := range [][2]string{
		{"a", "[[merge.name]]\nat = 'chars.name'\nnone = ['']\n[[merge.name]]\nat = 'guilds.name'\nnone = ['-']\n" +
			"[[check.unique]]\nat = ['mail.a', 'mail.b']\nnone = [0]"},
		{"b", "[[merge.name]]\nat = 'chars.name'\n[[check.unique]]\nat = ['mail.a', 'mail.b']"},
	} {
		if err := strict.Read(f[0], f[1], r.Reader(f[0])); err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	for _, n := range r.Names {
		got += fmt.Sprint(n.File, n.Table, n.None, " ")
	}
	for _, u := range r.Check.Uniques {
		got += fmt.Sprint(u.File, u.Table, u.None, " ")
	}
	if want := "aguilds[-] bchars[] bmail[] "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Which files of rules there are, and who plays, is for config.toml alone to say.
func TestConfigAlone(t *testing.T) {
	for _, tt := range []struct{ text, config, rules string }{
		{"[merge]\nrules = ['a.toml', 'b.toml']\n", "", `a.toml:2: unknown key rules: [merge] has `},
		{"[merge]\nrules = ['']\n", `a.toml:2: merge.rules is empty: want the path of a file of rules`, `a.toml:2: unknown key rules`},
		{"[fleet]\nplayers = 'c'\nactive = 'd'\n", "", `a.toml:1: unknown key fleet`},
	} {
		r := new(Rules)
		for want, err := range map[string]error{
			tt.config: strict.Read("a.toml", tt.text, r.ConfigReader("a.toml")),
			tt.rules:  strict.Read("a.toml", tt.text, new(Rules).Reader("a.toml")),
		} {
			if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%q: got %v, want %s", tt.text, err, want)
			}
		}
	}
}
