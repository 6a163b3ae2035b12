package databases

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func env(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := variables[name]
		return v, ok
	}
}

func TestDSN(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	text := "[[source]]\nname='north'\ndsn='sqlite:n.db'\n[[source]]\nname='south'\ndsn_env='SOUTH'\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lookup := env(map[string]string{"SOUTH": "mysql:u:p@tcp(db)/s"})
	for _, tt := range []struct{ arg, file, want, wantErr string }{
		{"north", file, "sqlite:n.db", ""},
		{"south", file, "mysql:u:p@tcp(db)/s", ""},
		{"sqlite:x.db", "no such file", "sqlite:x.db", ""},
		{"noth", file, "", `no source "noth" (did you mean "north"?): it has north, south`},
		{"north", "no such file", "", `no source "north" without a configuration file: want a DSN, such as "sqlite:data/s1.db", or the file: `},
		{"data/s1.db", file, "", `"data/s1.db" is neither a DSN nor the name of a source: for an SQLite file write "sqlite:data/s1.db"`},
		{"s1.db", file, "", `for an SQLite file write "sqlite:s1.db"`},
	} {
		got, err := NewConfig(tt.file, lookup).DSN(tt.arg)
		if got.Reveal() != tt.want || (err == nil) != (tt.wantErr == "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) {
			t.Errorf("DSN(%q): got %q, %v; want %q, %s", tt.arg, got.Reveal(), err, tt.want, tt.wantErr)
		}
	}
	if _, err := NewConfig("no such file", lookup).DSN("s1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v; want it to be fs.ErrNotExist", err)
	}
}

func TestRegistry(t *testing.T) {
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	with, without := write("[registry]\ndsn_env='FLEET'\n"), write("")
	lookup := env(map[string]string{"FLEET": "mysql:u:p@tcp(db)/fleet"})
	for _, tt := range []struct{ dsn, file, want, wantErr string }{
		{"sqlite:f.db", with, "sqlite:f.db", ""},
		{"", with, "mysql:u:p@tcp(db)/fleet", ""},
		{"", without, "", ""},
		{"", "no such file", "", ""},
		{"", write("[registry]\ndsn_env='UNSET'\n"), "", "UNSET, which is not set"},
		{"", write("[registry]\n"), "", "registry.dsn is missing"},
	} {
		got, err := NewConfig(tt.file, lookup).Registry(tt.dsn)
		if got.Reveal() != tt.want || (err == nil) != (tt.wantErr == "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) {
			t.Errorf("Registry(%q) of %q: got %q, %v; want %q, %s", tt.dsn, tt.file, got.Reveal(), err, tt.want, tt.wantErr)
		}
	}
}

// The file is read once, and only if something in it is asked for.
func TestConfigIsReadOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	c := NewConfig(file, env(nil))
	if err := os.WriteFile(file, []byte("[[source]]\nname='north'\ndsn='sqlite:n.db'\n[registry]\ndsn='sqlite:f.db'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err1 := c.DSN("north")
	err2 := os.Remove(file)
	dsn, err3 := c.DSN("north")
	registry, err4 := c.Registry("")
	if err := errors.Join(err1, err2, err3, err4); err != nil || dsn.Reveal() != "sqlite:n.db" || registry.Reveal() != "sqlite:f.db" {
		t.Errorf("got %q, %q, %v", dsn.Reveal(), registry.Reveal(), err)
	}
}

// Problems with what the file says of the tables are errors of every tool.
func TestConfigReadsRules(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(file, []byte("[check]\nplan = ['a.b']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := NewConfig(file, env(nil))
	_, err1 := c.DSN("north")
	_, err2 := c.Registry("")
	for _, err := range []error{err1, err2} {
		if err == nil || !strings.Contains(err.Error(), `config.toml:2: unknown key plan (did you mean "plain"?)`) {
			t.Errorf("got %v", err)
		}
	}
}
