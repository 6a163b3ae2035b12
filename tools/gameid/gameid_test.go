package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"mergesafe/gameid"
	"mergesafe/internal/columns"
	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/storetest"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/cli/clitest"
)

// What a tool says of a server is tried on MySQL; what a merge does, on MariaDB.
func init() { servertest.Prefer(servertest.MySQL) }

func TestMain(m *testing.M) { clitest.Main(m, map[string]func(){"gameid": main}) }

// The scripts find these databases: empty.db, on which no server has run;
// live.db, on which server 7 runs, server 8 has ended, and server 9 was merged;
// late.db, whose server 7 has a mark of 2099, and verylate.db, which has an ID
// of then as well; leased.db, whose server 7 is leased for ten years;
// fenced.db, whose server 7 is fenced by the merge m1 into s1; made.db, in which
// which that merge makes; and the fleet
// registry fleet.db, in which server 7 runs on member.db and server 8 has ended
// on it.
func TestScripts(t *testing.T) {
	clitest.Run(t, func(env *testscript.Env) error {
		at := func(name string) string { return "sqlite:" + filepath.Join(env.WorkDir, name) }
		if _, err := makeDatabase(at("empty.db")); err != nil {
			return err
		}
		for name, ids := range map[string]bool{"late.db": false, "verylate.db": true} {
			if err := makeLate(at(name), ids); err != nil {
				return err
			}
		}
		if err := makeLeased(at("leased.db")); err != nil {
			return err
		}
		since := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
		if err := makeFenced(at("fenced.db"), worldregistry.FenceTo("m1", "s1", since)); err != nil {
			return err
		}
		if err := makeFenced(at("dropping.db"), worldregistry.FenceDropping.In(worldregistry.FenceHere("m1", "s1", since))); err != nil {
			return err
		}
		if err := makeFenced(at("made.db"), worldregistry.FenceHere("m1", "s1", since)); err != nil {
			return err
		}
		closeMember, err := makeFleet(at("fleet.db"), at("member.db"))
		env.Defer(closeMember)
		if err != nil {
			return err
		}
		closeAll, err := makeLive(at("live.db"))
		env.Defer(closeAll)
		return err
	})
}

// makeLate makes a database in which a broken clock left a mark of 2099, and
// perhaps IDs of then.
func makeLate(dsn string, ids bool) error {
	ctx := context.Background()
	db, err := makeDatabase(dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	const hero = "INSERT INTO players (id, account, name, level, gold, created_at, updated_at) VALUES (?, 'a', 'hero', 1, 0, 0, 0)"
	made, err := gameid.Make(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 7, 0)
	if err != nil {
		return err
	}
	if ids {
		if made, err = gameid.Make(time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC), 7, 0); err != nil {
			return err
		}
	}
	if _, err := db.Exec(ctx, hero, made); err != nil {
		return err
	}
	mark, err := gameid.MillisOf(time.Date(2099, 1, 2, 0, 0, 0, 0, time.UTC))
	if err != nil {
		return err
	}
	_, err = storetest.World(db).CompareAndSet(ctx, 7, gameid.Record{}, gameid.Claim{Reserved: mark})
	return err
}

