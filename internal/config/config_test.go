package config

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"mergesafe/internal/strict"

	"github.com/google/go-cmp/cmp"
)

func env(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := variables[name]
		return v, ok
	}
}

func TestParse(t *testing.T) {
	c, err := Parse("config.toml", `
[registry]
dsn_env = "FLEET_DSN"
[[source]]
name = "s1"
dsn = "sqlite:data/s1.db"
[[source]]
dsn_env = "S2_DSN"
name = "s2"
`)
	if err != nil {
		t.Fatal(err)
	}
	lookup := env(map[string]string{"S2_DSN": "sqlite:data/s2.db", "FLEET_DSN": "mysql:game:pw@tcp(db)/fleet"})
	got := []string{reveal(t, c.Registry, lookup)}
	for _, name := range []string{"s1", "s2"} {
		s, err := c.Source(name)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s.Name, reveal(t, s.Database, lookup))
	}
	want := []string{"mysql:game:pw@tcp(db)/fleet", "s1", "sqlite:data/s1.db", "s2", "sqlite:data/s2.db"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("databases (-want +got):\n%s", diff)
	}
}

func reveal(t *testing.T, d Database, lookup func(string) (string, bool)) string {
	t.Helper()
	s, err := d.DSN(lookup)
	if err != nil {
		t.Fatal(err)
	}
	return s.Reveal()
}

func TestParseNothing(t *testing.T) {
	c, err := Parse("config.toml", "")
	if err != nil {
		t.Fatal(err)
	}
	if c.Registry != (Database{}) || len(c.Sources) != 0 {
		t.Errorf("got %v", c)
	}
}

