//go:build linux

package torture

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// setup is how an operator may have set up a server, of which nothing may come
// through to what the code relies on.
type setup struct {
	name    string
	args    []string // of the server
	global  []string // what SET GLOBAL is told
	connect []string // what init_connect sets for each new session
	astray  bool     // init_connect leads each new session to another database
}

// hostile are the setups, one by one.
func hostile() (all []setup) {
	for _, s := range []string{
		"autocommit = 0", "completion_type = 'RELEASE'", "completion_type = 'CHAIN'",
		"foreign_key_checks = 0", "unique_checks = 0", "sql_mode = ''", "sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
		"time_zone = '+05:00'", "tx_isolation = 'READ-UNCOMMITTED'", "tx_isolation = 'SERIALIZABLE'",
		"sql_safe_updates = 1", "max_statement_time = 1", "sql_select_limit = 1", "max_join_size = 1", "tx_read_only = 1",
	} {
		all = append(all, setup{name: "global " + s, global: []string{s}}, setup{name: "init_connect " + s, connect: []string{s}})
	}
	return append(all,
		setup{name: "init_connect use", astray: true},
		setup{name: "default_storage_engine", args: []string{"--default-storage-engine=MyISAM"}},
		setup{name: "skip-character-set-client-handshake", args: []string{"--loose-skip-character-set-client-handshake"}},
		setup{name: "gbk", args: gbk},
		setup{name: "init_connect gbk", connect: []string{"character_set_client = gbk", "character_set_connection = gbk", "character_set_results = gbk"}},
	)
}

var gbk = []string{"--character-set-server=gbk", "--collation-server=gbk_chinese_ci", "--loose-skip-character-set-client-handshake"}

// combined are as many of them as can be at once: what a short test has time for.
func combined() []setup {
	at := []string{
		"autocommit = 0", "completion_type = 'CHAIN'", "foreign_key_checks = 0", "unique_checks = 0", "sql_mode = ''", "time_zone = '+05:00'",
		"tx_isolation = 'READ-UNCOMMITTED'", "sql_safe_updates = 1", "max_statement_time = 1", "sql_select_limit = 1", "max_join_size = 1", "tx_read_only = 1",
	}
	return []setup{
		{name: "all global, gbk", args: append(gbk, "--default-storage-engine=MyISAM"), global: at},
		{name: "all by init_connect", astray: true, connect: slices.Concat(at, []string{"character_set_client = gbk", "character_set_connection = gbk", "character_set_results = gbk"})},
	}
}

// relied is what the sessions must have.
var relied = map[string]string{
	"autocommit": "1", "completion_type": "NO_CHAIN", "foreign_key_checks": "1", "unique_checks": "1", "time_zone": "+00:00",
	"tx_isolation": "REPEATABLE-READ", "sql_safe_updates": "0", "max_statement_time": "0", "sql_select_limit": "18446744073709551615",
	"tx_read_only": "0", "character_set_client": "utf8mb4", "character_set_connection": "utf8mb4", "character_set_results": "utf8mb4",
}

// apply makes the settings on a server that was started. They hold for what
// connects after.
func (s setup) apply(t *testing.T, server *servertest.Server, dsn string) {
	t.Helper()
	statements := slices.Clone(s.global)
	var connect []string
	if s.astray {
		connect = append(connect, "USE astray")
		user, _, _ := strings.Cut(strings.TrimPrefix(dsn, "mysql:"), ":")
		admin(t, server, "CREATE DATABASE IF NOT EXISTS astray", fmt.Sprintf("GRANT ALL ON astray.* TO '%s'@'%%'", user))
	}
	if len(s.connect) > 0 {
		connect = append(connect, "SET SESSION "+strings.Join(s.connect, ", "))
	}
	if connect != nil {
		statements = append(statements, fmt.Sprintf("init_connect = \"%s\"", strings.Join(connect, "; ")))
	}
	for _, statement := range statements {
		admin(t, server, "SET GLOBAL "+servertest.Settings(server.Program().MariaDB, statement))
	}
}