// makeLeased makes a database in which a broken clock left a lease of ten years
// to a process on another machine.
func makeLeased(dsn string) error {
	db, err := makeDatabase(dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	holder := gameid.Holder{Token: "ABC", Host: "host-b", PID: 4711, Program: "game"}
	_, err = storetest.World(db).CompareAndSet(context.Background(), 7, gameid.Record{}, gameid.Claim{Reserved: 1, Holder: holder, Lease: 10 * 365 * 24 * time.Hour})
	return err
}

// makeFenced makes a database whose server 7 a merge has fenced.
func makeFenced(dsn string, fence gameid.Holder) error {
	db, err := makeDatabase(dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx := context.Background()
	node, err := db.OpenNode(ctx, 7, storetest.NodeOptions)
	if err != nil {
		return err
	}
	if err := node.Close(); err != nil {
		return err
	}
	return storetest.World(db).Fence(ctx, 7, fence)
}

func makeFleet(dsn, game string) (closeAll func(), err error) {
	ctx := context.Background()
	shared, err := fleet.Open(dsn)
	if err != nil {
		return func() {}, err
	}
	closeAll = func() { shared.Close() }
	if err := shared.Create(ctx); err != nil {
		return closeAll, err
	}
	db, err := makeDatabase(game)
	if err != nil {
		return closeAll, err
	}
	for server := range gameid.ServerID(2) {
		server += 7
		note := fleet.Note{By: "anna@host-a", Why: "opening night"}
		if _, err := shared.Claim(ctx, "s"+server.String(), server, note); err != nil {
			return closeAll, err
		}
		member, err := shared.Join(ctx, storetest.World(db), server, worldregistry.NodeOptions(storetest.NodeOptions), fleet.Options{Heartbeat: time.Hour})
		if err != nil {
			return closeAll, err
		}
		if _, err := gameid.NewGenerator[sample](member.Node).Next(); err != nil {
			return closeAll, err
		}
		if server == 8 {
			return closeAll, member.Close()
		}
		closeAll = func() { member.Close(); db.Close(); shared.Close() }
	}
	return closeAll, nil
}

func makeDatabase(dsn string) (*store.DB, error) {
	db, err := store.Open(context.Background(), dsn)
	if err != nil {
		return nil, err
	}
	return db, storetest.Create(context.Background(), db)
}

func makeLive(dsn string) (closeAll func(), err error) {
	ctx := context.Background()
	db, err := makeDatabase(dsn)
	if err != nil {
		return func() {}, err
	}
	closeAll = func() { db.Close() }
	live, err := db.OpenNode(ctx, 7, storetest.NodeOptions)
	if err != nil {
		return closeAll, err
	}
	closeAll = func() { live.Close(); db.Close() }
	ended, err := db.OpenNode(ctx, 8, storetest.NodeOptions)
	if err != nil {
		return closeAll, err
	}
	if _, err := gameid.NewGenerator[sample](ended).Next(); err != nil {
		return closeAll, err
	}
	if err := ended.Close(); err != nil {
		return closeAll, err
	}
	if err := db.Registry().SetName(ctx, 7, "Nordlicht"); err != nil {
		return closeAll, err
	}
	// What a merge will leave; and a name that would play with the terminal.
	_, err = db.Pool().ExecContext(ctx, `INSERT INTO gameid_servers
		(server_id, name, world, role, epoch, reserved_ms, holder, lease_until_ms, created_ms, updated_ms)
		VALUES (9, ?, '00112233445566778899aabbccddeeff', 'merged', 3, 59540210336, '', 0, 0, 0)`, "old\x1b[2J")
	return closeAll, err
}

// call runs the program in this process.
func call(t *testing.T, args ...string) (code cli.Code, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	noEnv := func(string) (string, bool) { return "", false }
	code = run(t.Context(), append([]string{"gameid"}, args...), noEnv, &out, &err)
	return code, out.String(), err.String()
}

// SELECT must be enough, or operators will run it with an account that may
// write.
func TestServersNeedsSelectOnly(t *testing.T) {
	dsn := servertest.DSN(t)
	closeAll, err := makeLive("mysql:" + dsn)
	defer closeAll()
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, "servers", "inspect", "mysql:"+servertest.Grant(t, "SELECT", dsn))
	if code != cli.OK || stderr != "" {
		t.Fatalf("exit code %d, stderr %q; want 0 and none", code, stderr)
	}
	for _, want := range []string{`(?m)^7 .*Nordlicht .*held until`, `(?m)^8 .*given back`, `(?m)^9 .*merged +00112233 +2026-11-21T02:56:50.336Z`} {
		if !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("no line matches %q in\n%s", want, stdout)
		}
	}
}

func TestServersHidesThePassword(t *testing.T) {
	for _, dsn := range []string{
		"mysql:root:hunter2@tcp(127.0.0.1:1)/s1",
		"mysql:root:hunter2@nonsense",
		"postgres:root:hunter2@db/s1",
		"mysql://root:hunter2@db/s1",
	} {
		code, stdout, stderr := call(t, "servers", "inspect", dsn)
		if code != cli.Incomplete || stdout != "" || !strings.HasPrefix(stderr, "gameid: ") {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q; want 2 and an error", dsn, code, stdout, stderr)
		}
		if strings.Contains(stderr, "hunter2") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: stderr %q; want one line without the password", dsn, stderr)
		}
	}
}

