package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mergesafe/gameid"
	"mergesafe/internal/config"
	"mergesafe/internal/gameworlds"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/store/storetest"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/rulefile"
)

// What a tool says of a server is tried on MySQL; what a merge does, on MariaDB.
func init() { servertest.Prefer(servertest.MySQL) }

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

// said is what the standard error has besides the beginnings of phases.
func said(stderr string) string {
	var b strings.Builder
	for line := range strings.Lines(stderr) {
		if !slices.ContainsFunc([]phase{phaseOpening, phaseSchemas, phaseRows}, func(p phase) bool { return strings.HasPrefix(line, "mergecheck: "+string(p)) }) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// reported runs mergecheck -json and reads what it prints.
func reported(t *testing.T, want cli.Code, args ...string) *verdict.Report {
	t.Helper()
	r := mergecheck(t.Context(), append([]string{"-json"}, args...)...)
	if r.code != want || said(r.stderr) != "" {
		t.Fatalf("exit code %d, want %d; stderr %q", r.code, want, r.stderr)
	}
	report := new(verdict.Report)
	decoder := json.NewDecoder(strings.NewReader(r.stdout))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(report); err != nil {
		t.Fatal(err)
	}
	return report
}

// count returns the conflicts of each rule and table that failed.
func failures(r *verdict.Report) map[string]int64 {
	failed := make(map[string]int64)
	for _, result := range r.Results {
		if result.Verdict == verdict.Fail {
			failed[strings.TrimSpace(result.Code+" "+result.Table)] = result.Count
		}
	}
	return failed
}

func makeWorld(t *testing.T, dsn string, server, count int, prefix string) {
	t.Helper()
	if err := storetest.MakeWorld(t.Context(), dsn, gameid.ServerID(server), count, prefix); err != nil {
		t.Fatal(err)
	}
}

// letters is a number as a name without digits.
func letters(n int) string {
	return strings.Map(func(r rune) rune { return r - '0' + 'a' }, strconv.Itoa(n))
}

// What -propose prints can be pasted into the configuration, and is checked
// from then on. The file that it writes is read as it is.
func TestProposals(t *testing.T) {
	dir := t.TempDir()
	var args []string
	for i, name := range []string{"s1", "s2"} {
		file := filepath.Join(dir, name+".db")
		args = append(args, "sqlite:"+file)
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, statement := range []string{
			"CREATE TABLE characters (guid INTEGER PRIMARY KEY, name TEXT NOT NULL)",
			"CREATE TABLE mail (n INTEGER PRIMARY KEY, character_guid INTEGER NOT NULL)",
		} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 200 {
			guid := 1000*i + n + 1
			if guid%7 == 0 {
				continue // deleted: references avoid it
			}
			_, err1 := db.ExecContext(t.Context(), "INSERT INTO characters VALUES (?, ?)", guid, letters(guid%1195)) // some are alike
			_, err2 := db.ExecContext(t.Context(), "INSERT INTO mail VALUES (?, ?)", 3000*i+2*n+1, guid)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := reported(t, cli.OK, append([]string{"-propose"}, args...)...)
	var text strings.Builder
	for _, p := range r.Proposals {
		text.WriteString(p.TOML() + "\n")
	}
	var declared rulefile.Rules
	if _, err := config.Parse("config.toml", text.String(), declared.Reader("config.toml")); err != nil {
		t.Fatalf("%v in:\n%s", err, &text)
	}
	want := rules.Options{
		Uniques: []rules.DeclaredUnique{{Table: "characters", Columns: []string{"name"}}},
		Rules: []rules.Declarations{{File: "config.toml", References: []rules.DeclaredReference{
			{At: []string{"mail.character_guid"}, To: []string{"characters.guid"}, Line: 7},
		}}},
	}
	if diff := cmp.Diff(want, declared.Check, cmpopts.IgnoreFields(rules.Declarations{}, "LineOf"), cmpopts.IgnoreFields(rules.DeclaredReference{}, "File"),
		cmpopts.IgnoreFields(rules.DeclaredUnique{}, "File", "Line")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	file := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r = reported(t, cli.Conflicts, append([]string{"-propose", "-config", file}, args...)...)
	if diff := cmp.Diff(map[string]int64{"unique-collision characters": 4}, failures(r)); diff != "" {
		t.Error(diff)
	}
	if len(r.Proposals) > 0 {
		t.Errorf("still proposed: %v", r.Proposals)
	}

	written := filepath.Join(dir, "rules.toml")
	reported(t, cli.OK, append([]string{"-propose", "-o", written}, args...)...)
	if r = reported(t, cli.OK, append([]string{"-rules", written}, args...)...); len(r.Results) == 0 {
		t.Error("nothing was checked")
	}
	again := append([]string{"-propose", "-o", written}, args...)
	if r := mergecheck(t.Context(), again...); r.code != cli.Incomplete || !strings.Contains(r.stderr, "rules.toml already exists and may have been edited: want another name") {
		t.Errorf("exit code %d, %q", r.code, r.stderr)
	}
}

// The file that -propose writes closes all columns of a game but those that it leaves
// undecided, and those that are opaque.
func TestProposedRules(t *testing.T) {
	folder := "../../internal/gameworlds/testdata/"
	game, err := gameworlds.Load(folder+"made_up.sql", folder+"made_up.refs")
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for seed := uint64(1); seed <= 2; seed++ {
		dsn := servertest.DSN(t)
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		o := gameworlds.Typical(seed)
		o.Characters, o.Items = servertest.Scale(700, 2000), servertest.Scale(5000, 20_000)
		o.Offset = 1_000_000 * int64(seed-1)
		if _, err := game.Fill(t.Context(), db, sqldb.MySQL, o); err != nil {
			t.Fatal(err)
		}
		args = append(args, "mysql:"+dsn)
	}
	file := filepath.Join(t.TempDir(), "rules.toml")
	proposed := reported(t, cli.Conflicts, append([]string{"-propose", "-o", file}, args...)...)
	undecided := make(map[string]bool)
	for _, c := range proposed.Proposed.Columns {
		if c.Class == verdict.ClassUndecided || c.Class == verdict.ClassOpaque || c.When != nil {
			undecided[c.Table+"."+c.Column] = true
		}
	}
	read := reported(t, cli.Conflicts, append([]string{"-rules", file}, args...)...)
	open := 0
	for _, r := range read.Results {
		if r.Code != verdict.CodeReferenceUndeclared || r.Verdict == verdict.Pass || len(r.Columns) != 1 {
			continue
		}
		if open++; !undecided[r.Table+"."+r.Columns[0]] {
			t.Errorf("%s.%s is open: %s", r.Table, r.Columns[0], r.Message)
		}
	}
	if open == 0 {
		t.Error("what is undecided is not open")
	}
	explained(t, proposed.Proposed, args)
}

// The account may do nothing but SELECT, and the tables are as before.
func TestMariaDB(t *testing.T) {
	var readers []string
	var checksums []func() string
	for _, w := range []struct {
		server, count int
		prefix        string
	}{{1, 300, "a"}, {2, 200, "b"}, {1, 100, "c"}, {4, 50, "Á"}} {
		dsn := servertest.DSN(t)
		makeWorld(t, "mysql:"+dsn, w.server, w.count, w.prefix)
		readers = append(readers, "mysql:"+servertest.Grant(t, "SELECT", dsn))
		checksums = append(checksums, func() string { return checksum(t, dsn) })
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
		{"the same server", []int{0, 2}, cli.Conflicts, map[string]int64{"server-conflict": 1, "key-collision players": 100, "key-collision items": 100, "reference-ambiguous items": 200}},
		{"the same names to the collation", []int{0, 3}, cli.Conflicts, map[string]int64{"unique-collision players": 50}},
		{"all of them", []int{1, 3, 0, 2}, cli.Conflicts, map[string]int64{"server-conflict": 1, "key-collision players": 100, "key-collision items": 100, "reference-ambiguous items": 200, "unique-collision players": 50}},
	} {
		var args []string
		for _, w := range tt.worlds {
			args = append(args, readers[w])
		}
		r := reported(t, tt.code, args...)
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
	makeWorld(t, file, 5, 1, "e")
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
	makeWorld(t, file, 1, 1, "a")
	got := mergecheck(ctx, file, "mysql:checker:s3cret@tcp("+silent.Addr().String()+")/game")
	interrupted(t, got)
	if got.stdout != "" {
		t.Errorf("printed although nothing is known: %s", got.stdout)
	}
}

// An interrupt in the middle of the check ends it, and leaves no verdict.
func TestInterruptedWhileReading(t *testing.T) {
	first, second := servertest.DSN(t), servertest.DSN(t)
	makeWorld(t, "mysql:"+first, 1, 10, "a")
	makeWorld(t, "mysql:"+second, 2, 10, "b")
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
	servertest.AwaitConnections(t, second, 1, "DB = DATABASE() AND STATE LIKE 'Waiting for table%'")
	cancel()
	got := <-done
	interrupted(t, got)
	if !strings.HasPrefix(got.stdout, "INCOMPLETE") {
		t.Errorf("printed %s", got.stdout)
	}
}

func interrupted(t *testing.T, got result) {
	t.Helper()
	if want := "mergecheck: interrupted: no verdict\n"; got.code != cli.Incomplete || said(got.stderr) != want {
		t.Errorf("exit code %d, stderr %q; want %d, %q", got.code, got.stderr, cli.Incomplete, want)
	}
}

// busy makes the server of a database work on more than a few statements, until
// the returned function is called.
func busy(t *testing.T, db *sql.DB) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	for range 3 {
		working.Go(func() { db.ExecContext(ctx, "SELECT SLEEP(600)") }) // ends with an error
	}
	return func() {
		cancel()
		working.Wait()
	}
}

// The check rests while its server works on too much, and goes on by itself.
func TestMaxLoad(t *testing.T) {
	first, second := servertest.DSN(t), servertest.DSN(t)
	makeWorld(t, "mysql:"+first, 1, 10, "a")
	makeWorld(t, "mysql:"+second, 2, 10, "b")
	db, err := sql.Open("mysql", first)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	places, err := databases.NewConfig("config.toml", noEnv).Locate([]string{"mysql:" + first, "mysql:" + second})
	if err != nil {
		t.Fatal(err)
	}
	end := busy(t, db)
	defer end()
	rests := make(chan int, 1000)
	s := settings{places: places, throttle: databases.Throttle{MaxLoad: 3}}
	sources, closeAll, err := open(t.Context(), s, func(_ string, threads int) { rests <- threads })
	defer closeAll()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		r, err := merge.Check(t.Context(), sources, rules.Options{})
		if err == nil && r.Verdict != verdict.Pass {
			err = fmt.Errorf("verdict %s", r.Verdict)
		}
		done <- err
	}()
	select {
	case n := <-rests:
		if n <= 3 {
			t.Errorf("rests at %d running threads", n)
		}
	case err := <-done:
		t.Fatalf("the check did not rest: %v", err)
	}
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// An interrupt in the middle of reading ends the check. What is known by then
// is printed, and has no verdict.
func TestInterruptedHalfWay(t *testing.T) {
	var dsn string
	var readers []string
	for i, prefix := range []string{"a", "A"} {
		dsn = servertest.DSN(t)
		makeWorld(t, "mysql:"+dsn, i+1, 10, prefix)
		readers = append(readers, servertest.Grant(t, "SELECT", dsn))
	}
	account, err := mysql.ParseDSN(readers[0])
	if err != nil {
		t.Fatal(err)
	}
	admin := servertest.Admin(t)
	end := busy(t, admin)
	defer end()
	page := filepath.Join(t.TempDir(), "report.html")
	halfWay := func() (got result) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan result, 1)
		go func() {
			done <- mergecheck(ctx, "-max-load", "3", "-html", page, "mysql:"+readers[0], "mysql:"+readers[1])
		}()
		// Before rows are to be read it rests, since the server is busy: then a connection has nothing to do.
		servertest.AwaitConnections(t, dsn, 1, "USER = ? AND COMMAND = 'Sleep' AND TIME >= 1", account.User)
		cancel()
		select {
		case got = <-done:
		case <-time.After(time.Minute):
			t.Fatal("an interrupt does not end the check")
		}
		interrupted(t, got)
		return got
	}
	got := halfWay()
	for got.stdout == "" { // this process had no processor for a second, and nothing was known yet
		got = halfWay()
	}
	if !strings.HasPrefix(got.stdout, "INCOMPLETE") || !strings.Contains(got.stdout, "schema-table") || strings.Contains(got.stdout, "unique-collision") {
		t.Errorf("stdout:\n%s", got.stdout)
	}
	html, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(html), "<title>INCOMPLETE: ") {
		t.Errorf("the HTML report is missing, or does not say so: %v", err)
	}
}