func admin(t *testing.T, server *servertest.Server, statements ...string) {
	t.Helper()
	db, err := sql.Open("mysql", server.DSN())
	must(t, err)
	defer db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestServerSettings has real servers set up in every way that once lost what
// they confirmed, or could: processes mint, insert and take numbers, and are
// killed together with the server. No ID and no number comes twice, and every
// row that was confirmed is there.
func TestServerSettings(t *testing.T) {
	setups := combined()
	if *long {
		setups = append(setups, hostile()...)
	}
	for _, s := range setups {
		t.Run(strings.NewReplacer(" ", "-", "'", "").Replace(s.name), func(t *testing.T) {
			t.Parallel()
			server := servertest.Private(t, s.args...)
			dsn, err := server.Database(t.Context())
			must(t, err)
			// init_connect is not run for an account that may do everything.
			dsn = "mysql:" + servertest.Grant(t, "ALL", dsn)
			s.apply(t, server, dsn)
			w := NewWorld(t)
			cfg := config(dsn)
			cfg.Numbers = true
			for range times(1, 4) {
				p := w.Start(cfg)
				p.Await(Opened)
				work(p)
				must(t, server.Kill())
				p.Kill()
				w.Fault()
				must(t, server.Restart(t.Context()))
				s.apply(t, server, dsn)
			}
			for range times(1, 3) { // only the process
				p := w.Start(cfg)
				p.Await(Opened)
				work(p)
				p.Kill()
				w.Fault()
			}
			p := w.Start(cfg)
			work(p)
			p.Close()
			if n := p.Told(RowsFailed); n > 0 {
				t.Errorf("rows failed: %v", p.Events())
			}

			db := open(t, dsn)
			// Whatever the second defence makes good: the first one held, too.
			if has, want := epoch(t, dsn, 7), int64(times(1, 4)+times(1, 3)+1); has < want {
				t.Errorf("the registry kept %d changes, and %d nodes were opened", has, want)
			}
			if tally := w.Check(db); tally.Numbers == 0 || tally.Rows == 0 {
				t.Error("no numbers, or no rows: nothing was tested")
			}
			for name, want := range relied {
				var got string
				must(t, db.Get(t.Context(), &got, "SELECT @@SESSION."+servertest.Settings(server.Program().MariaDB, name)))
				if got != want {
					t.Errorf("%s is %s in a session, want %s", name, got, want)
				}
			}
			var other []string // tables that are not InnoDB's, or elsewhere
			must(t, db.Select(t.Context(), &other, `SELECT CONCAT(table_schema, '.', table_name, ' ', engine)
				FROM information_schema.tables
				WHERE table_schema = 'astray' OR table_schema = DATABASE() AND engine <> 'InnoDB'`))
			if len(other) > 0 {
				t.Errorf("tables elsewhere, or of another engine: %q", other)
			}
			admin(t, server, servertest.Settings(server.Program().MariaDB, "SET GLOBAL tx_read_only = 0")) // the account is dropped
		})
	}
}

func work(p *Process) {
	p.AwaitMore(2000)
	p.AwaitRows(20)
	p.AwaitNumbers(100)
}

// TestForgetfulServer kills a server that forgets what it confirmed in the last
// second, and the process with it. That such a server was accepted must not lead
// to an ID that comes twice: the clocks are right.
func TestForgetfulServer(t *testing.T) {
	t.Parallel()
	// On a disk: in /dev/shm, where TMPDIR may be too, the log of MariaDB is memory that outlives it.
	disk := "/var/tmp"
	if _, err := os.Stat(disk); err != nil {
		disk = os.TempDir()
	}
	server, err := servertest.Start(t.Context(), servertest.Options{Dir: disk, Args: []string{"--innodb-flush-log-at-trx-commit=0"}})
	if errors.Is(err, servertest.ErrNoProgram) {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(func() { server.Stop() })
	dsn, err := server.Database(t.Context())
	must(t, err)
	dsn = "mysql:" + dsn
	w := NewWorld(t)
	cfg := config(dsn)
	cfg.AcceptLossy = true
	// What is not forgotten is a mark ahead of the clock: two processes that both
	// began there would mint the same IDs.
	admin(t, server, "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
	first := w.Start(cfg)
	first.AwaitMore(1000)
	first.Kill()
	admin(t, server, "SET GLOBAL innodb_flush_log_at_trx_commit = 0")
	forgotten := 0
	for i := 0; i < times(2, 25) || forgotten == 0 && i < 30; i++ { // a slow machine writes the log before the kill comes
		p := w.Start(cfg)
		if e := p.Await(Opened, Refused); e.What == Refused {
			t.Fatal(e.Error)
		}
		p.AwaitMore(2000)
		before := epoch(t, dsn, 7)
		must(t, server.Kill())
		p.Kill()
		w.Fault()
		must(t, server.Restart(t.Context()))
		if epoch(t, dsn, 7) < before {
			forgotten++
		}
	}
	p := w.Start(cfg)
	p.AwaitMore(2000)
	p.Close()
	w.Check(nil) // rows may be lost: that is what was accepted
	if forgotten == 0 {
		t.Error("the registry never forgot, so nothing was tested")
	}
	t.Logf("the registry forgot %d times", forgotten)
}

// epoch returns how often the row of a server was changed; 0 if there is none.
func epoch(t *testing.T, dsn string, server gameid.ServerID) int64 {
	t.Helper()
	db, err := store.Open(t.Context(), dsn)
	must(t, err)
	defer db.Close()
	if storetest.World(db).Check(t.Context()) != nil {
		return 0 // not even the table
	}
	own, err := storetest.World(db).Server(t.Context(), server)
	must(t, err)
	return own.Epoch
}

// pair is a primary and a replica that follows it.
type pair struct {
	primary                victim
	dsn, onReplica, onEach string
	ready                  func() bool // the replica has the database
	cut                    func()      // the replica follows no more
	promote                func()
	refuses                string // what the replica says; MariaDB's lets the account of the tests write
}

// TestFailover promotes a replica that lacks what the primary confirmed last:
// kill -9 of the primary and of a process, whose node is opened on the replica.
// Another process, which has both servers in its DSN, goes on there by itself.
// No ID comes twice.
func TestFailover(t *testing.T) {
	servertest.NotShort(t)
	for engine, start := range map[string]func(*testing.T) pair{"mariadb": mariadbPair, "postgres": postgresPair} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			for range times(1, 10) {
				failover(t, start(t))
			}
		})
	}
}