func TestServersJSON(t *testing.T) {
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "live.db")
	closeAll, err := makeLive(dsn)
	defer closeAll()
	if err != nil {
		t.Fatal(err)
	}
	_, stdout, stderr := call(t, "servers", "inspect", "-json", dsn)
	var got []map[string]any
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	type row struct {
		Server, Held, Holder, Mark any
	}
	var rows []row
	for _, o := range got {
		rows = append(rows, row{o["server"], o["lease_held"], o["holder"] != nil, o["mark"] != nil})
	}
	want := []row{{7.0, true, true, true}, {8.0, false, false, true}, {9.0, false, false, true}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What "new" prints is valid, of the server asked for, and rises.
func TestNew(t *testing.T) {
	for _, n := range []string{"1", "1024", "3000"} {
		_, lines, _ := call(t, "new", "-server", "7", "-n", n)
		_, array, _ := call(t, "new", "-server=7", "-n="+n, "-json")
		var fromJSON []gameid.ID
		if err := json.Unmarshal([]byte(array), &fromJSON); err != nil {
			t.Fatal(err)
		}
		var fromLines []gameid.ID
		for _, line := range strings.Fields(lines) {
			fromLines = append(fromLines, gameid.MustParse(line))
		}
		for _, ids := range [][]gameid.ID{fromLines, fromJSON} {
			if got := strconv.Itoa(len(ids)); got != n {
				t.Errorf("-n %s: got %s IDs", n, got)
			}
			for i, id := range ids {
				if id.Server() != 7 || i > 0 && id.Compare(ids[i-1]) <= 0 {
					t.Errorf("-n %s: ID %d is %s after %s", n, i, id, ids[max(0, i-1)])
				}
			}
		}
	}
}

func TestNewIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var stderr bytes.Buffer
	stopAfterFirst := writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
	code := run(ctx, []string{"gameid", "new", "-server", "7", "-n", "1000000000000"}, nil, stopAfterFirst, &stderr)
	if code != cli.Incomplete || !strings.HasSuffix(stderr.String(), "gameid: interrupted\n") {
		t.Errorf("exit code %d, stderr %q; want 2 and that it was interrupted", code, &stderr)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestCommands(t *testing.T) { clitest.Commands(t, command(nil)) }

// A table fits the terminal.
func TestTablesFitTheTerminal(t *testing.T) {
	var b strings.Builder
	const width = 60
	servers := []worldregistry.Server{{ID: 7, Name: "一区", Role: "own", World: strings.Repeat("0a", 16), Reserved: 1, Holder: gameid.Holder{Host: "host-1", PID: 7, Program: "game-server", Token: "t"}}}
	if err := printServers(&b, width, servers, false); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := columns.Width(strings.TrimRight(line, "\n")); n > width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if words := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(words, "game-server, pid 7 on host-1") {
		t.Errorf("got\n%s", &b)
	}
}

// A database that cannot be reached, and a password in its DSN.
func TestFleetHidesThePassword(t *testing.T) {
	for _, args := range [][]string{
		{"servers", "list"}, {"servers", "list", "7"}, {"servers", "claim", "-name", "s7"}, {"servers", "init"}, {"servers", "retire", "7"},
		{"servers", "rebind", "7", "-world", strings.Repeat("0", 32), "-reason", "test"},
	} {
		for _, dsn := range []string{"mysql:root:hunter2@tcp(127.0.0.1:1)/fleet", "mysql:root:hunter2@nonsense"} {
			code, stdout, stderr := call(t, append(args, "-fleet", dsn)...)
			if code != cli.Incomplete || stdout != "" || strings.Contains(stderr, "hunter2") || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%v: exit code %d, stdout %q, stderr %q; want 2 and one line without the password", args, code, stdout, stderr)
			}
		}
	}
}

func TestFleetOnMariaDB(t *testing.T) {
	fleet := "mysql:" + servertest.DSN(t)
	closeAll, err := makeFleet(fleet, "mysql:"+servertest.DSN(t))
	defer closeAll()
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, "servers", "claim", "-name", "s1", "-fleet", fleet)
	if code != cli.OK || !strings.HasPrefix(stdout, "Server 1 is claimed for s1.") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	code, stdout, stderr = call(t, "servers", "list", "-json", "-fleet", fleet)
	var got []map[string]any
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != cli.OK {
		t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	type row struct{ Server, Name, State, Held, Bound, Holder any }
	var rows []row
	for _, o := range got {
		rows = append(rows, row{o["server"], o["name"], o["state"], o["lease_held"], o["bound_at"] != nil, o["holder"] != nil})
	}
	want := []row{{1.0, "s1", "claimed", false, false, false}, {7.0, "s7", "bound", true, true, true}, {8.0, "s8", "bound", false, true, true}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Settings with which the database may lose confirmed changes are told beside
// the table.
func TestServersTellsLossyDatabase(t *testing.T) {
	server := servertest.Private(t)
	dsn, err := server.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closeAll, err := makeLive("mysql:" + dsn)
	defer closeAll()
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "SET GLOBAL innodb_flush_log_at_trx_commit = 0"); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"servers", "inspect"}, {"servers", "inspect", "-json"}} {
		code, stdout, stderr := call(t, append(args, "mysql:"+servertest.Grant(t, "SELECT", dsn))...)
		if code != cli.OK || !strings.Contains(stdout, "Nordlicht") || strings.Contains(stdout, "innodb_") {
			t.Errorf("exit code %d, %q", code, stdout)
		}
		for _, want := range []string{"innodb_flush_log_at_trx_commit is 0", "SET GLOBAL innodb_flush_log_at_trx_commit = 1"} {
			if strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
				t.Errorf("nothing about %q in %q", want, stderr)
			}
		}
	}
}
