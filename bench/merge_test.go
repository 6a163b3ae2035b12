package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
)

func TestMerge(t *testing.T) {
	for i, c := range mergeCases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			o := short(t, "^"+c.title)
			o.mergeRounds, o.mergePlayers = 1, 500*c.part
			sections, err := c.measure(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			rows := sections[0].rows
			if len(rows) == 1 && rows[0].what == "not measured" {
				t.Skip(rows[0].note)
			}
			goals := make(map[string]string)
			for _, r := range rows {
				if r.measured == "" && r.ratio == "" {
					t.Errorf("nothing measured: %+v", r)
				}
				goals[r.what] = r.goal
			}
			want := map[string]string{mergeApply: fmt.Sprintf("≤ %.2f", c.apply), mergeText: fmt.Sprintf("≤ %.2f", c.text), mergeMemory: "≤ 150 MiB", mergeUndo: "≤ 0.05"}
			if c.all > 0 {
				want[mergeAll] = fmt.Sprintf("≤ %.2f", c.all)
			}
			if c.collide {
				want[mergeApart], want[mergePlan] = "≤ 1.10", "≤ 2.00"
			}
			for what, goal := range want {
				if goals[what] != goal {
					t.Errorf("%q has the goal %q, want %q", what, goals[what], goal)
				}
			}
			for _, part := range []string{"of 2,500 rows", "innodb_flush_log_at_trx_commit=1", "innodb_doublewrite=ON"} {
				if !strings.Contains(sections[0].intro, part) {
					t.Errorf("the introduction lacks %q: %s", part, sections[0].intro)
				}
			}
		})
		if sections, err := c.measure(t.Context(), short(t, "Storage")); err != nil || sections != nil {
			t.Errorf("not asked for, and got %v, %v", sections, err)
		}
	}
}

func TestMergeWithoutDump(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	sections, err := mergeCases[0].measure(t.Context(), short(t, "Merge on"))
	if err != nil || len(sections) != 1 || len(sections[0].rows) != 1 {
		t.Fatalf("got %v, %v; want one row", sections, err)
	}
	if r := sections[0].rows[0]; r.what != "not measured" || !strings.Contains(r.note, "apt-get install mariadb-client") {
		t.Errorf("got %+v", r)
	}
}

func TestMergeRows(t *testing.T) {
	b := &mergeBench{
		mergeCase: mergeCase{withLoader: true, collide: true, apply: 0.55, text: 1, all: 1, undo: 0.1},
		reference: mergeByDump,
		worlds:    &mergeWorlds{players: 200_000},
		dumped:    []float64{10, 12},
		loaded:    []float64{8, 9},
		read:      []float64{2, 2},
		took:      took{planned: []float64{5, 5}, applied: []float64{11, 10}, verified: []float64{4, 4}, undone: []float64{1, 2}},
		texts:     took{applied: []float64{10, 12}},
		apart:     took{applied: []float64{10, 10}},
		memory:    150 << 20,
	}
	want := []row{
		{what: mergeByDump, measured: "11.0 s", ratio: "1.00", note: "91 k rows/s"},
		{what: mergeLoader, measured: "8.5 s", ratio: "0.78", spread: "0.76-0.79", note: "118 k rows/s; this version makes indexes first"},
		{what: mergeApply, measured: "10.5 s", ratio: "0.97", spread: "0.90-1.03", goal: "≤ 0.55", holds: "no", note: "95 k rows/s"},
		{what: mergeText, measured: "11.0 s", ratio: "1.00", spread: "1.00-1.00", goal: "≤ 1.00", holds: "yes", note: "91 k rows/s"},
		{what: "  ÷ " + mergeLoader, ratio: "1.24", spread: "1.18-1.31", goal: "≤ 0.90", holds: "no"},
		{what: "  local_infile=OFF ÷ the same", ratio: "1.29", spread: "1.27-1.31", goal: "≤ 1.05", holds: "no"},
		{what: mergeApart, ratio: "1.05", spread: "1.02-1.08", goal: "≤ 1.10", holds: "yes"},
		{what: mergeMemory, measured: "150 MiB", goal: "≤ 150 MiB", holds: "yes", note: "of all rounds"},
		{what: mergeRead, measured: "2.0 s", note: "500 k rows/s; by the same driver"},
		{what: mergePlan, measured: "5.0 s", ratio: "2.50", spread: "2.50-2.50", goal: "≤ 2.00", holds: "no", note: "200 k rows/s; the whole check, and a sum over every row; the ratio is to reading"},
		{what: mergeVerify, measured: "4.0 s", note: "250 k rows/s; PASS"},
		{what: mergeAll, ratio: "1.79", spread: "1.69-1.90", goal: "≤ 1.00", holds: "no"},
		{what: mergeUndo, measured: "1.5 s", ratio: "0.15", spread: "0.12-0.17", goal: "≤ 0.10", holds: "no", note: "667 k rows/s; the ratio is to its apply"},
	}
	equalRows(t, b.table(), want)

	b.memory = 150<<20 + 1
	b.loader.missing = exec.ErrNotFound
	b.collide = false
	got := b.table()
	if len(got) != 9 || got[1].note != exec.ErrNotFound.Error() || got[4].holds != "no" || got[5].ratio != "" {
		t.Errorf("without a peer, keys that collide and room: %+v", got)
	}
	b.memory = 0
	if got := b.table()[4]; got.holds != "" || got.note == "" {
		t.Errorf("memory that nobody knows: got %+v", got)
	}
}