func TestParseProblems(t *testing.T) {
	const wantsDSN = `want "sqlite:" and the path of a file, or "mysql:" and user:password@tcp(host:port)/database, or postgres://user:password@host:port/database`
	for _, tt := range []struct{ text, want string }{
		// Names.
		{"[registry]\ndns = 7", `2: unknown key dns (did you mean "dsn"?): [registry] has dsn, dsn_env, tls_ca, tls_cert, tls_key, tls_server_name, worlds_account, worlds_account_env`},
		{"\n\n[sorce]\nname = 7", `3: unknown key sorce (did you mean "source"?): the file has registry, source`},
		{"number = 7", `1: unknown key number: the file has registry, source`},
		{"[registry]\nDSN = 7", `2: unknown key DSN (did you mean "dsn"?): [registry] has dsn, dsn_env, tls_ca, tls_cert, tls_key, tls_server_name, worlds_account, worlds_account_env`},
		{"[[source]]\nname='a'\ndsn='sqlite:a'\n# [[source]]\n[[source]]\nname='b'\ndsn='sqlite:b'\ndns='sqlite:b'", `8: unknown key dns (did you mean "dsn"?): [source] has name, dsn, dsn_env, tls_ca, tls_cert, tls_key, tls_server_name, labels`},
		{"[[source]]\nname = '''\n[x]\ny=1'''\ndsn = 'sqlite:a'\n[source.tls]\ncert='x'", `2: source.name has a control character in it: want a plain name` + "\n" +
			`6: unknown key tls: [source] has name, dsn, dsn_env, tls_ca, tls_cert, tls_key, tls_server_name, labels`},
		{"a=1\n[b]\n[[c]]", `1: unknown key a: the file has registry, source` + "\n" +
			`2: unknown key b: the file has registry, source` + "\n" +
			`3: unknown key c: the file has registry, source`},

		// Types.
		{"[registry]\ndsn = 7", `2: registry.dsn is an integer: want text in quotes`},
		{"[registry]\ndsn = 2025-01-01", `2: registry.dsn is a date: want text in quotes`},
		{"[registry]\ndsn = ['s1']", `2: registry.dsn is a list: want text in quotes`},
		{"[registry]\n[registry.dsn]", `2: registry.dsn is a section: want text in quotes`},
		{"[registry]\n[[registry.dsn]]", `2: registry.dsn is a list of sections: want text in quotes`},
		{"[[source]]\nname = ''\ndsn = 'sqlite:a'", `2: source.name is empty: want a name, or remove it`},
		{"[[source]]\nname = '" + strings.Repeat("名", 65) + "'\ndsn = 'sqlite:a'", `2: source.name has 65 characters: want at most 64`},
		{"registry = 7", `1: registry is an integer: want a section [registry]`},
		{"[[registry]]", `1: registry can be there only once: want [registry], not [[registry]]`},
		{"[source]", `1: source can be there several times: want [[source]], with two brackets`},
		{"source = [{name='a', dsn='sqlite:a'}]", `1: source is a list: want sections [[source]]`},
		{"source = 's1'", `1: source is text: want sections [[source]]`},

		// Databases.
		{"[registry]", `1: registry.dsn is missing: ` + wantsDSN + `; or dsn_env with the name of an environment variable that holds it`},
		{"[registry]\ndsn = 'data/hunter2.db'", `2: registry.dsn is not a DSN: ` + wantsDSN},
		{"[registry]\ndsn = 'sqlite:'", `2: registry.dsn is not a DSN: ` + wantsDSN},
		{"[registry]\ndsn = 'postgres:hunter2@db'", `2: registry.dsn is not a DSN: ` + wantsDSN},
		{"[registry]\ndsn = 'sqlite:a'\ndsn_env = 'A'", `3: registry.dsn_env and dsn are both there: want one of them`},
		{"[registry]\ndsn_env = '$S1_DSN'", `2: registry.dsn_env is not the name of an environment variable: want letters, digits and _, with no $ in front`},
		{"[registry]\ndsn_env = 'mysql:root:hunter2@tcp(db)/s1'", `2: registry.dsn_env is not the name of an environment variable: want letters, digits and _, with no $ in front`},

		{"[registry]\ndsn = 'mysql:u:hunter2@tcp(db)/s1'\ntls_ca = ''", `3: registry.tls_ca is empty: want the path of a PEM file`},
		{"[registry]\ndsn = 'mysql:u:hunter2@tcp(db)/s1'\ntls_server_name = ''", `3: registry.tls_server_name is empty: want the name in the server's certificate`},
		{"[registry]\ndsn = 'sqlite:a'\ntls_cert = 'c'", `3: registry.tls_cert is for MySQL, and the dsn is an SQLite file: take it out`},
		{"[registry]\nname = 'x'\ndsn = 'sqlite:f'", `2: unknown key name: [registry] has dsn, dsn_env, tls_ca, tls_cert, tls_key, tls_server_name, worlds_account, worlds_account_env`},
		{"[registry]\ndsn = 'sqlite:f'\nworlds_account = 'hunter2'", `3: registry.worlds_account is not a pair of user and password: want user:password`},
		{"[registry]\ndsn = 'sqlite:f'\nworlds_account = 'u:hunter2'\nworlds_account_env = 'A'", `4: registry.worlds_account_env and worlds_account are both there: want one of them`},

		// Sources.
		{"[[source]]\ndsn='sqlite:a'", `1: source.name is missing: want a short name for the tools, such as name = "s1"`},
		{"[[source]]\nname='s1'\ndsn='sqlite:a'\n[[source]]\nname='s1'\ndsn='sqlite:b'", `5: source.name "s1" is the name of the source in line 2 already`},
		{"[[source]]\nname='s1'\ndsn='sqlite:a'\n\n[[source]]\nname='s2'", `5: source.dsn is missing: ` + wantsDSN + `; or dsn_env with the name of an environment variable that holds it`},
		{"[[source]]\nnmae='s1'\ndns='sqlite:a'", `2: unknown key nmae (did you mean "name"?): [source] has name, dsn, dsn_env, tls_ca, tls_cert, tls_key, tls_server_name, labels` + "\n" +
			`3: unknown key dns (did you mean "dsn"?): [source] has name, dsn, dsn_env, tls_ca, tls_cert, tls_key, tls_server_name, labels`},
		{"[[source]]\nname='a:b'\ndsn='sqlite:a'", `2: source.name is no name that a tool takes as an argument: want no space, colon, slash, star or brace, and no "-" in front`},
		{"[[source]]\nname='-a'\ndsn='sqlite:a'", `2: source.name is no name that a tool takes as an argument: want no space, colon, slash, star or brace, and no "-" in front`},

		{"[[source]]\nname='w*'\ndsn='sqlite:a'", `2: source.name is no name that a tool takes as an argument: want no space, colon, slash, star or brace, and no "-" in front`},
		{"[[source]]\nname='w{3..1}'\ndsn='sqlite:w{3..1}'", `2: source.name is no range of names: want one of at most 1000 numbers, such as w{1..400}`},
		{"[[source]]\nname='w{1..3}'\ndsn='mysql:u:hunter2{0..9}@tcp(db)/w'", `2: source.name stands for 3 sources, and the dsn does not stand for as many databases: ` + wantsRange},
		{"[[source]]\nname='w{1..3}'\ndsn='sqlite:w'", `2: source.name stands for 3 sources, and the dsn does not stand for as many databases: ` + wantsRange},
		{"[[source]]\nname='w{1..3}'\ndsn_env='W'", `2: source.name stands for 3 sources, and dsn_env for one database: ` + wantsRange},
		{"[[source]]\nname='w{1..3}'\ndsn='sqlite:{1..3}'\n[[source]]\nname='w2'\ndsn='sqlite:b'", `5: source.name "w2" is the name of the source in line 2 already`},
		{"[[source]]\nname='a'\ndsn='sqlite:a'\nlabels = 'de'", `4: source.labels is text: want a table of texts, such as labels = { language = "de", zone = "Europe/Berlin" }`},
		{"[[source]]\nname='a'\ndsn='sqlite:a'\nlabels = { language = 7 }", `4: source.labels has an integer in it: want a table of texts, such as labels = { language = "de", zone = "Europe/Berlin" }`},
		{"[[source]]\nname='a'\ndsn='sqlite:a'\nlabels = { 'two words' = 'x' }", `4: source.labels have a name that is no name of a label: want letters, digits and _, such as language`},
		{"[[source]]\nname='a'\ndsn='sqlite:a'\nlabels = { host = 'sqlite:hunter2' }", `4: source.labels host looks like a DSN, and labels are shown: want it under dsn`},
		{"[[source]]\nname='a'\ndsn='sqlite:a'\nlabels = { host = 'u:hunter2@tcp(db)/a' }", `4: source.labels host looks like a DSN, and labels are shown: want it under dsn`},

		// Syntax; package strict has the other cases.
		{"dsn = \"mysql:root:hunter\"2@tcp(db)/s1\"", `1: is not TOML: want nothing after the value; inside text in quotes, write \" for a quote`},
		{"dsn = '''hunter2", `1: is not TOML: the text ends before a quote or bracket is closed`},
	} {
		_, err := Parse("config.toml", tt.text)
		got := ""
		if err != nil {
			got = err.Error()
		}
		want := "config.toml:" + strings.ReplaceAll(tt.want, "\n", "\nconfig.toml:")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
		if strings.Contains(got, "hunter") {
			t.Errorf("%q: the message has the secret: %s", tt.text, got)
		}
	}
}