func mariadbPair(t *testing.T) pair {
	servertest.OnlyMariaDB(t, "it is replicated by MariaDB's GTIDs")
	primary := servertest.Private(t, "--server-id=1", "--log-bin=bin", "--binlog-format=ROW", "--sync-binlog=1")
	replica := servertest.Private(t, "--server-id=2", "--log-bin=bin", "--binlog-format=ROW", "--sync-binlog=1", "--read-only=ON")
	replicate(t, primary, replica)
	admin(t, primary, "CREATE USER 'both'@'127.0.0.1' IDENTIFIED BY 'both'", "GRANT ALL ON *.* TO 'both'@'127.0.0.1'")
	dsn, err := primary.Database(t.Context())
	must(t, err)
	return pair{
		primary: primary, dsn: "mysql:" + dsn,
		onReplica: "mysql:" + strings.Replace(dsn, strings.TrimSuffix(primary.DSN(), "/"), strings.TrimSuffix(replica.DSN(), "/"), 1),
		onEach:    fmt.Sprintf("mysql:both:both@tcp(%s,%s)/%s", configOf(t, primary).Addr, configOf(t, replica).Addr, dsn[strings.LastIndex(dsn, "/")+1:]),
		ready:     func() bool { return has(t, replica, dsn) },
		cut:       func() { admin(t, replica, "STOP SLAVE") },
		promote:   func() { admin(t, replica, "RESET SLAVE ALL", "SET GLOBAL read_only = OFF") },
	}
}

func postgresPair(t *testing.T) pair {
	primary := servertest.PrivatePostgres(t)
	replica, err := primary.Standby(t.Context())
	must(t, err)
	t.Cleanup(func() { replica.Stop() })
	on := func(statement string) {
		db, err := sql.Open("pgx", replica.DSN())
		must(t, err)
		defer db.Close()
		must(t, storetest.Second(db.ExecContext(t.Context(), statement)))
	}
	return pair{
		primary: primary, dsn: primary.DSN(), onReplica: replica.DSN(),
		onEach: fmt.Sprintf("postgres://root@127.0.0.1:%d,127.0.0.1:%d/postgres", primary.Port, replica.Port),
		ready:  func() bool { return true },
		cut: func() {
			on("ALTER SYSTEM SET primary_conninfo = ''")
			on("SELECT pg_reload_conf()")
		},
		promote: func() { on("SELECT pg_promote()") },
		refuses: "the server is a standby",
	}
}

