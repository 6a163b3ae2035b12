package clitest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/odddsn"
	"mergesafe/tools/internal/cli"
)

// Secrets gives a tool odd DSNs at each place of each command line: as each argument, as the value of
// each flag, as an unknown flag, and as what a file or variable of the environment has. Neither the
// output nor a file that is left may show a password. args are the arguments that a command takes, by its
// full name; a command without any is run with none. files are files with § in the place of the DSN,
// and the command lines that read them.
//
// With every, each DSN is tried at each place, else only every nineteenth, a different one at each place.
func Secrets(t *testing.T, run func(context.Context, []string, cli.Env, io.Writer, io.Writer) cli.Code, root *cliv3.Command, args map[string][]string, every bool) {
	t.Helper()
	var lines [][]string // with § where the DSN is
	for _, cmd := range leaves(root) {
		line := strings.Fields(cmd.FullName())
		good, known := args[cmd.FullName()]
		if !known {
			t.Errorf("%s: want its arguments", cmd.FullName())
		}
		for i := range good {
			one := slices.Clone(good)
			one[i] = "§"
			lines = append(lines, slices.Concat(line, one))
			if i > 0 { // and without those behind
				lines = append(lines, slices.Concat(line, one[:i+1]))
			}
		}
		lines = append(lines, slices.Concat(line, []string{"§"}), slices.Concat(line, good, []string{"§"}), slices.Concat(line, []string{"-json", "-log", "json", "§", "§"}))
		lines = append(lines, slices.Concat(line, good, []string{"-x§"}), slices.Concat(line, good, []string{"-x", "§"}), slices.Concat(line, good, []string{"-x=§"}))
		for _, f := range slices.Concat(cmd.Flags, []cliv3.Flag{&cliv3.StringFlag{Name: "log"}, &cliv3.StringFlag{Name: "color"}}) {
			lines = append(lines, slices.Concat(line, []string{"-" + f.Names()[0] + "=§"}, good))
			if _, is := f.(*cliv3.BoolFlag); !is {
				lines = append(lines, slices.Concat(line, []string{"-" + f.Names()[0], "§"}, good))
			}
		}
	}
	lines = append(lines, []string{root.Name, "§"}, []string{root.Name, "-help", "§"}, []string{root.Name, "-completion", "§"}, []string{root.Name, "-complete", "§"})
	dsns := odddsn.Each()
	tried := 0
	for at, line := range lines {
		for i, dsn := range dsns {
			if (i+at)%19 != 0 && !every {
				continue
			}
			given := slices.Clone(line)
			for j, word := range given {
				given[j] = strings.ReplaceAll(word, "§", dsn)
			}
			tried++
			SecretLine(t, run, given)
		}
	}
	t.Logf("%d command lines, %d DSNs, %d runs", len(lines), len(dsns), tried)
	SecretFiles(t)
}

// SecretLine runs one command line, whose password may not be shown.
func SecretLine(t *testing.T, run func(context.Context, []string, cli.Env, io.Writer, io.Writer) cli.Code, line []string) {
	t.Helper()
	var out bytes.Buffer
	env := func(string) (string, bool) { return "", false }
	code := run(t.Context(), line, env, &out, &out)
	if part := odddsn.Shown(out.String()); part != "" {
		t.Errorf("%.300q ends with %d and shows ...%s...", line, code, part)
	}
}

// SecretFiles looks at what is in the working directory: no name and no text may have a password.
func SecretFiles(t *testing.T) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if part := odddsn.Shown(string(text)); part != "" {
			t.Errorf("the file %q has ...%s...", path, part)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func leaves(cmd *cliv3.Command) (all []*cliv3.Command) {
	if len(cmd.Commands) == 0 || cmd.Name == "ranges" || cmd.Name == "places" {
		all = append(all, cmd)
	}
	for _, sub := range cmd.Commands {
		all = append(all, leaves(sub)...)
	}
	return all
}

var _ = fmt.Sprint
