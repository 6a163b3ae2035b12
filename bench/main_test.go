package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	measured := func(title string, err error) part {
		return part{title, func(context.Context, options) ([]section, error) {
			return []section{{title: title, rows: []row{{what: "row of " + title}}}}, err
		}}
	}
	parts := []part{measured("A", nil), measured("B", errors.New("no disk")), measured("C", fmt.Errorf("%w: no such program", errNoProgram))}
	for _, test := range []struct {
		name           string
		args           []string
		code           int
		shown, notInIt []string // in the output
		stderr         string
	}{
		{"all", nil, 1, []string{"row of A", "row of B", "**C**", "not installed: no such program", "Measured on "}, []string{"row of C"}, "B: no disk"},
		{"only", []string{"-only", "A|C"}, 0, []string{"| row of A "}, []string{"row of B"}, ""},
		{"bad expression", []string{"-only", "("}, 1, nil, []string{"Measured"}, "-only"},
		{"bad flag", []string{"-fast"}, 1, nil, []string{"Measured"}, "-fast"},
		{"argument", []string{"quick"}, 1, nil, []string{"Measured"}, `"quick"`},
		{"help", []string{"-h"}, 0, nil, []string{"Measured"}, "-quick"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			if code := run(t.Context(), test.args, &stdout, &stderr, parts); code != test.code {
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
}

// short are options under which numbers mean nothing.
func short(t *testing.T) options {
	p := pace{rounds: 1, slice: time.Millisecond}
	return options{dir: t.TempDir(), ids: p, storage: p, stock: 2000, characters: 300, rounds: 2, log: t.Logf}
}

// complete fails the test unless all rows have a value.
func complete(t *testing.T, sections []section, err error, rows int) {
	t.Helper()
	if errors.Is(err, errNoProgram) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		for _, r := range s.rows {
			if rows--; r.measured == "" && !strings.Contains(r.note, "apt-get") {
				t.Errorf("%s: nothing measured: %+v", s.title, r)
			}
		}
	}
	if rows != 0 {
		t.Errorf("%d rows too few: %+v", rows, sections)
	}
}

func TestIDs(t *testing.T) {
	sections, err := ids(t.Context(), short(t))
	complete(t, sections, err, 14+14+11+11)
}

func TestSQLiteStorage(t *testing.T) {
	sections, err := sqliteStorage(t.Context(), short(t))
	complete(t, sections, err, 6)
}