func TestDSNFromTheEnvironment(t *testing.T) {
	c, err := Parse("c.toml", "[registry]\ndsn_env = 'GAME_DSN'")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "is not set"},
		{map[string]string{"GAME_DSN": ""}, "is empty"},
		{map[string]string{"GAME_DSN": "root:hunter2@tcp(db)/s1"}, "holds no DSN: " + wantDSN},
	} {
		_, err := c.Registry.DSN(env(tt.env))
		if want := "c.toml:2: registry.dsn_env names the environment variable GAME_DSN, which " + tt.want; err == nil || err.Error() != want {
			t.Errorf("%v: got %v; want %s", tt.env, err, want)
		}
	}
}

func TestNoSource(t *testing.T) {
	c, err := Parse("c.toml", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Source("s1"); err == nil || err.Error() != `c.toml: no source "s1": the file has no [[source]]` {
		t.Errorf("got %v", err)
	}
}

// A section of the tools is read by their functions, and unknown without.
func TestSectionsOfTools(t *testing.T) {
	const text = "[check]\nx = 1\n"
	read := int64(0)
	_, err := Parse("c.toml", text, func(root *strict.Section) {
		root.Section("check", func(s *strict.Section) { read = s.Integer("x", 0, 9) })
	})
	if err != nil || read != 1 {
		t.Errorf("got %d, %v", read, err)
	}
	if _, err := Parse("c.toml", text); err == nil || err.Error() != "c.toml:1: unknown key check: the file has registry, source" {
		t.Errorf("got %v", err)
	}
}

// The sample must work as it is. So must each line that is there to be uncommented.
func TestSample(t *testing.T) {
	text, err := os.ReadFile("../../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 40 {
		t.Errorf("the sample has %d lines, want at most 40", lines)
	}
	c, err := Parse("config.toml", string(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range c.Sources {
		got = append(got, s.Name+" "+reveal(t, s.Database, env(nil)))
	}
	var want []string
	for _, name := range []string{"s1", "s2", "east", "west", "new", "both"} { // the worlds of examples/twoservers
		want = append(want, name+" sqlite:data/twoservers/"+name+".db")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("databases (-want +got):\n%s", diff)
	}

	const database = "dsn = 'mysql:a:b@tcp(c)/d'\n"
	for pattern, head := range map[string]string{
		`dsn.*=.*`: "[[source]]\nname = 'w'\n", `tls.*=.*`: "[[source]]\nname = 'w'\n" + database, `worlds_.*=.*`: "[registry]\n" + database,
		`labels =.*`: "[[source]]\nname = 'w'\n" + database,
	} {
		commented := regexp.MustCompile("(?m)^# ("+pattern+")$").FindAllStringSubmatch(string(text), -1)
		if len(commented) == 0 {
			t.Fatalf("no commented line found for %s", pattern)
		}
		for _, m := range commented {
			if _, err := Parse("c.toml", head+m[1]); err != nil {
				t.Errorf("%s: %v", m[1], err)
			}
		}
	}
}

// No text makes Parse panic, and no message has a part of a DSN in it.
func FuzzParse(f *testing.F) {
	sample, err := os.ReadFile("../../config.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(sample), "")
	f.Add("[registry]\n", "")
	f.Add("[registry]\nx = ", "\n")
	f.Add("[[source]]\nname = 7\n", "\ndsn_env = 5\n[[source]]")
	f.Add("'", "' = 1")
	f.Add("source = [{name = 1, ", "}, {}]")
	f.Add("a = \"\"\"\n", "\"\"\"\nb")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "hunter2"
		_, err := Parse("c.toml", before+`dsn = "mysql:root:`+secret+`@tcp(db)/s1"`+after)
		if err != nil && strings.Contains(err.Error(), secret) && !strings.Contains(before+after, secret) {
			t.Errorf("the message has the secret: %v", err)
		}
	})
}

// The files of TLS stand beside the DSN, and become parameters of it.
func TestTLS(t *testing.T) {
	c, err := Parse("config.toml", `
[registry]
dsn = "mysql:game:pw@tcp(db)/s1"
tls_ca = "/etc/game/ca & more.pem"
[[source]]
name = "s1"
dsn_env = "S1_DSN"
tls_cert = "c.pem"
tls_key = "k.pem"
tls_server_name = "db.example"
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		database Database
		env      string
		want     string
	}{
		{c.Registry, "", "mysql:game:pw@tcp(db)/s1?tls-ca=%2Fetc%2Fgame%2Fca%20%26%20more.pem"},
		{c.Sources[0].Database, "mysql:game:p)/w?@tcp(db)/s1", "mysql:game:p)/w?@tcp(db)/s1?tls-cert=c.pem&tls-key=k.pem&tls-server-name=db.example"},
		{c.Sources[0].Database, "mysql:game:pw@tcp(db)/s1?timeout=1s", "mysql:game:pw@tcp(db)/s1?timeout=1s&tls-cert=c.pem&tls-key=k.pem&tls-server-name=db.example"},
	} {
		dsn, err := tt.database.DSN(env(map[string]string{"S1_DSN": tt.env}))
		if err != nil || dsn.Reveal() != tt.want {
			t.Errorf("got %s, %v; want %s", dsn.Reveal(), err, tt.want)
		}
	}
}
