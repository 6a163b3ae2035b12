package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge"
	"mergesafe/merge/report"
	"mergesafe/store"
	"mergesafe/store/storetest"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

// What a tool says of a server is tried on MySQL; what a merge does, on MariaDB.
func init() { servertest.Prefer(servertest.MySQL) }

// result is what one run of the program gave.
type result struct {
	code           cli.Code
	stdout, stderr string
}

func servermerge(ctx context.Context, args ...string) result {
	var stdout, stderr bytes.Buffer
	noEnv := func(string) (string, bool) { return "", false }
	code := run(ctx, append([]string{"servermerge"}, args...), noEnv, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// ran is servermerge for what must end with a code.
func ran(t *testing.T, want cli.Code, args ...string) result {
	t.Helper()
	r := servermerge(t.Context(), args...)
	if r.code != want {
		t.Fatalf("%v: exit code %d, want %d\n%s%s", args[0], r.code, want, r.stdout, r.stderr)
	}
	return r
}

// worlds makes two game databases, of the servers 1 and 2.
func worlds(t *testing.T, dsns ...string) {
	t.Helper()
	for i, dsn := range dsns {
		if err := storetest.MakeWorld(t.Context(), dsn, gameid.ServerID(i+1), 20, string(rune('a'+i))); err != nil {
			t.Fatal(err)
		}
	}
}

// into is the new database of the plan in a file.
func into(plan string) string { return "sqlite:" + filepath.Join(filepath.Dir(plan), "new.db") }

func files(t *testing.T) (s1, s2, plan string) {
	dir := t.TempDir()
	s1, s2 = "sqlite:"+filepath.Join(dir, "s1.db"), "sqlite:"+filepath.Join(dir, "s2.db")
	worlds(t, s1, s2)
	return s1, s2, filepath.Join(dir, "plan.json")
}

// Documents are what the help on JSON says: one, strictly read, of version 1.
func TestJSON(t *testing.T) {
	s1, s2, file := files(t)
	r := ran(t, cli.OK, "plan", "-into", into(file), "-json", "-o", file, s1, s2)
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := merge.ReadPlan(strings.NewReader(r.stdout)) // which may be kept as a plan
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	if err := plan.Write(&kept); err != nil {
		t.Fatal(err)
	}
	if kept.String() != string(written) || !strings.HasPrefix(r.stderr, "servermerge: opening sqlite:") || strings.Count(r.stderr, "\n") != 3 {
		t.Errorf("-json prints another plan than -o writes; stderr %q", r.stderr)
	}
	for _, tt := range []struct {
		command string
		code    cli.Code
		right   func(d *report.Outcome) bool
	}{
		{"status", cli.OK, func(d *report.Outcome) bool {
			return d.Status.State == merge.StateNone && !d.Status.Fences[0].Fenced
		}},
		{"apply", cli.OK, func(d *report.Outcome) bool { return cmp.Equal(*d.Applied, report.Applied{Rows: 80, RowsNow: 80}) }},
		{"status", cli.Stopped, func(d *report.Outcome) bool { return d.Status.State == merge.StateMade && d.Status.Copied() == 80 }},
		{"verify", cli.OK, func(d *report.Outcome) bool {
			return d.Proof.Verdict == "PASS" && len(d.Proof.Tables) == 4 && len(d.Phases) > 1 && d.Phases[0].Step == merge.StepVerify && !d.Phases[0].Began.IsZero()
		}},
		{"apply", cli.OK, func(d *report.Outcome) bool {
			return d.Applied.Rows == 80 && d.Applied.Resumed && d.Applied.RowsNow == 0 && d.Applied.Began != nil
		}},
		{"open", cli.OK, func(d *report.Outcome) bool { return len(d.Opened.Lifted) == 1 }},
		{"undo", cli.OK, func(d *report.Outcome) bool { return d.Undone.Dropped && len(d.Undone.Lifted) == 2 }},
	} {
		r := ran(t, tt.code, tt.command, "-json", file)
		var d struct {
			report.Outcome
			View report.View `json:"view"`
		}
		decoder := json.NewDecoder(strings.NewReader(r.stdout))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&d); err != nil {
			t.Fatalf("%s: %v", tt.command, err)
		}
		if d.Version != 1 || d.Command != tt.command || d.PlanID != plan.ID || tt.code == cli.OK && d.Ending != report.Done || decoder.More() {
			t.Errorf("%s: %s", tt.command, r.stdout)
		} else if !tt.right(&d.Outcome) || d.View.Sentence == "" {
			t.Errorf("%s: %s", tt.command, r.stdout)
		}
	}
}

// An open merge that a killed undo has closed is not done: a command has to follow.
func TestStatusOfAClosedMerge(t *testing.T) {
	s1, s2, file := files(t)
	ran(t, cli.OK, "plan", "-into", into(file), "-o", file, s1, s2)
	ran(t, cli.OK, "apply", file)
	db, err := sqldb.Dial(t.Context(), into(file), sqldb.ReadWrite)
	storetest.Must(t, err)
	defer db.Close()
	var gate string
	storetest.Must(t, db.Get(t.Context(), &gate, "SELECT holder FROM gameid_servers WHERE server_id = 1"))
	ran(t, cli.OK, "open", file)
	_, err = db.Exec(t.Context(), "UPDATE gameid_servers SET holder = ? WHERE server_id = 1", gate)
	storetest.Must(t, err)
	if r := ran(t, cli.Stopped, "status", file); !strings.Contains(r.stdout, "an undo has closed it") {
		t.Error(r.stdout)
	}
}

// While a game server runs on one of the databases nothing is begun.
func TestServerRuns(t *testing.T) {
	s1, s2, file := files(t)
	ran(t, cli.OK, "plan", "-into", into(file), "-o", file, s1, s2)
	db, err := store.Open(t.Context(), s2)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	node, err := db.OpenNode(t.Context(), 2, storetest.NodeOptions)
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	r := ran(t, cli.Conflicts, "apply", file)
	if !strings.HasPrefix(r.stdout, "REFUSED  nothing was changed now\n") || !strings.Contains(r.stdout, "server 2 runs") {
		t.Errorf("%+v", r)
	}
	if r := ran(t, cli.OK, "status", file); !strings.HasPrefix(r.stdout, "PLAN AGAIN") {
		t.Errorf("%+v", r)
	}
	if r := ran(t, cli.Conflicts, "plan", "-into", into(file), s1, s2); !strings.Contains(r.stdout, "server 2 runs") || !strings.Contains(r.stdout, "then plan again") {
		t.Errorf("%+v", r)
	}
	if err := node.Close(); err != nil {
		t.Fatal(err)
	}
	ran(t, cli.OK, "plan", "-into", into(file), s1, s2)
}

// Accounts that may only read are enough for plan and status. apply
// refuses before the first write. With the rights that the help names all commands
// do their work. No password is ever seen.
func TestRights(t *testing.T) {
	dsn1, dsn2 := servertest.DSN(t), servertest.DSN(t)
	worlds(t, "mysql:"+dsn1, "mysql:"+dsn2)
	var passwords []string
	account := func(rights, dsn string) string {
		granted := servertest.Grant(t, rights, dsn)
		c, err := mysql.ParseDSN(granted)
		if err != nil {
			t.Fatal(err)
		}
		passwords = append(passwords, c.Passwd)
		return "mysql:" + granted
	}
	dsn3 := servertest.DSN(t)
	const sees = "SELECT, SHOW VIEW, TRIGGER, EVENT, EXECUTE"
	readers := []string{account("SELECT", dsn3), account(sees, dsn1), account("SELECT", dsn2)}
	writers := []string{account("ALL", dsn3), account(sees+", UPDATE, ALTER, CREATE", dsn1), account("SELECT, UPDATE", dsn2)}
	file := filepath.Join(t.TempDir(), "plan.json")
	with := func(command string, dsns []string) []string { return append([]string{command, file}, dsns...) }
	var said strings.Builder
	note := func(r result) result { said.WriteString(r.stdout + r.stderr); return r }

	note(ran(t, cli.OK, append([]string{"plan", "-o", file, "-into"}, readers...)...))
	r := note(ran(t, cli.Conflicts, with("apply", readers)...))
	if !strings.HasPrefix(r.stdout, "REFUSED  nothing was changed now\n") || !strings.Contains(r.stdout, "lacks rights") {
		t.Errorf("%+v", r)
	}
	if r := note(ran(t, cli.OK, with("status", readers)...)); !strings.HasPrefix(r.stdout, "NOT BEGUN") {
		t.Errorf("%+v", r)
	}
	// The names of the plan are no DSNs.
	if r := note(ran(t, cli.Incomplete, "apply", file)); !strings.Contains(r.stderr, "give the databases again, in the order of the plan") {
		t.Errorf("%+v", r)
	}
	note(ran(t, cli.OK, with("apply", writers)...))
	note(ran(t, cli.OK, with("verify", writers)...))
	note(ran(t, cli.OK, with("open", writers)...))
	note(ran(t, cli.OK, with("undo", writers)...))
	plan, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	said.Write(plan)
	for _, password := range passwords {
		if strings.Contains(said.String(), password) {
			t.Error("a password is seen")
		}
	}
}

// An interrupt leaves neither a plan nor a verdict.
func TestInterrupted(t *testing.T) {
	s1, s2, file := files(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		args []string
		want result
	}{
		{[]string{"plan", "-into", into(file), "-o", file, s1, s2}, result{cli.Incomplete, "", "servermerge: interrupted: no plan\n"}},
		{[]string{"status", file}, result{cli.Incomplete, "", "servermerge: interrupted: no status\n"}},
		{[]string{"verify", file}, result{cli.Incomplete, "", "servermerge: interrupted: no verdict\n"}},
	} {
		got := servermerge(ended, tt.args...)
		if opening, rest, _ := strings.Cut(got.stderr, "\n"); strings.HasPrefix(opening, "servermerge: opening ") {
			got.stderr = rest
		}
		if got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.args[0], got, tt.want)
		}
		if _, err := os.Stat(file); tt.args[0] == "plan" && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a file is there without a plan: %v", err)
		}
		if tt.args[0] == "plan" {
			ran(t, cli.OK, tt.args...)
		}
	}
}

