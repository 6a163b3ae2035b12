package world_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqltext"
	"mergesafe/merge/world"
)

// A process is killed while the server builds an index. The next one waits for its end, and makes nothing twice.
func TestAlterStillRuns(t *testing.T) {
	w := world.Database{Name: "w", DSN: "mysql:" + servertest.DSN(t)}
	run(t, w, "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(200), b INT, KEY first_one (a, b), UNIQUE KEY second_one (b, id))")
	s := read(t, w)
	dsn := servertest.DSN(t)
	there := world.Database{Name: "there", DSN: "mysql:" + dsn}
	if err := s.MakeTables(t.Context(), writer(t, there)); err != nil {
		t.Fatal(err)
	}
	run(t, there, "INSERT INTO t SELECT seq, CONCAT(REVERSE(seq), REPEAT('x', 180)), seq FROM "+servertest.Seq(1, 60000))

	// The rows of the table are locked by a reader, so that the statement certainly runs when its process is gone.
	db, err := sqldb.Dial(t.Context(), there.DSN, sqldb.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	reader, err := db.Pool().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Exec("SELECT COUNT(*) FROM t"); err != nil {
		t.Fatal(err)
	}
	sever := make(chan struct{})
	killed := world.Database{Name: "there", DSN: "mysql:" + severable(t, dsn, sever)}
	first := make(chan error, 1)
	go func() { first <- s.MakeIndexes(context.WithoutCancel(t.Context()), writer(t, killed), "t") }()
	servertest.AwaitRunning(t, dsn, "ALTER TABLE `t` ADD", true)
	close(sever)
	if err := <-first; err == nil {
		t.Fatal("the connection was not severed")
	}
	second := make(chan error, 1)
	go func() { second <- s.MakeIndexes(t.Context(), writer(t, there), "t") }()
	servertest.AwaitRunning(t, dsn, "GET_LOCK", true)
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	if all := s.Differences(read(t, there), false); len(all) > 0 {
		t.Error(all)
	}
}

// An object of the same name that is another one is never taken for that of the world.
func TestAnotherObject(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		world := []string{"CREATE TABLE t (a INT, b INT)", "CREATE INDEX i ON t (a)", "CREATE VIEW v AS SELECT a FROM t"}
		s := read(t, e.database(t, world...))
		for i, other := range []string{"CREATE TABLE t (a INT, b INT, c INT)", "CREATE INDEX i ON t (b)", "CREATE VIEW v AS SELECT b FROM t"} {
			there := e.fresh(t)
			if _, err := s.Create(t.Context(), there, nil); err != nil {
				t.Fatal(err)
			}
			run(t, there, append(append([]string{}, world[:i]...), other)...)
			if err := makeAll(t, s, writer(t, there)); err == nil || !strings.Contains(err.Error(), "want an empty database") {
				t.Errorf("%s: %v", other, err)
			}
		}
	})
}

var makes = regexp.MustCompile(`(?is)^\s*(CREATE|ALTER|SET)\b`)

// The schemas of public games are made again. PUBLIC_SCHEMAS names the folder of their files.
func TestPublicSchemas(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(os.Getenv("PUBLIC_SCHEMAS"), "*.sql"))
	if err != nil || os.Getenv("PUBLIC_SCHEMAS") == "" || len(files) == 0 {
		t.Skip("PUBLIC_SCHEMAS names no folder of public schemas")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := world.Database{Name: "w", DSN: "mysql:" + servertest.DSN(t)}
			refused := load(t, w, string(text))
			s := read(t, w)
			if got := obstacles(t, w, w); len(got) > 0 {
				t.Logf("%d obstacles, such as %s", len(got), got[0])
			}
			there := world.Database{Name: "w", DSN: "mysql:" + servertest.DSN(t)}
			if err := makeAll(t, s, writer(t, there)); err != nil {
				t.Fatal(err)
			}
			if all := s.Differences(read(t, there), false); len(all) > 0 {
				t.Error(strings.Join(all, "\n"))
			}
			same(t, inventory(t, w), inventory(t, there))
			t.Logf("%d objects, %d statements of the file refused", len(s.Objects), refused)
		})
	}
}

// load carries out the statements of a file that make objects, and counts those that this server does not take.
func load(t *testing.T, d world.Database, text string) (refused int) {
	t.Helper()
	var statements []string
	for _, block := range strings.Split(text, "DELIMITER ") {
		if strings.HasPrefix(block, "//") {
			statements = append(statements, strings.Split(strings.TrimPrefix(block, "//"), "//")...)
			continue
		}
		block, start := strings.TrimPrefix(block, ";"), 0
		for _, token := range sqltext.MySQL(block) {
			if token.Text == ";" {
				statements = append(statements, block[start:token.Start])
				start = token.End()
			}
		}
	}
	db, err := sqldb.Dial(t.Context(), d.DSN, sqldb.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Pool().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "SET SESSION foreign_key_checks = 0, sql_mode = ''"); err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		all := sqltext.MySQL(statement)
		if len(all) == 0 || !makes.MatchString(statement[all[0].Start:]) {
			continue
		}
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			if !sqldb.Says(sqldb.Translate(err), sqldb.Refused) && !errors.Is(err, context.Canceled) {
				t.Fatalf("%.200s: %v", statement, err)
			}
			refused++
		}
	}
	return refused
}

// severable is the DSN of a way to the server that ends for good when the channel is closed: as if the process that uses
// it had been killed.
func severable(t *testing.T, dsn string, sever <-chan struct{}) string {
	t.Helper()
	before, rest, _ := strings.Cut(dsn, "@tcp(")
	address, after, _ := strings.Cut(rest, ")")
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	t.Cleanup(func() { listen.Close() })
	all.Go(func() {
		for {
			client, err := listen.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", address)
			if err != nil {
				client.Close()
				return
			}
			done := make(chan struct{})
			all.Go(func() { io.Copy(server, client); server.Close() })
			all.Go(func() { io.Copy(client, server); client.Close(); close(done) })
			all.Go(func() {
				select {
				case <-sever:
					listen.Close()
					client.Close()
				case <-done:
				}
			})
		}
	})
	return before + "@tcp(" + listen.Addr().String() + ")" + after
}
