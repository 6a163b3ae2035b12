package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"mergesafe/gameid"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/cli/clitest"
)

var record = flag.String("record", "", "a version such as v0.1.0: write into testdata what this program leaves on disk")

// fleetRun runs the program, and wants it to succeed.
func fleetRun(t *testing.T, want cli.Code, args ...string) {
	t.Helper()
	var out bytes.Buffer
	if code := run(t.Context(), append([]string{"fleet"}, args...), os.LookupEnv, &out, &out); code != want {
		t.Fatalf("fleet %q: %d\n%s", args, code, &out)
	}
}

// TestVersions goes on with what each released version left: the databases of four worlds with the tables of
// that version, one merge of them carried out and another planned, the plans, and the state of the campaign.
func TestVersions(t *testing.T) {
	if *record != "" {
		recordVersion(t, filepath.Join("testdata", *record))
	}
	versions, err := filepath.Glob("testdata/v*.*.*")
	if err != nil || len(versions) == 0 {
		t.Fatalf("versions %q, %v", versions, err)
	}
	for _, folder := range versions {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			here := t.TempDir()
			if err := os.CopyFS(here, os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			t.Chdir(here)
			fleetRun(t, cli.NotVerified, "status", "night.toml")
			fleetRun(t, cli.NotVerified, "verify", "night.toml", "w1")
			fleetRun(t, cli.OK, "apply", "night.toml")
			fleetRun(t, cli.OK, "status", "night.toml")
			fleetRun(t, cli.OK, "undo", "-all", "night.toml")
		})
	}
}

func recordVersion(t *testing.T, folder string) {
	t.Helper()
	here := t.TempDir()
	back, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(here)
	for name, text := range map[string]string{
		"config.toml": "[[source]]\nname = \"w{1..4}\"\ndsn = \"sqlite:w{1..4}.db\"\n",
		"night.toml": "[campaign]\nname = \"night\"\nstopped = \"by hand\"\nbackup = \"by hand\"\n" +
			"[[merge]]\ntarget = \"w1\"\nsources = [\"w2\"]\n" +
			"[[merge]]\ntarget = \"w3\"\nsources = [\"w4\"]\ninto = \"{target}_new\"\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"w1", "w2", "w3", "w4"} {
		if err := clitest.MakeWorld(t.Context(), "sqlite:"+name+".db", gameid.ServerID(i+1), 3, name); err != nil {
			t.Fatal(err)
		}
	}
	fleetRun(t, cli.OK, "plan", "night.toml")
	fleetRun(t, cli.NotVerified, "apply", "-yes", "night.toml", "w1")
	pages, err := filepath.Glob("*/*.html") // which no program reads
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pages {
		os.Remove(name)
	}
	if err := os.CopyFS(back, os.DirFS(here)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(filepath.Dir(back)))
}