// TestProofFails has a tool that says what verify says of a merge that is not
// as planned, and one that could not look.
func TestProofFails(t *testing.T) {
	for _, test := range []struct {
		script string
		wrong  bool
	}{
		{"echo 'FAIL  it differs'; exit 1", true},
		{"echo 'no verdict'; exit 2", false},
	} {
		_, err := short(t, "").measureSection("", "", nil, func(m *measuring) {
			b := &mergeBench{measuring: m, tool: tool{program: shellScript(t, test.script)}}
			b.step(t.Context(), &b.verified, "verify", b.tool.plan)
		})
		if _, ok := errors.AsType[*wrong](err); err == nil || ok != test.wrong {
			t.Errorf("%s: got %v", test.script, err)
		}
		if says := strings.Split(test.script, "'")[1]; err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("the error lacks %q: %v", says, err)
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

// TestLoadIsLookedAt has a dump that arrives in part only.
func TestLoadIsLookedAt(t *testing.T) {
	sections, err := short(t, "").measureSection("", "", nil, func(m *measuring) {
		w := &mergeWorlds{measuring: m, server: startServer(t.Context(), m, servertest.MariaDB), players: 100, tables: mergeTables}
		w.fill(t.Context())
		w.create(t.Context(), loadedWorld).Close()
		copyOf := func(world string) {
			for _, table := range mergeTables {
				// The players first, so no row refers to nothing.
				m.must(execute(t.Context(), w, fmt.Sprintf("INSERT INTO %s.%s SELECT * FROM %s.%[2]s", loadedWorld, table, world)))
			}
		}
		copyOf(homeWorld)
		w.rest(t.Context())
		_, err := m.measureSection("", "", nil, func(inner *measuring) {
			half := *w
			half.measuring = inner
			half.complete(t.Context(), loadedWorld, sourceWorld)
		})
		if err == nil || !strings.Contains(err.Error(), "1000 rows, want 1100") {
			t.Errorf("half was loaded: got %v", err)
		}
		copyOf(sourceWorld)
		w.complete(t.Context(), loadedWorld, sourceWorld)
	})
	if err != nil {
		t.Fatal(err)
	}
	if rows := sections[0].rows; len(rows) > 0 {
		t.Skip(rows[0].note)
	}
}

// TestWatchMemory has a child with less memory than this process.
func TestWatchMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell")
	}
	if os.Getenv("BENCH_TEST_MEMORY") != "" {
		touch(32 << 20)
		debug.FreeOSMemory() // it counts although it is gone
		fmt.Println("there")
		io.Copy(io.Discard, os.Stdin)
		return
	}
	ours := touch(256 << 20)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWatchMemory$")
	cmd.Env = append(os.Environ(), "BENCH_TEST_MEMORY=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	got := watchMemory(cmd.Process.Pid)() >> 20
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got < 32 || got >= 256 {
		t.Errorf("a process that had 32 MiB and its program is said to have had %d MiB", got)
	}
	runtime.KeepAlive(ours)
}

// touch returns memory that is really there.
func touch(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += os.Getpagesize() {
		b[i] = 1
	}
	return b
}

func shellScript(t *testing.T, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSQLiteMerge(t *testing.T) {
	o := short(t, "Merge on SQLite")
	o.mergePlayers = 2500
	sections, err := sqliteMerge(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	rows := sections[0].rows
	if len(rows) == 1 && rows[0].what == "not measured" {
		t.Skip(rows[0].note)
	}
	if rows[0].what != mergeByShell || rows[1].what != mergeApply || rows[1].goal != "≤ 0.50" || rows[1].ratio == "" {
		t.Errorf("got %+v", rows)
	}
	t.Setenv("PATH", t.TempDir())
	sections, err = sqliteMerge(t.Context(), o)
	if err != nil || len(sections) != 1 || len(sections[0].rows) != 1 || !strings.Contains(sections[0].rows[0].note, "apt-get install sqlite3") {
		t.Errorf("without the shell: got %v, %v", sections, err)
	}
}

func TestLargeMerge(t *testing.T) {
	o := short(t, "larger than the memory")
	o.mergeRounds = 1
	if sections, err := mariadbLarge(t.Context(), o); err != nil || sections != nil {
		t.Errorf("not asked for, and got %v, %v", sections, err)
	}
	o.large = true
	sections, err := mariadbLarge(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	rows := sections[0].rows
	if len(rows) == 1 && rows[0].what == "not measured" {
		t.Skip(rows[0].note)
	}
	if rows[1].what != largeVast || rows[1].goal != "≤ 5.00" || rows[1].ratio == "" {
		t.Errorf("got %+v", rows)
	}
}
