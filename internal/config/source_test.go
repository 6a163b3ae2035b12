package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/strict"
)

const wantsRange = `want one range of as many numbers in the dsn, such as dsn = "sqlite:worlds/w{1..400}.db"`

// shown is what a list of sources says, with secrets.
func shown(t *testing.T, all []Source) (lines []string) {
	t.Helper()
	lookup := env(map[string]string{"W9_DSN": "mysql:u:hunter2@tcp(db)/w9"})
	for _, s := range all {
		lines = append(lines, fmt.Sprint(s.Name, " ", reveal(t, s.Database, lookup), " ", s.Labels))
	}
	return lines
}

func TestSourcesWithRangesAndLabels(t *testing.T) {
	c, err := Parse("config.toml", `
[[source]]
name = "s1"
dsn  = "sqlite:s1.db"
labels = { language = "de", zone = "Europe/Berlin" }
[[source]]
name = "w{09..11}"
dsn  = "mysql:u:p{s}@tcp(db)/w{9..11}"
tls_ca = "ca.pem"
[source.labels]
language = "fr"
[[source]]
name = "e{1..2}"
dsn  = "sqlite:{1..2}/e{1..2}.db"
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"s1 sqlite:s1.db map[language:de zone:Europe/Berlin]",
		"w09 mysql:u:p{s}@tcp(db)/w9?tls-ca=ca.pem map[language:fr]",
		"w10 mysql:u:p{s}@tcp(db)/w10?tls-ca=ca.pem map[language:fr]",
		"w11 mysql:u:p{s}@tcp(db)/w11?tls-ca=ca.pem map[language:fr]",
		"e1 sqlite:1/e1.db map[]",
		"e2 sqlite:2/e2.db map[]",
	}
	if diff := cmp.Diff(want, shown(t, c.Sources)); diff != "" {
		t.Error(diff)
	}
}

func TestParseSources(t *testing.T) {
	all, err := parseSources("worlds.csv", "\ufeffname, language ,dsn,zone,dsn_env\n"+
		"# those of Europe\n"+
		"w1,de,sqlite:w1.db,Europe/Berlin,\n"+
		"\n"+
		"w2,\"de, at\",\"mysql:u:hunter2,@tcp(db)/w2\",,\r\n"+
		"w9,,,UTC+01:00,W9_DSN\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"w1 sqlite:w1.db map[language:de zone:Europe/Berlin]",
		"w2 mysql:u:hunter2,@tcp(db)/w2 map[language:de, at]",
		"w9 mysql:u:hunter2@tcp(db)/w9 map[zone:UTC+01:00]",
	}
	if diff := cmp.Diff(want, shown(t, all)); diff != "" {
		t.Error(diff)
	}
	if text := fmt.Sprintf("%v %+v %#v", all, all, all); strings.Contains(text, "hunter2") {
		t.Errorf("printed with the password: %s", text)
	}
}

func TestParseSourcesProblems(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", `w.csv: is empty: ` + wantHeader},
		{"name,dsn\n", `w.csv: has no worlds: want a line for each below the first`},
		{"nmae,dsn\n", `w.csv:1: has no column name (did you mean "nmae"?): ` + wantHeader},
		{"name,dns,zone\nw1,mysql:u:hunter2@tcp(db)/w1,x\n", `w.csv:1: has no column dsn (did you mean "dns"?): ` + wantHeader},
		{"name,dsn,zone,zone\n", `w.csv:1: has two columns "zone": want each once`},
		{"w1,mysql:u:hunter2@tcp(db)/w1\n", `w.csv:1: has a column whose name is no name of a label: want letters, digits and _, such as language; ` + wantHeader},
		{"name;dsn\nw1;mysql:u:hunter2@tcp(db)/w1\n", `w.csv:1: has a column whose name is no name of a label: want letters, digits and _, such as language; ` + wantHeader},
		{"name,dsn\n\nw1,sqlite:a,de\nw2,hunter2\nw2 x,sqlite:b\n",
			`w.csv:3: has more or fewer values than the first line has columns: want a comma between values, and quotes around one with a comma in it` + "\n" +
				`w.csv:4: dsn is not a DSN: ` + wantDSN + "\n" +
				`w.csv:5: name is no name that a tool takes as an argument: want no space, colon, slash, star or brace, and no "-" in front`},
		{"name,dsn\nw1,\n", `w.csv:2: dsn is missing: ` + wantDSN},
		{"name,dsn,dsn_env\nw1,sqlite:a,A\n", `w.csv:2: dsn_env and dsn are both there: want one of them`},
		{"name,dsn_env\nw1,hunter2!\n", `w.csv:2: dsn_env is not the name of an environment variable: want letters, digits and _, with no $ in front`},
		{"name,dsn\nw1,sqlite:a\n#\nw1,sqlite:b\n", `w.csv:4: name "w1" is the name of the world in line 2 already`},
		{"name,dsn\nw{1..3},sqlite:a\n", `w.csv:2: name is no name that a tool takes as an argument: want no space, colon, slash, star or brace, and no "-" in front`},
		{"name,dsn,host\nw1,sqlite:a,mysql:u:hunter2@tcp(db)/w1\n", `w.csv:2: host looks like a DSN, and labels are shown: want it under dsn`},
		{"name,dsn\nw1,\"sqlite:hunter2\nw2,sqlite:b\n", `w.csv:2: has a quote that is not closed, or is not at the end of its value`},
		{"name,dsn\nw1,sqlite:hunt\"er2\n", `w.csv:2: has a quote inside of a value: want quotes around all of it, and "" for one`},
	} {
		_, err := parseSources("w.csv", tt.text)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%q: got\n%v; want\n%s", tt.text, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunt") {
			t.Errorf("%q: the message has the secret: %s", tt.text, err)
		}
		if _, ok := errors.AsType[*strict.Error](err); !ok {
			t.Errorf("%q: the error is %T", tt.text, err)
		}
	}
}

// A variable that is not set is found when the DSN is asked for, and says which line wants it.
func TestParseSourcesWithoutVariable(t *testing.T) {
	all, err := parseSources("w.csv", "name,dsn_env\nw1,W1_DSN\n")
	if err != nil {
		t.Fatal(err)
	}
	_, err = all[0].Database.DSN(env(nil))
	if want := "w.csv:2: dsn_env names the environment variable W1_DSN, which is not set"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
