package config

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
)

func env(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := variables[name]
		return v, ok
	}
}

func TestParse(t *testing.T) {
	c, err := Parse("config.toml", `
[server]
number = 1048575
name = "Nordlicht 北"
listen = ":9090"
[database]
dsn_env = "GAME_DSN"
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
	if err := c.CheckServer(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(Server{gameid.MaxServer, Numbers{}, "Nordlicht 北", ":9090"}, c.Server); diff != "" {
		t.Errorf("[server] (-want +got):\n%s", diff)
	}
	lookup := env(map[string]string{"GAME_DSN": "mysql:game:pw@tcp(db)/s1", "S2_DSN": "sqlite:data/s2.db", "FLEET_DSN": "mysql:game:pw@tcp(db)/fleet"})
	got := []string{reveal(t, c.Database, lookup), reveal(t, c.Registry, lookup)}
	for _, name := range []string{"s1", "s2"} {
		s, err := c.Source(name)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s.Name, reveal(t, s.Database, lookup))
	}
	want := []string{"mysql:game:pw@tcp(db)/s1", "mysql:game:pw@tcp(db)/fleet", "s1", "sqlite:data/s1.db", "s2", "sqlite:data/s2.db"}
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
	if c.Server != (Server{Listen: "127.0.0.1:8080"}) || c.Database != (Database{}) || c.Registry != (Database{}) || len(c.Sources) != 0 {
		t.Errorf("got %v; want only the default address", c)
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]Numbers{"40-59": {40, 59}, " 40 - 59 ": {40, 59}, "7-7": {7, 7}, "1-1048575": {1, gameid.MaxServer}} {
		c, err := Parse("c.toml", "[server]\nnumbers = '"+text+"'\n[database]\ndsn = 'sqlite:a'")
		if err == nil {
			err = c.CheckServer()
		}
		if err != nil || c.Server.Numbers != want || c.Server.Number != 0 {
			t.Errorf("%q: %v, %v; want %v", text, c, err, want)
		}
	}
	if _, err := ParseNumbers("40"); err == nil || !strings.HasPrefix(err.Error(), `"40" is no range`) {
		t.Errorf("one number: %v", err)
	}
}

func TestParseProblems(t *testing.T) {
	const wantNumbers = `want two numbers from 1 to 1048575 with a hyphen between them, the smaller first, such as "40-59"`
	const wantsDSN = `want "sqlite:" and the path of a file, or "mysql:" and user:password@tcp(host:port)/database, or postgres://user:password@host:port/database`
	for _, tt := range []struct{ text, want string }{
		// Names.
		{"[server]\nnubmer = 7", `2: unknown key nubmer (did you mean "number"?): [server] has number, numbers, name, listen`},
		{"\n\n[sever]\nnumber = 7", `3: unknown key sever (did you mean "server"?): the file has server, database, registry, public_id, source, check, merge, fleet`},
		{"number = 7\n[server]", `1: unknown key number: the file has server, database, registry, public_id, source, check, merge, fleet`},
		{"[server]\nNumber = 7", `2: unknown key Number (did you mean "number"?): [server] has number, numbers, name, listen`},
		{"[server]\n\"a b\" = 7", `2: unknown key with special characters: [server] has number, numbers, name, listen`},
		{"[[source]]\nname='a'\ndsn='sqlite:a'\n# [[source]]\n[[source]]\nname='b'\ndsn='sqlite:b'\ndns='sqlite:b'", `8: unknown key dns (did you mean "dsn"?): [source] has name, dsn, dsn_env, tls_ca, tls_cert, tls_key, tls_server_name, labels`},
		{"[server]\nname = '''\n[x]\ny=1'''\n[server.tls]\ncert='x'", `2: server.name has a control character in it: want a plain name` + "\n" +
			`5: unknown key tls: [server] has number, numbers, name, listen`},
		{"a=1\n[b]\n[[c]]", `1: unknown key a: the file has server, database, registry, public_id, source, check, merge, fleet` + "\n" +
			`2: unknown key b: the file has server, database, registry, public_id, source, check, merge, fleet` + "\n" +
			`3: unknown key c: the file has server, database, registry, public_id, source, check, merge, fleet`},

		// Types and ranges.
		{"[server]\nnumber = 0", `2: server.number 0 is out of range: want 1 to 1048575`},
		{"[server]\nnumber = 1048576", `2: server.number 1048576 is out of range: want 1 to 1048575`},
		{"[server]\nnumber = -1", `2: server.number -1 is out of range: want 1 to 1048575`},
		{"[server]\nnumber = '7'", `2: server.number is text: want an integer from 1 to 1048575`},
		{"[server]\nnumber = 7.0", `2: server.number is a number with a fraction: want an integer from 1 to 1048575`},
		{"server.number = true", `1: server.number is true or false: want an integer from 1 to 1048575`},
		{"[server]\nnumbers = 7", `2: server.numbers is an integer: want text in quotes`},
		{"[server]\nnumbers = ''", `2: server.numbers is no range of server numbers: ` + wantNumbers},
		{"[server]\nnumbers = '40'", `2: server.numbers is no range of server numbers: ` + wantNumbers},
		{"[server]\nnumbers = '40-'", `2: server.numbers is no range of server numbers: ` + wantNumbers},
		{"[server]\nnumbers = '0-9'", `2: server.numbers is no range of server numbers: ` + wantNumbers},
		{"[server]\nnumbers = '40-50-59'", `2: server.numbers is no range of server numbers: ` + wantNumbers},
		{"[server]\nnumbers = '40-1048576'", `2: server.numbers is no range of server numbers: ` + wantNumbers},
		{"[server]\nnumbers = '59-40'", `2: server.numbers ends before it begins: ` + wantNumbers},
		{"[server]\nnumber = 7\nnumbers = '40-59'", `3: server.numbers and number are both there: want one of them`},
		{"[server]\nname = 7", `2: server.name is an integer: want text in quotes`},
		{"[server]\nname = 2025-01-01", `2: server.name is a date: want text in quotes`},
		{"[server]\nname = ['s1']", `2: server.name is a list: want text in quotes`},
		{"[server]\n[server.name]", `2: server.name is a section: want text in quotes`},
		{"[server]\n[[server.name]]", `2: server.name is a list of sections: want text in quotes`},
		{"[server]\nname = ''", `2: server.name is empty: want a name, or remove it`},
		{"[server]\nname = '" + strings.Repeat("名", 65) + "'", `2: server.name has 65 characters: want at most 64`},
		{"[server]\nlisten = '8080'", `2: server.listen is not an address: want host:port, such as "127.0.0.1:8080", or ":8080" for every address of the machine`},
		{"[server]\nlisten = ':http'", `2: server.listen has no port from 0 to 65535: want host:port, such as "127.0.0.1:8080", or ":8080" for every address of the machine`},
		{"[server]\nlisten = ':65536'", `2: server.listen has no port from 0 to 65535: want host:port, such as "127.0.0.1:8080", or ":8080" for every address of the machine`},
		{"server = 7", `1: server is an integer: want a section [server]`},
		{"[[server]]", `1: server can be there only once: want [server], not [[server]]`},
		{"[source]", `1: source can be there several times: want [[source]], with two brackets`},
		{"source = [{name='a', dsn='sqlite:a'}]", `1: source is a list: want sections [[source]]`},
		{"source = 's1'", `1: source is text: want sections [[source]]`},

		// Databases.
		{"[database]", `1: database.dsn is missing: ` + wantsDSN + `; or dsn_env with the name of an environment variable that holds it`},
		{"[database]\ndsn = 'data/hunter2.db'", `2: database.dsn is not a DSN: ` + wantsDSN},
		{"[database]\ndsn = 'sqlite:'", `2: database.dsn is not a DSN: ` + wantsDSN},
		{"[database]\ndsn = 'postgres:hunter2@db'", `2: database.dsn is not a DSN: ` + wantsDSN},
		{"[database]\ndsn = 'sqlite:a'\ndsn_env = 'A'", `3: database.dsn_env and dsn are both there: want one of them`},
		{"[database]\ndsn_env = '$S1_DSN'", `2: database.dsn_env is not the name of an environment variable: want letters, digits and _, with no $ in front`},
		{"[database]\ndsn_env = 'mysql:root:hunter2@tcp(db)/s1'", `2: database.dsn_env is not the name of an environment variable: want letters, digits and _, with no $ in front`},

		{"[database]\ndsn = 'mysql:u:hunter2@tcp(db)/s1'\ntls_ca = ''", `3: database.tls_ca is empty: want the path of a PEM file`},
		{"[database]\ndsn = 'mysql:u:hunter2@tcp(db)/s1'\ntls_server_name = ''", `3: database.tls_server_name is empty: want the name in the server's certificate`},
		{"[database]\ndsn = 'sqlite:a'\ntls_cert = 'c'", `3: database.tls_cert is for MySQL, and the dsn is an SQLite file: take it out`},
		{"[registry]", `1: registry.dsn is missing: ` + wantsDSN + `; or dsn_env with the name of an environment variable that holds it`},
		{"[registry]\nname = 'x'\ndsn = 'sqlite:f'", `2: unknown key name: [registry] has dsn, dsn_env, tls_ca, tls_cert, tls_key, tls_server_name, worlds_account, worlds_account_env`},
		{"[registry]\ndsn = 'sqlite:f'\nworlds_account = 'hunter2'", `3: registry.worlds_account is not a pair of user and password: want user:password`},
		{"[registry]\ndsn = 'sqlite:f'\nworlds_account = 'u:hunter2'\nworlds_account_env = 'A'", `4: registry.worlds_account_env and worlds_account are both there: want one of them`},

		// Keys of public IDs.
		{"[public_id]", `1: public_id can be there several times: want [[public_id]], with two brackets`},
		{"[[public_id]]", `1: public_id.key is missing: ` + wantKey + `; or key_env with the name of an environment variable that holds it` + "\n" +
			`1: public_id.version is missing: want a number from 1 to 999, another one for every key`},
		{"[[public_id]]\nversion = 0\nkey_env = 'K'", `2: public_id.version 0 is out of range: want 1 to 999`},
		{"[[public_id]]\nversion = 1000\nkey_env = 'K'", `2: public_id.version 1000 is out of range: want 1 to 999`},
		{"[[public_id]]\nversion = 3\nkey_env = 'K'\n[[public_id]]\nkey_env = 'L'\nversion = 3", `6: public_id.version 3 is that of the key in line 2 already`},
		{"[[public_id]]\nversion = 1\nkey = 'hunter2'", `3: public_id.key is not a key: ` + wantKey},
		{"[[public_id]]\nversion = 1\nkey = '" + strings.Repeat("a", 31) + "'", `3: public_id.key is not a key: ` + wantKey},
		{"[[public_id]]\nversion = 1\nkey = '" + strings.Repeat("ab", 20) + "'", `3: public_id.key is not a key: ` + wantKey},
		{"[[public_id]]\nversion = 1\nkey = ''", `3: public_id.key is not a key: ` + wantKey},
		{"[[public_id]]\nversion = 1\nkey = 7", `3: public_id.key is an integer: want text in quotes`},
		{"[[public_id]]\nversion = 1\nkey = '" + strings.Repeat("ab", 16) + "'\nkey_env = 'K'", `4: public_id.key_env and key are both there: want one of them`},
		{"[[public_id]]\nversion = 1\nkye = 'x'", `3: unknown key kye (did you mean "key"?): [public_id] has version, key, key_env`},

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

func TestCheckServer(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"[database]\ndsn='sqlite:a'", `c.toml: server.number is missing: want a number from 1 to 1048575 that no other game server has, or numbers = "40-59" for processes that share a range`},
		{"[server]\nnumber=1", `c.toml: database is missing: want a section [database] with a dsn, such as "sqlite:data/s1.db"`},
	} {
		c, err := Parse("c.toml", tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.CheckServer(); err == nil || err.Error() != tt.want {
			t.Errorf("%q: got %v; want %s", tt.text, err, tt.want)
		}
	}
}

func TestDSNFromTheEnvironment(t *testing.T) {
	c, err := Parse("c.toml", "[database]\ndsn_env = 'GAME_DSN'")
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
		_, err := c.Database.DSN(env(tt.env))
		if want := "c.toml:2: database.dsn_env names the environment variable GAME_DSN, which " + tt.want; err == nil || err.Error() != want {
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

// A game server takes a file with the sections of the tools, whatever they hold.
func TestSectionsOfTools(t *testing.T) {
	for _, text := range []string{"[check]\nx = 1\n[[merge.name]]\ny = 2\n", "check = 1\n[[merge]]\n", "[fleet]\nz = 3\n"} {
		if _, err := Parse("c.toml", text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The sample must work as it is: its first part for a game server, the second for the tools. So must each line that is
// there to be uncommented.
func TestSample(t *testing.T) {
	text, err := os.ReadFile("../../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	forServer, forTools, parted := strings.Cut(string(text), "- for the tools\n")
	for part, text := range map[string]string{"a game server": forServer, "the tools": forTools} {
		if lines := strings.Count(text, "\n"); !parted || lines > 40 {
			t.Errorf("the part for %s has %d lines, want at most 40", part, lines)
		}
	}
	server, err := Parse("config.toml", forServer)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.CheckServer(); err != nil || len(server.Sources) > 0 {
		t.Errorf("%v, sources %v", err, server.Sources)
	}
	tools, err := Parse("config.toml", forTools)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{reveal(t, server.Database, env(nil))}
	for _, s := range tools.Sources {
		got = append(got, s.Name+" "+reveal(t, s.Database, env(nil)))
	}
	want := []string{"sqlite:data/s1.db", "s1 sqlite:data/twoservers/s1.db", "s2 sqlite:data/twoservers/s2.db", "east sqlite:data/twoservers/east.db", "west sqlite:data/twoservers/west.db", "new sqlite:data/twoservers/new.db", "both sqlite:data/twoservers/both.db"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("databases (-want +got):\n%s", diff)
	}

	const database = "dsn = 'mysql:a:b@tcp(c)/d'\n"
	for pattern, head := range map[string]string{
		`numbers =.*`: "[server]\n", `dsn.*=.*`: "[database]\n", `(?:tls|accept).*=.*`: "[database]\n" + database, `worlds_.*=.*`: "[registry]\n" + database,
		`key.*=.*`: "[[public_id]]\nversion = 9\n", `labels =.*`: "[[source]]\nname = 'w'\n" + database,
	} {
		commented := regexp.MustCompile("(?m)^# ("+pattern+")$").FindAllStringSubmatch(string(text), -1)
		if len(commented) == 0 {
			t.Fatalf("no commented line found for %s", head)
		}
		for _, m := range commented {
			if strings.Contains(m[1], "{1..") {
				head = "[[source]]\nname = 'w{1..400}'\n"
			}
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
	f.Add("[database]\n", "")
	f.Add("[database]\nx = ", "\n")
	f.Add("[[source]]\nname = 7\n", "\ndsn_env = 5\n[[source]]")
	f.Add("'", "' = 1")
	f.Add("source = [{name = 1, ", "}, {}]")
	f.Add("a = \"\"\"\n", "\"\"\"\nb")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "hunter2"
		c, err := Parse("c.toml", before+`dsn = "mysql:root:`+secret+`@tcp(db)/s1"`+after)
		if err == nil {
			if c.Server.Listen == "" || c.Server.Number > gameid.MaxServer {
				t.Errorf("accepted %v", c.Server)
			}
			err = c.CheckServer()
		}
		if err == nil {
			_, err = c.PublicKeys(env(nil))
		}
		if err != nil && strings.Contains(err.Error(), secret) && !strings.Contains(before+after, secret) {
			t.Errorf("the message has the secret: %v", err)
		}
	})
}

func TestAcceptLossyDatabase(t *testing.T) {
	for text, want := range map[string]bool{"": false, "accept_lossy_database = false": false, "accept_lossy_database = true": true} {
		c, err := Parse("c.toml", "[database]\ndsn = \"sqlite:x.db\"\n"+text+"\n")
		if err != nil || c.AcceptLossyDatabase != want {
			t.Errorf("%q: %v, %v", text, c, err)
		}
	}
	for _, text := range []string{"[database]\ndsn = \"sqlite:x.db\"\naccept_lossy_database = \"yes\"", "[registry]\ndsn = \"sqlite:x.db\"\naccept_lossy_database = true"} {
		if _, err := Parse("c.toml", text); err == nil || !strings.Contains(err.Error(), "accept_lossy_database") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The files of TLS stand beside the DSN, and become parameters of it.
func TestTLS(t *testing.T) {
	c, err := Parse("config.toml", `
[database]
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
		{c.Database, "", "mysql:game:pw@tcp(db)/s1?tls-ca=%2Fetc%2Fgame%2Fca%20%26%20more.pem"},
		{c.Sources[0].Database, "mysql:game:p)/w?@tcp(db)/s1", "mysql:game:p)/w?@tcp(db)/s1?tls-cert=c.pem&tls-key=k.pem&tls-server-name=db.example"},
		{c.Sources[0].Database, "mysql:game:pw@tcp(db)/s1?timeout=1s", "mysql:game:pw@tcp(db)/s1?timeout=1s&tls-cert=c.pem&tls-key=k.pem&tls-server-name=db.example"},
	} {
		dsn, err := tt.database.DSN(env(map[string]string{"S1_DSN": tt.env}))
		if err != nil || dsn.Reveal() != tt.want {
			t.Errorf("got %s, %v; want %s", dsn.Reveal(), err, tt.want)
		}
	}
}
