package databases

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/fleet"
)

// worldsOf returns what the arguments of a command line mean, a line for each world, or the error.
func worldsOf(t *testing.T, lookup func(string) (string, bool), args ...string) (lines []string, err error) {
	t.Helper()
	cmd := &cliv3.Command{Name: "test", Flags: WorldFlags(), Action: func(ctx context.Context, cmd *cliv3.Command) error {
		worlds, err := NewConfig(cmd.String("config"), lookup).Worlds(ctx, cmd, cmd.Args().Slice())
		for _, w := range worlds {
			line := w.Name + " " + w.DSN.Reveal()
			if len(w.Labels) > 0 {
				line += fmt.Sprint(" ", w.Labels)
			}
			if w.Err != nil {
				line += "(lost) " + w.Err.Error()
			}
			lines = append(lines, line)
		}
		return err
	}}
	return lines, cmd.Run(t.Context(), append([]string{"test"}, args...))
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestWorlds(t *testing.T) {
	file := write(t, "config.toml", `
[[source]]
name = "main"
dsn = "sqlite:main.db"
[[source]]
name = "w{1..12}"
dsn = "sqlite:w{1..12}.db"
labels = { language = "de" }
[[source]]
name = "x1"
dsn_env = "X1"
`)
	list := write(t, "worlds.csv", "name,dsn,language\nw1,sqlite:other/w1.db,fr\nw2,sqlite:other/w2.db,\n")
	const w = " sqlite:w%s.db map[language:de]"
	world := func(n string) string { return "w" + n + strings.ReplaceAll(w, "%s", n) }
	for _, tt := range []struct {
		args string
		want []string // or one that begins with "!", a part of the error
	}{
		{"w2", []string{world("2")}},
		{"w{2..3} main w3", []string{world("2"), world("3"), "main sqlite:main.db"}},
		{"w1* x1", []string{world("1"), world("10"), world("11"), world("12"), "x1 mysql:u:hunter2@tcp(db)/x1"}},
		{"sqlite:a.db w1", []string{"a.db sqlite:a.db", world("1")}},
		{"-worlds " + list, []string{"w1 sqlite:other/w1.db map[language:fr]", "w2 sqlite:other/w2.db"}},
		{"-all -worlds " + list, []string{"w1 sqlite:other/w1.db map[language:fr]", "w2 sqlite:other/w2.db"}},
		{"-worlds " + list + " *2", []string{"w2 sqlite:other/w2.db"}},
		{"", []string{`!no worlds given: want names, patterns such as 'w*' or 'w{1..40}', -worlds and a file that lists them, or -all`}},
		{"-all w1", []string{`!-all and "w1" are both given: want one of them`}},
		{"z*", []string{`!no world matches "z*": there is main, w1, w2, w3, w4 and 9 more, in ` + file}},
		{"w13", []string{`!no world "w13" (did you mean "w1"?): there is main, w1, w2, w3, w4 and 9 more, in ` + file}},
		{"w{1..}", []string{`!"w{1..}" is not a pattern of names: {1..} is no range`}},
		{"-worlds " + list + " main", []string{`!no world "main": there is w1, w2, in ` + list}},
		{"-worlds nowhere.csv", []string{`!nowhere.csv: no such file`}},
		{"w1.db", []string{`!for an SQLite file write "sqlite:w1.db"`}},
	} {
		got, err := worldsOf(t, env(map[string]string{"X1": "mysql:u:hunter2@tcp(db)/x1"}), append([]string{"-config", file}, strings.Fields(tt.args)...)...)
		if part, ok := strings.CutPrefix(tt.want[0], "!"); ok {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: got %v, want %s", tt.args, err, part)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.args, err, diff)
		}
	}
	if got, err := worldsOf(t, env(map[string]string{"X1": "sqlite:x1.db"}), "-config", file, "-all"); err != nil || len(got) != 14 {
		t.Errorf("-all: %d worlds, %v", len(got), err)
	}
	if _, err := worldsOf(t, env(nil), "-config", file, "-all"); err == nil || !strings.Contains(err.Error(), "X1, which is not set") {
		t.Errorf("-all without a variable: %v", err)
	}
	if got, err := worldsOf(t, env(nil), "-config", file, "main"); err != nil || len(got) != 1 {
		t.Errorf("a variable of another world is needed: %v", err)
	}
}

func TestWorldsWithoutConfiguration(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := worldsOf(t, env(nil), "-all"); err == nil || !strings.Contains(err.Error(), "config.toml: no such file") {
		t.Errorf("without a file: %v", err)
	}
	empty := write(t, "config.toml", "")
	if _, err := worldsOf(t, env(nil), "-config", empty, "-all"); err == nil || !strings.Contains(err.Error(), "no worlds are known in "+empty+": want a [[source]] for each, or -worlds") {
		t.Errorf("with an empty file: %v", err)
	}
	if got, err := worldsOf(t, env(nil), "sqlite:a.db", "sqlite:b.db"); err != nil || len(got) != 2 {
		t.Errorf("DSNs need no file: %v, %v", got, err)
	}
}

func TestWorld(t *testing.T) {
	file := write(t, "config.toml", "[[source]]\nname='w{1..3}'\ndsn='sqlite:w{1..3}.db'\n")
	cmd := &cliv3.Command{Name: "test", Flags: WorldFlags(), Action: func(ctx context.Context, cmd *cliv3.Command) error {
		c := NewConfig(cmd.String("config"), env(nil))
		w, err := c.World(ctx, cmd, "w2")
		if err != nil || w.Name != "w2" || w.DSN.Reveal() != "sqlite:w2.db" {
			t.Errorf("got %v, %v", w, err)
		}
		for name, want := range map[string]string{"w*": `"w*" is a pattern: want one world`, "w9": `no world "w9"`} {
			if _, err := c.World(ctx, cmd, name); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
		return nil
	}}
	if err := cmd.Run(t.Context(), []string{"test", "-config", file}); err != nil {
		t.Fatal(err)
	}
}

// The fleet registry says where more worlds are; the account is in the configuration.
func TestWorldsOfTheFleetRegistry(t *testing.T) {
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "fleet.db")
	f, err := fleet.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, p := range []fleet.Place{
		{World: "w1", DSN: "sqlite:elsewhere.db"},
		{World: "w2", DSN: "mysql:tcp(db2)/w2", Labels: map[string]string{"language": "de"}},
		{World: "w3", DSN: "sqlite:w3.db"},
	} {
		if err := f.SetPlace(t.Context(), p, fleet.Note{By: "anna"}); err != nil {
			t.Fatal(err)
		}
	}
	source := "[[source]]\nname='w1'\ndsn='sqlite:w1.db'\n"
	with := write(t, "config.toml", "[registry]\ndsn='"+dsn+"'\nworlds_account_env='ACCOUNT'\n"+source)
	away := write(t, "config.toml", "[registry]\ndsn='sqlite:"+filepath.Join(t.TempDir(), "none.db")+"'\n"+source)
	without := write(t, "config.toml", source)
	account := env(map[string]string{"ACCOUNT": "game:p@ss:/word"})
	all := []string{"w1 sqlite:w1.db", "w2 mysql:game:p@ss:/word@tcp(db2)/w2 map[language:de]", "w3 sqlite:w3.db"}
	for _, tt := range []struct {
		file, args string
		lookup     func(string) (string, bool)
		want       []string
	}{
		{with, "-all", account, all},
		{with, "w{2..3}", account, all[1:]},
		{with, "w2", account, all[1:2]},
		{with, "w3", env(nil), all[2:]}, // SQLite needs no account
		{with, "w2", env(nil), []string{"!worlds_account_env names the environment variable ACCOUNT, which is not set"}},
		{with, "w4", account, []string{`!no world "w4" (did you mean "w1"?): there is w1, w2, w3, in ` + with + ` and the fleet registry "` + dsn + `"`}},
		{without, "-all -fleet " + dsn, account, []string{all[0], "w2 mysql:tcp(db2)/w2 map[language:de]", all[2]}},
		{away, "w1", account, all[:1]}, // which is known without it
		{away, "-all", account, []string{"!no such file: make the fleet registry"}},
	} {
		got, err := worldsOf(t, tt.lookup, append([]string{"-config", tt.file}, strings.Fields(tt.args)...)...)
		if part, ok := strings.CutPrefix(tt.want[0], "!"); ok {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: got %v, want %s", tt.args, err, part)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.args, err, diff)
		}
	}
	t.Chdir(t.TempDir())
	if got, err := worldsOf(t, env(nil), "-fleet", dsn, "w3"); err != nil || len(got) != 1 {
		t.Errorf("without a configuration: %v, %v", got, err)
	}
}

// A place that cannot be used says so where its world is asked for, and keeps no other world away.
func TestWorldsOfAnUnusablePlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.db")
	f, err := fleet.Open("sqlite:" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.SetPlace(t.Context(), fleet.Place{World: "w2", DSN: "sqlite:w2.db"}, fleet.Note{By: "anna"}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, bad := range []string{"'w1', 'mysql:game:hunter2@tcp(db)/w1', '{}', 0",
		"'w' || char(10) || '3', 'sqlite:w3.db', '{}', 'soon'"} {
		if _, err := db.Exec("INSERT INTO fleet_places (world, place, labels, set_ms, who, why) VALUES (" + bad +
			", '', '')"); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string][]string{
		"w2":   {"w2 sqlite:w2.db"},
		"w1":   {"w1 (lost) "},
		"-all": {"w\n3 (lost) ", "w1 (lost) ", "w2 sqlite:w2.db"},
		"w*":   {"w\n3 (lost) ", "w1 (lost) ", "w2 sqlite:w2.db"},
	} {
		got, err := worldsOf(t, env(nil), append([]string{"-fleet", "sqlite:" + path}, args)...)
		if err != nil || len(got) != len(want) || strings.Contains(strings.Join(got, ""), "hunter2") {
			t.Errorf("%s: %q, %v, want %q", args, got, err, want)
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i], want[i]) || strings.Contains(want[i], "lost") != strings.Contains(got[i],
				"gameid servers places forget -- ") {
				t.Errorf("%s: %q, want %q", args, got, want)
			}
		}
	}
}
