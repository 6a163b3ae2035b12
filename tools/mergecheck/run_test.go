package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
	"mergesafe/internal/mariadbtest"
	"mergesafe/merge"
	"mergesafe/tools/internal/cli"
)

// result is what one run of the program gave.
type result struct {
	code           cli.Code
	stdout, stderr string
}

func noEnv(string) (string, bool) { return "", false }

func mergecheck(ctx context.Context, args ...string) result {
	var stdout, stderr bytes.Buffer
	code := run(ctx, append([]string{"mergecheck"}, args...), noEnv, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// report runs mergecheck -json and reads what it prints.
func report(t *testing.T, want cli.Code, args ...string) *merge.Report {
	t.Helper()
	r := mergecheck(t.Context(), append([]string{"-json"}, args...)...)
	if r.code != want || r.stderr != "" {
		t.Fatalf("exit code %d, want %d; stderr %q", r.code, want, r.stderr)
	}
	report := new(merge.Report)
	decoder := json.NewDecoder(strings.NewReader(r.stdout))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(report); err != nil {
		t.Fatal(err)
	}
	return report
}

// count returns the conflicts of each rule and table that failed.
func failures(r *merge.Report) map[string]int64 {
	failed := make(map[string]int64)
	for _, result := range r.Results {
		if result.Verdict == merge.Fail {
			failed[strings.TrimSpace(result.Code+" "+result.Table)] = result.Count
		}
	}
	return failed
}

func world(t *testing.T, dsn string, server, count int, prefix string) {
	t.Helper()
	if err := mkworld(t.Context(), dsn, gameid.ServerID(server), count, prefix); err != nil {
		t.Fatal(err)
	}
}

func TestJSON(t *testing.T) {
	dir := t.TempDir()
	s1, s3 := "sqlite:"+filepath.Join(dir, "s1.db"), "sqlite:"+filepath.Join(dir, "s3.db")
	world(t, s1, 1, 20, "a")
	world(t, s3, 1, 10, "c")
	r := report(t, cli.Conflicts, "-samples", "2", s1, s3)
	if r.Version != merge.ReportVersion || r.Verdict != merge.Fail || r.Target != filepath.Join(dir, "s1.db") || len(r.Sources) != 2 {
		t.Errorf("version %d, verdict %s, target %q, %d sources", r.Version, r.Verdict, r.Target, len(r.Sources))
	}
	for _, result := range r.Results {
		if result.Code != merge.CodeKeyCollision || result.Table != "players" {
			continue
		}
		if len(result.Samples) != 2 || len(result.Samples[0].Rows) != 2 {
			t.Fatalf("samples %v", result.Samples)
		}
		for i, want := range []string{"a0", "c0"} {
			if got := result.Samples[0].Rows[i].Fields[2]; got != (merge.Field{Column: "name", Value: want}) {
				t.Errorf("row %d shows %v, want the name %s", i, got, want)
			}
		}
	}
}

// The account may do nothing but SELECT, and the tables are as before.
func TestMariaDB(t *testing.T) {
	var readers []string
	var checksums []func() string
	for i, w := range []struct {
		server, count int
		prefix        string
	}{{1, 300, "a"}, {2, 200, "b"}, {1, 100, "c"}, {4, 50, "Á"}} {
		dsn := mariadbtest.DSN(t)
		world(t, "mysql:"+dsn, w.server, w.count, w.prefix)
		readers = append(readers, "mysql:"+mariadbtest.Grant(t, "SELECT", dsn))
		checksums = append(checksums, func() string { return checksum(t, dsn) })
		_ = i
	}
	var before []string
	for _, c := range checksums {
		before = append(before, c())
	}
	for _, tt := range []struct {
		name    string
		worlds  []int
		code    cli.Code
		failure map[string]int64
	}{
		{"two worlds", []int{0, 1}, cli.OK, map[string]int64{}},
		{"the same number", []int{0, 2}, cli.Conflicts, map[string]int64{"server-conflict": 1, "key-collision players": 100, "key-collision items": 100}},
		{"the same names to the collation", []int{0, 3}, cli.Conflicts, map[string]int64{"unique-collision players": 50}},
		{"all of them", []int{1, 3, 0, 2}, cli.Conflicts, map[string]int64{"server-conflict": 1, "key-collision players": 100, "key-collision items": 100, "unique-collision players": 50}},
	} {
		var args []string
		for _, w := range tt.worlds {
			args = append(args, readers[w])
		}
		r := report(t, tt.code, args...)
		if diff := cmp.Diff(tt.failure, failures(r)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	for i, c := range checksums {
		if after := c(); after != before[i] {
			t.Errorf("world %d changed: %s, then %s", i, before[i], after)
		}
	}

	// Different kinds of database cannot be held against each other.
	file := "sqlite:" + filepath.Join(t.TempDir(), "s5.db")
	world(t, file, 5, 1, "e")
	r := mergecheck(t.Context(), readers[0], file)
	if r.code != cli.Incomplete || r.stdout != "" || !strings.Contains(r.stderr, "no verdict") {
		t.Errorf("MariaDB and SQLite: %+v", r)
	}
}

func checksum(t *testing.T, dsn string) string {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "CHECKSUM TABLE players, items, guilds, guild_members, gameid_servers, mergesafe_schema EXTENDED")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all strings.Builder
	for rows.Next() {
		var table string
		var sum sql.NullInt64
		if err := rows.Scan(&table, &sum); err != nil || !sum.Valid {
			t.Fatalf("%s: %v", table, err)
		}
		_, table, _ = strings.Cut(table, ".")
		fmt.Fprintln(&all, table, sum.Int64)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// An interrupt ends the program although the database does not answer.
func TestInterruptedWhileConnecting(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if conn, err := silent.Accept(); err == nil {
			defer conn.Close()
			cancel()
			conn.Read(make([]byte, 1)) // until the other side gives up
		}
	}()
	file := "sqlite:" + filepath.Join(t.TempDir(), "s1.db")
	world(t, file, 1, 1, "a")
	interrupted(t, mergecheck(ctx, file, "mysql:checker:s3cret@tcp("+silent.Addr().String()+")/game"))
}

// An interrupt in the middle of the check ends it, and leaves no verdict.
func TestInterruptedWhileReading(t *testing.T) {
	first, second := mariadbtest.DSN(t), mariadbtest.DSN(t)
	world(t, "mysql:"+first, 1, 10, "a")
	world(t, "mysql:"+second, 2, 10, "b")
	db, err := sql.Open("mysql", second)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	holder, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	// Whoever wants to read the table has to wait.
	if _, err := holder.ExecContext(t.Context(), "LOCK TABLES players WRITE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan result, 1)
	go func() { done <- mergecheck(ctx, "mysql:"+first, "mysql:"+second) }()
	for waiting := 0; waiting == 0; time.Sleep(10 * time.Millisecond) {
		query := "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND STATE LIKE 'Waiting for table%'"
		if err := holder.QueryRowContext(t.Context(), query).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	interrupted(t, <-done)
}

func interrupted(t *testing.T, got result) {
	t.Helper()
	want := result{cli.Incomplete, "", "mergecheck: interrupted: no verdict\n"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