// However many databases there are, -pause is one pause for a batch.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := []merge.Database{{Name: "s1", DSN: "sqlite:s1.db"}, {Name: "s2", DSN: "sqlite:s2.db"}}
		s := newSparer(databases.Throttle{Pause: time.Second, MaxLoad: 1}, all, func(string, int) { t.Error("SQLite has no server to be busy") })
		defer s.close()
		began := time.Now()
		for range 10 {
			if err := s.wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("10 batches rested for %s", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("an interrupted rest: %v", err)
		}
	})
}

// A server tells how busy it is. One that does not answer is left to those who
// work with it.
func TestLoad(t *testing.T) {
	l := &load{database: merge.Database{Name: "s1", DSN: "mysql:" + servertest.DSN(t)}}
	if n, err := l.threads(t.Context()); n < 1 || err != nil {
		t.Errorf("%d running threads, %v", n, err)
	}
	l.source.Close()
	if n, err := l.threads(t.Context()); n != 0 || err != nil {
		t.Errorf("after its end: %d running threads, %v", n, err)
	}
	gone := &load{database: merge.Database{Name: "s2", DSN: "mysql:root:pw@tcp(127.0.0.1:1)/s2"}}
	if n, err := gone.threads(t.Context()); n != 0 || err != nil {
		t.Errorf("without a server: %d running threads, %v", n, err)
	}
}
