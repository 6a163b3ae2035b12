package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	measured := func(title string, err error) part {
		return func(_ context.Context, o options) ([]section, error) {
			if !o.wants(title, "row") {
				return nil, nil
			}
			return []section{{title: title, rows: []row{{what: "row of " + title}}}, {title: "empty"}}, err
		}
	}
	broken := &wrong{"1 duplicate"}
	failure := errors.New("no disk")
	for _, test := range []struct {
		name           string
		args           []string
		parts          []part
		code           int
		shown, notInIt []string // in the output
		stderr         string
	}{
		{"all", nil, []part{measured("A", nil), measured("B", nil)}, 0, []string{"row of A", "row of B", "Measured on "}, []string{"empty"}, ""},
		{"only", []string{"-only", "^B: r"}, []part{measured("A", nil), measured("B", nil)}, 0, []string{"row of B"}, []string{"row of A"}, ""},
		{"broken promise", nil, []part{measured("A", broken), measured("B", nil)}, exitWrong, []string{"row of A", "row of B"}, nil, "broken promise: 1 duplicate"},
		{"failure", nil, []part{measured("A", nil), measured("B", failure), measured("C", nil)}, exitCannot, []string{"row of A", "row of B"}, []string{"row of C"}, "no disk"},
		{"nothing", []string{"-only", "Z"}, []part{measured("A", nil)}, exitCannot, nil, nil, `"Z" matches no row`},
		{"bad expression", []string{"-only", "("}, nil, exitCannot, nil, nil, "-only"},
		{"bad flag", []string{"-fast"}, nil, exitCannot, nil, nil, "usage: bench"},
		{"argument", []string{"quick"}, nil, exitCannot, nil, nil, `unexpected argument "quick"`},
		{"bad file", []string{"-markdown", filepath.Join(t.TempDir(), "no", "file")}, nil, exitCannot, nil, nil, "no such file"},
		{"help", []string{"-h"}, nil, 0, nil, nil, "Exit code"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			if code := run(t.Context(), test.args, &stdout, &stderr, test.parts); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			for _, s := range test.shown {
				if !strings.Contains(stdout.String(), s) {
					t.Errorf("the output lacks %q:\n%s", s, stdout.String())
				}
			}
			for _, s := range test.notInIt {
				if strings.Contains(stdout.String(), s) {
					t.Errorf("the output has %q:\n%s", s, stdout.String())
				}
			}
			if !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("standard error lacks %q:\n%s", test.stderr, stderr.String())
			}
		})
	}
	t.Run("markdown", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "table.md")
		if code := run(t.Context(), []string{"-markdown", file}, io.Discard, io.Discard, []part{measured("A", nil)}); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		got, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(got), "| row of A |") {
			t.Errorf("got %q, %v", got, err)
		}
	})
}
