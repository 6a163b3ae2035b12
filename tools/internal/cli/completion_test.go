package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v3"
)

// helpProgram has a help of every kind.
func helpProgram() *cli.Command {
	root := &cli.Command{
		Name:    "prog",
		Version: "prog v1",
		Description: `
Usage: prog COMMAND [flags]

Does things. It isn't "magic".

Commands:
  copy FILE...  copy files,
                one by one
  check         look at them

A picture:

  .dots and \ strokes
    \--- here

Examples:
  prog copy a b`,
		Commands: []*cli.Command{
			{Name: "copy", Flags: []cli.Flag{&cli.StringFlag{Name: "mode"}, &cli.BoolFlag{Name: "force"}, &cli.StringFlag{Name: "to"}, &cli.BoolFlag{Name: "secret", Hidden: true}}, Description: `
Usage: prog copy [flags] FILE...

Copies.

  -mode fast|slow  how
  -force           also over
                   other files
  -to FILE         where

Example:
  prog copy a`},
			{Name: "check", Description: "Usage: prog check\n\nLooks.\n\nExample:\n  prog check"},
		},
	}
	Topics(root, map[string]string{"files": "What prog writes:\n  a  b\n"})
	Arguments(root, func() []string { return []string{"s1", "s2"} })
	return root
}

func TestCompletions(t *testing.T) {
	for words, want := range map[string]string{
		"":                    "copy\tcopy files, one by one\ncheck\tlook at them\n",
		"co":                  "copy\tcopy files, one by one\n",
		"copy ":               "s1\t\ns2\t\n",
		"copy s1 s2":          "s2\t\n",
		"copy x":              "",
		"copy -f":             "-force\talso over other files\n",
		"copy -m":             "-mode\thow\n",
		"copy -s":             "",
		"copy -mode ":         "fast\t\nslow\t\n",
		"copy -mode = sl":     "slow\t\n",
		"copy --mode fast s1": "s1\t\n",
		"copy -to ":           "",
		"copy -force -to":     "-to\twhere\n",
		"copy -color n":       "never\t\n",
		"-completion z":       "zsh\t\n",
		"-ver":                "-version\tprint the version, the commit and the version of Go\n",
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"prog", "-complete"}, strings.Split(words, " ")...)
		if code := Run(t.Context(), helpProgram(), args, &stdout, &stderr); code != OK || stderr.Len() > 0 {
			t.Errorf("%q: exit code %d, %s", words, code, &stderr)
		}
		if diff := cmp.Diff(want, stdout.String()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", words, diff)
		}
	}
}

// The scripts work in the shells that are there.
func TestCompletionScripts(t *testing.T) {
	dir := t.TempDir()
	program := "#!/bin/sh\nshift\nfor last; do :; done\ncase $last in -*) printf '%s\\t%s\\n' -mode 'how: fast' -force over;; c*) printf 'copy\\tfiles\\n';; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "prog"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	for shell, script := range map[string]string{
		"bash": `. ./script
ask() { COMP_WORDS=(prog "$@"); COMP_CWORD=$#; COMPREPLY=(); _prog prog "${!#}" x; echo "${COMPREPLY[@]}"; }
ask c; ask copy -; ask copy ''; complete -p prog`,
		"zsh": `compdef() { :; }; _describe() { print -l -- "${(@P)3}"; }; _files() { print files; }
. ./script
words=(prog c) CURRENT=2; _prog; words=(prog copy -) CURRENT=3; _prog; words=(prog copy '') CURRENT=3; _prog`,
		"fish": `source ./script
complete -C 'prog c'; complete -C 'prog copy -'`,
	} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(err)
			}
			text, err := completionScript("prog", shell)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "script"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), path, "-c", script)
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + dir}
			out, err := cmd.CombinedOutput()
			want := map[string]string{
				"bash": "copy\n-mode -force\n\ncomplete -o default -F _prog prog\n",
				"zsh":  "copy:files\n-mode:how: fast\n-force:over\nfiles\n",
				"fish": "copy\tfiles\n-force\tover\n-mode\thow: fast\n",
			}[shell]
			if diff := cmp.Diff(want, string(out)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	if _, err := completionScript("prog", "tcsh"); err == nil {
		t.Error("tcsh has a script")
	}
}