func failover(t *testing.T, p pair) {
	// A process that was killed leaves a mark ahead of the clock. Two that both
	// began there would mint the same IDs.
	w := NewWorld(t)
	killed := w.Start(config(p.dsn))
	killed.Await(Opened)
	killed.AwaitRows(5)
	killed.Kill()
	onEach := config(p.onEach)
	onEach.Server = 8
	stays := w.Start(onEach)
	stays.Await(Opened)
	stays.AwaitRows(5)
	have := epoch(t, p.dsn, 7)
	for deadline := time.Now().Add(time.Minute); !p.ready() || epoch(t, p.onReplica, 7) < have; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the replica has no row")
		}
	}
	stays.Freeze() // what it writes now would be lost, and its row with it
	storetest.Await(t, "the replica has its row", func() bool { return epoch(t, p.onReplica, 8) == epoch(t, p.dsn, 8) })
	p.cut()
	if p.refuses != "" {
		early := w.Start(config(p.onReplica))
		if e := early.Await(Opened, Refused); e.What != Refused || !strings.Contains(e.Error, p.refuses) {
			t.Errorf("on a replica: %+v", e)
		}
		early.Wait()
	}
	lagging := epoch(t, p.onReplica, 7)
	first := w.Start(config(p.dsn))
	first.Await(Opened)
	for first.AwaitRows(5); epoch(t, p.dsn, 7) < lagging+2; {
		first.AwaitMore(1000)
	}
	confirmed := epoch(t, p.dsn, 7)
	must(t, p.primary.Kill())
	first.Kill()
	w.Fault()

	p.promote()
	stays.Thaw()
	for before := epoch(t, p.onReplica, 8); epoch(t, p.onReplica, 8) == before; { // until it has reserved there
		stays.AwaitRows(5)
	}
	second := w.Start(config(p.onReplica))
	if e := second.Await(Opened, Refused); e.What == Refused {
		t.Fatal(e.Error)
	}
	second.AwaitMore(5000)
	second.Close()
	stays.AwaitMore(5000)
	stays.Close()
	tally := w.Check(nil) // the rows that were not replicated are lost
	if now := epoch(t, p.onReplica, 7); lagging >= confirmed {
		t.Errorf("the replica lacked nothing: it had %d changes of %d, and has %d now", lagging, confirmed, now)
	}
	t.Logf("the replica lacked %d of %d changes of the registry: %s", confirmed-lagging, confirmed, tally)
}

// replicate makes one server the asynchronous replica of another, for what is
// written from now on.
func replicate(t *testing.T, primary, replica *servertest.Server) {
	t.Helper()
	cfg := configOf(t, primary)
	db, err := sql.Open("mysql", primary.DSN())
	must(t, err)
	defer db.Close()
	var position string
	must(t, db.QueryRow("SELECT COALESCE(@@GLOBAL.gtid_binlog_pos, '')").Scan(&position))
	admin(t, replica,
		"RESET MASTER", fmt.Sprintf("SET GLOBAL gtid_slave_pos = '%s'", position),
		fmt.Sprintf("CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = %s, MASTER_USER = '%s', MASTER_PASSWORD = '%s', MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1",
			strings.TrimPrefix(cfg.Addr, "127.0.0.1:"), cfg.User, cfg.Passwd),
		"START SLAVE")
}

func configOf(t *testing.T, s *servertest.Server) *mysql.Config {
	t.Helper()
	cfg, err := mysql.ParseDSN(s.DSN())
	must(t, err)
	return cfg
}

// has reports whether a server has the database that a DSN names.
func has(t *testing.T, server *servertest.Server, dsn string) bool {
	t.Helper()
	db, err := sql.Open("mysql", server.DSN())
	must(t, err)
	defer db.Close()
	name, _, _ := strings.Cut(dsn[strings.LastIndex(dsn, "/")+1:], "?")
	var n int
	must(t, db.QueryRow("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?", name).Scan(&n))
	return n > 0
}
