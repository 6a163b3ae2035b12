package servertest

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Environment variables that say which servers there are for tests. Their accounts must be allowed to create and drop
// databases.
const (
	EnvMariaDB  = "TEST_MARIADB_DSN"  // in the form of go-sql-driver/mysql
	EnvMySQL    = "TEST_MYSQL_DSN"    // the same
	EnvPostgres = "TEST_POSTGRES_DSN" // a URL

	// EnvServers has the names of servers, such as "mariadb,postgres", that each package's tests start for themselves,
	// if no variable names one that runs.
	EnvServers = "TEST_SERVERS"

	// EnvRequired, if set, makes a test fail that would be skipped for want of a server.
	EnvRequired = "TEST_SERVERS_REQUIRED"

	// EnvPrefer is the server of tests that do not say which they need.
	EnvPrefer = "TEST_PREFER"

	// EnvLong, if set, makes long tests run, and random ones as long as it takes to believe them.
	EnvLong = "LONG"
)

// Env is the variable that names a server of that name.
func Env(name string) string {
	switch {
	case name == PostgreSQL:
		return EnvPostgres
	case name == MySQL:
		return EnvMySQL
	}
	return EnvMariaDB
}

// NotShort skips a test that takes seconds, such as one with a server, in "go test -short".
func NotShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("not in -short")
	}
}

// LongIsSet reports whether [EnvLong] is.
func LongIsSet() bool { return os.Getenv(EnvLong) != "" }

// Long skips a test that takes minutes, unless LONG is set.
func Long(t testing.TB) {
	t.Helper()
	if !LongIsSet() {
		t.Skip("a long test: LONG=1 go test")
	}
}

// Scale is how often a random test tries: long if LONG is set.
func Scale(short, long int) int {
	if LongIsSet() {
		return long
	}
	return short
}

var (
	needed    sync.Map // names of tests -> names of their servers
	preferred = []string{MariaDB, MySQL}
)

// Prefer changes which server the tests of a package use if they do not say which they need: by default MariaDB, and
// MySQL where only that is there. It is called by init of a package of tests.
func Prefer(name string) {
	preferred = append([]string{name}, slices.DeleteFunc(slices.Clone(preferred), func(n string) bool { return n == name })...)
}

// Needs says which server a test and its subtests use: [DSN], [Admin] and [Private] are about that one. Where it is not
// there, the test is skipped.
func Needs(t testing.TB, name string) {
	t.Helper()
	NotShort(t)
	if serverOf(t, name) == "" {
		lacks(t, name)
	}
	needed.Store(t.Name(), name)
	t.Cleanup(func() { needed.Delete(t.Name()) })
}

// OnMySQLToo runs a test on MariaDB and on MySQL, each as a subtest.
func OnMySQLToo(t *testing.T, test func(t *testing.T)) { onServers(t, test, MariaDB, MySQL) }

// OnMySQLIfLong runs a test on MariaDB, and with LONG=1 on MySQL too.
func OnMySQLIfLong(t *testing.T, test func(t *testing.T)) {
	onServers(t, test, []string{MariaDB, MySQL}[:Scale(1, 2)]...)
}

func onServers(t *testing.T, test func(t *testing.T), names ...string) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			Needs(t, name)
			test(t)
		})
	}
}

// said is the server of which [Needs] said that the test, or one that it is part of, needs it; "" if it did not.
func said(t testing.TB) string {
	for name := t.Name(); name != ""; name = name[:max(strings.LastIndexByte(name, '/'), 0)] {
		if n, ok := needed.Load(name); ok {
			return n.(string)
		}
	}
	return ""
}

// Kind is the name of the test's server: what [Needs] said of the test, or of one that it is part of.
func Kind(t testing.TB) string {
	if name := said(t); name != "" {
		return name
	}
	all := preferred
	if name := os.Getenv(EnvPrefer); name != "" {
		all = append([]string{name}, all...)
	}
	for _, name := range all {
		if serverOf(t, name) != "" {
			return name
		}
	}
	return all[0]
}

// ServerDSN is the DSN of the test's server, in the form of go-sql-driver/mysql. Where there is none, the test is
// skipped.
func ServerDSN(t testing.TB) string {
	t.Helper()
	NotShort(t)
	dsn := serverOf(t, Kind(t))
	if dsn == "" {
		lacks(t, Kind(t))
	}
	return dsn
}

// OnMariaDB reports whether the test's server is MariaDB, and not MySQL. If there is none, the test is skipped.
func OnMariaDB(t testing.TB) bool {
	t.Helper()
	ServerDSN(t)
	return Kind(t) == MariaDB
}

// OnlyMariaDB is [Needs] of MariaDB for a feature that MySQL does not have.
func OnlyMariaDB(t testing.TB, feature string) {
	t.Helper()
	if name := said(t); name != "" && name != MariaDB {
		t.Skipf("only on MariaDB: %s", feature)
	}
	Needs(t, MariaDB)
}

func lacks(t testing.TB, name string) {
	t.Helper()
	text := "there is no " + name + " for tests: TEST_SERVERS=" + name + " go test, or make test"
	if os.Getenv(EnvRequired) != "" {
		t.Fatalf("%s", text)
	}
	t.Skipf("%s", text)
}

// The servers that this process has started; nil where that failed. They are kept, or the collector would close the
// locks of their folders, which [RemoveAbandoned] of another process removes then.
var (
	startMu sync.Mutex
	started = make(map[string]interface{ DSN() string })
)

// startTimeout bounds the start of a server on a slow and busy machine.
const startTimeout = 2 * time.Minute

// serverOf is the DSN of a server, which is started if EnvServers names it; "" if there is none. It ends with the process.
func serverOf(t testing.TB, name string) string {
	if dsn := os.Getenv(Env(name)); dsn != "" {
		return dsn
	}
	startMu.Lock()
	defer startMu.Unlock()
	if _, tried := started[name]; !tried && slices.Contains(strings.Split(os.Getenv(EnvServers), ","), name) {
		startFor(t, name)
	}
	if s := started[name]; s != nil {
		return s.DSN()
	}
	return ""
}

func startFor(t testing.TB, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	var err error
	started[name] = nil
	if name == PostgreSQL {
		var p *Postgres
		if p, err = StartPostgres(ctx, Options{}); err == nil {
			started[name] = p
		}
	} else {
		var s *Server
		if s, err = Start(ctx, Options{Name: name}); err == nil {
			started[name] = s
		}
	}
	if err != nil {
		t.Logf("%s: %v", name, err)
	}
}
