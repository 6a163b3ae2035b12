package clitest

import (
	"bytes"
	"context"
	"flag"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/gameid"
	"mergesafe/internal/odddsn"
	"mergesafe/internal/printable"
	"mergesafe/internal/servertest"
	"mergesafe/store/storetest"
	"mergesafe/tools/internal/cli"
)

var secretRuns = flag.Int("secret.runs", servertest.Scale(300, 75_000), "about how many command lines with an odd DSN are tried")

// Tool is the function of a tool.
type Tool = func(context.Context, []string, cli.Env, io.Writer, io.Writer) cli.Code

// CommandLines gives a tool odd DSNs at each place of each command line: as each argument, as the value of
// each flag, as an unknown flag. Neither the output nor a file that is left may show a password. args are
// the arguments that a command takes, by its full name. Each place has some of the DSNs, and each DSN has some
// of the places.
func CommandLines(t *testing.T, run Tool, root *cliv3.Command, args map[string][]string) {
	t.Helper()
	var lines [][]string // with § where the DSN is
	commands := make(map[string]*cliv3.Command)
	leaves(root, root.Name, commands)
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		cmd, line := commands[name], strings.Fields(name)
		good, known := args[name]
		if !known {
			t.Errorf("%s: want its arguments", name)
		}
		if slices.ContainsFunc(cmd.Flags, func(f cliv3.Flag) bool { return f.Names()[0] == "patience" }) {
			line = append(line, "-patience=1ms")
		}
		for i := range good {
			one := slices.Clone(good)
			one[i] = "§"
			lines = append(lines, slices.Concat(line, one))
			if i > 0 { // and without those behind
				lines = append(lines, slices.Concat(line, one[:i+1]))
			}
		}
		lines = append(lines, slices.Concat(line, []string{"§"}), slices.Concat(line, good, []string{"§"}),
			slices.Concat(line, []string{"-json", "-log", "json", "§", "§"}))
		lines = append(lines, slices.Concat(line, good, []string{"-x§"}), slices.Concat(line, good, []string{"-x",
			"§"}), slices.Concat(line, good, []string{"-x=§"}))
		for _, f := range slices.Concat(cmd.Flags, []cliv3.Flag{&cliv3.StringFlag{Name: "log"},
			&cliv3.StringFlag{Name: "color"}}) {
			lines = append(lines, slices.Concat(line, []string{"-" + f.Names()[0] + "=§"}, good))
			if _, is := f.(*cliv3.BoolFlag); !is {
				lines = append(lines, slices.Concat(line, []string{"-" + f.Names()[0], "§"}, good))
			}
		}
	}
	lines = append(lines, []string{root.Name, "§"}, []string{root.Name, "-help", "§"}, []string{root.Name,
		"-completion", "§"}, []string{root.Name, "-complete", "§"})
	dsns := odddsn.Each()
	step := max(1, len(dsns)*len(lines) / *secretRuns)
	tried := 0
	for at, line := range lines {
		for i, dsn := range dsns {
			if (i+at)%step != 0 {
				continue
			}
			given := slices.Clone(line)
			for j, word := range given {
				given[j] = strings.ReplaceAll(word, "§", dsn)
			}
			tried++
			if shown := shownBy(t, run, given, dsn); shown != "" {
				t.Errorf("%.300q shows ...%s...", given, shown)
			}
		}
	}
	t.Logf("%d command lines, %d DSNs, %d runs", len(lines), len(dsns), tried)
	files(t)
}

// shownBy runs one command line, and returns what it shows of a password; "" if nothing.
func shownBy(t *testing.T, run Tool, line []string, odd string) string {
	t.Helper()
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	run(ctx, line, func(name string) (string, bool) { return odd, name == "ODD" }, &out, &out)
	return odddsn.Shown(out.String())
}

// files looks at what is in the working directory: no name and no text may have a password.
func files(t *testing.T) {
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

// leaves finds the commands that do something, by their full names.
func leaves(cmd *cliv3.Command, name string, all map[string]*cliv3.Command) {
	if len(cmd.Commands) == 0 || len(cmd.Flags) > 1 {
		all[name] = cmd
	}
	for _, sub := range cmd.Commands {
		leaves(sub, name+" "+sub.Name, all)
	}
}

// Worlds makes two worlds in a new working directory, whose config.toml knows them as w1 and w2.
func Worlds(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	text := ""
	for i, name := range []string{"w1", "w2"} {
		if err := storetest.MakeWorld(t.Context(), "sqlite:"+name+".db", gameid.ServerID(i+1), 3, name); err != nil {
			t.Fatal(err)
		}
		text += "[[source]]\nname = \"" + name + "\"\ndsn = \"sqlite:" + name + ".db\"\n"
	}
	if err := os.WriteFile("config.toml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Texts writes odd DSNs at each place of a file of TOML: as the value of each key of each
// section, in quotes and without, in a list, as a key, and in place of a line. Each of the command lines
// reads the file.
func Texts(t *testing.T, run Tool, file string, sections []string, lines ...[]string) {
	t.Helper()
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string // with § where the DSN is
	for _, section := range sections {
		for _, key := range keysOf(t, run, file, section, lines) {
			for _, value := range []string{"§", "\"§\"", "[\"§\"]", "{ x = \"§\" }", "[1, \"a\", \"§\"]"} {
				texts = append(texts, section+"\n"+key+" = "+value+"\n")
			}
		}
		texts = append(texts, section+"\n§ = 1\n", section+"\n\"§\" = 1\n", section+"\n§\n",
			section+"\n# §\nx = = §\n", strings.Replace(section, "]", ".\"§\"]", 1)+"\n", "§"+section+"\n")
	}
	File(t, run, file, string(before), texts, lines...)
}

// File writes odd DSNs at each place of a file, and into the environment variable ODD. Each text
// comes behind what the file has; § is the place. Each of the command lines reads the file.
func File(t *testing.T, run Tool, file, before string, texts []string, lines ...[]string) {
	t.Helper()
	dsns := odddsn.Each()
	step := 1 + len(dsns)*len(texts)*len(lines)/max(300, 2*len(texts)*len(lines))
	tried := 0
	for at, text := range texts {
		for i, dsn := range dsns {
			if (i+at)%step != 0 {
				continue
			}
			written := dsn
			if strings.Contains(text, `"§"`) {
				written = strings.Trim(printable.TOML(dsn), `"`)
			}
			text := strings.ReplaceAll(text, "§", written)
			if err := os.WriteFile(file, []byte(before+text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, line := range lines {
				tried++
				if shown := shownBy(t, run, line, dsn); shown != "" {
					t.Errorf("%.300q with %.300q shows ...%s...", line, text, shown)
				}
			}
		}
	}
	t.Logf("%d places in %s, %d runs", len(texts), file, tried)
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	files(t)
}

// keysOf are the keys that a section knows, as the error of one says that it does not.
func keysOf(t *testing.T, run Tool, file, section string, lines [][]string) []string {
	t.Helper()
	before, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(string(before)+section+"\nzzzzzzzz = 1\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	run(t.Context(), lines[0], func(string) (string, bool) { return "", false }, &out, &out)
	if err := os.WriteFile(file, before, 0o600); err != nil {
		t.Fatal(err)
	}
	_, known, found := strings.Cut(out.String(), "unknown key zzzzzzzz: ")
	known, _, _ = strings.Cut(known, "\n")
	_, known, listed := strings.Cut(known, " has ")
	if !found || !listed {
		t.Fatalf("%s: no keys are known: %s", section, out.String())
	}
	return strings.Split(known, ", ")
}
