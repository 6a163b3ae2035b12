package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
)

func TestMerge(t *testing.T) {
	servertest.Long(t)
	for name, measure := range map[string]func(context.Context, options) ([]section, error){"MariaDB": mariadbMerge, "MySQL": mysqlMerge} {
		t.Run(name, func(t *testing.T) {
			sections, err := measure(t.Context(), short(t))
			complete(t, sections, err, 7)
		})
	}
	t.Run("without the dump", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		if _, err := mariadbMerge(t.Context(), short(t)); !errors.Is(err, errNoProgram) || !strings.Contains(err.Error(), "apt-get install mariadb-client") {
			t.Error(err)
		}
	})
}

// Each command reads each row, and no oftener than was reached; the worlds have the rows that the section says. mergecheck and plan
// read names again, in their order by an index.
func TestRowsRead(t *testing.T) {
	servertest.Long(t)
	sections, err := rowsRead(t.Context(), short(t))
	complete(t, sections, err, 5)
	if !strings.Contains(sections[0].intro, " rows together") {
		t.Error(sections[0].intro)
	}
	most := map[string][2]float64{"mergecheck": {1.4, 0}, "plan": {1.6, 0}, "apply": {1.06, 0.01}, "verify": {1.05, 1.1}, "open": {1.05, 1.1}}
	for _, r := range sections[0].rows {
		var worlds, fresh float64
		_, err := fmt.Sscanf(r.measured+" "+r.note, "%g times and a row of the new database %g times", &worlds, &fresh)
		if err != nil || worlds > most[r.what][0] || fresh > most[r.what][1] || worlds < 0.9 && fresh < 0.9 {
			t.Errorf("%+v", r)
		}
	}
}

func TestConnect(t *testing.T) {
	shell := func(script string) *exec.Cmd { return exec.CommandContext(t.Context(), "sh", "-c", script) }
	for _, test := range []struct {
		name          string
		first, second string
		want          []string // in the error; none: no error
	}{
		{"both", "echo rows", "grep -q rows", nil},
		{"the first fails", "echo rows; echo 'lost the server' >&2; exit 3", "cat >&2", []string{"exit status 3", "lost the server"}},
		{"the second fails", "echo rows", "cat >&2; echo 'duplicate key' >&2; exit 4", []string{"exit status 4", "duplicate key"}},
		{"the second ends early", "while echo rows; do :; done", "exit 5", []string{"exit status 5", "broken pipe"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := connect(shell(test.first), shell(test.second))
			if (err == nil) != (test.want == nil) {
				t.Fatalf("got %v", err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error lacks %q: %v", part, err)
				}
			}
		})
	}
	for _, cmds := range [][2]*exec.Cmd{{exec.Command("/no/such/program"), shell("cat >&2")}, {shell("echo rows"), exec.Command("/no/such/program")}} {
		if err := connect(cmds[0], cmds[1]); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without one of the programs: got %v", err)
		}
	}
}
