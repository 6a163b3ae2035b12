// Package servertest gives tests and benchmarks a real MariaDB or MySQL: a private server that they
// may fill, freeze, kill and start again, or a fresh database on the server that the environment
// variable TEST_MARIADB_DSN or TEST_MYSQL_DSN names.
//
// In tests use [DSN] (a database of one's own), [Grant] (an account with fewer rights) and [Private] (a
// server to kill). [OnlyMariaDB] is for tests of features that MySQL does not have. Without a
// *testing.T, use [Start]; to run the program of a server in a way of one's own, [Find]. The command
// with-server below this package runs any command beside servers:
//
//	go run ./internal/servertest/with-server mysql -- go test ./store/...
package servertest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// account is the one that DSN names. It has every right, a random password, and works over loopback only.
const account = "test"

// maxSocketPath is what a socket's address can hold on every system (108 bytes on Linux, 104 on the
// BSDs, with the end mark).
const maxSocketPath = 103

// Options say how a private server differs from the default.
type Options struct {
	// Name is that of the server, e.g. [MySQL]. The default is [MariaDB].
	Name string

	// Args are further arguments of the server, e.g. "--innodb-flush-log-at-trx-commit=0". They come after the default
	// ones, so they win.
	Args []string

	// Dir is the folder in which the server's own folder is made and removed again. The default is one in memory where
	// the machine has one with room (/dev/shm), else os.TempDir. Benchmarks of durable commits name a folder on a disk.
	Dir string
}

// Server is a private database server: it listens on a loopback port of its own, keeps its data in a temporary folder,
// and dies with the process that started it. Its methods are safe for concurrent use.
//
// By default its buffers are small. Every commit is flushed, as games must have it, to the disk or the memory that
// Options.Dir is on.
type Server struct {
	program *Program
	args    []string
	dir     string // removed by Stop
	lock    *os.File
	cfg     *mysql.Config

	mu  sync.Mutex
	run *running // nil unless the process lives
}

// running is one run of the server process.
type running struct {
	process *os.Process
	exited  chan struct{} // closed when the process is gone
}

// Start makes a data folder, starts a server on it and waits until it answers. The error is ErrNoProgram where this
// machine has no server program. The caller must call Stop. The context bounds Start alone.
func Start(ctx context.Context, opts Options) (*Server, error) {
	program, err := Find(ctx, cmp.Or(opts.Name, MariaDB))
	if err != nil {
		return nil, err
	}
	parent := cmp.Or(opts.Dir, memory(), os.TempDir())
	RemoveAbandoned(parent)
	dir, lock, err := New(parent)
	if err != nil {
		return nil, err
	}
	s := &Server{program: program, dir: dir, lock: lock}
	if err := s.create(ctx, opts.Args); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) create(ctx context.Context, extra []string) error {
	socket := filepath.Join(s.dir, "socket")
	if len(socket) > maxSocketPath {
		return fmt.Errorf("servertest: the socket path %q is longer than %d bytes; choose a shorter folder", socket, maxSocketPath)
	}
	data := filepath.Join(s.dir, "data")
	var options []string // that MySQL takes when it makes the folder, and then only
	for _, arg := range extra {
		if !s.program.MariaDB && strings.HasPrefix(arg, "--lower-case-table-names=") {
			options = append(options, arg)
		}
	}
	if err := s.program.Initialize(ctx, data, options...); err != nil {
		return err
	}

	// An init file works for MariaDB and MySQL alike and at every start; replicas have one of their
	// own. The password keeps other users of this machine out.
	password := rand.Text()
	initFile := filepath.Join(s.dir, "init.sql")
	initSQL := fmt.Sprintf("SET SESSION sql_log_bin = 0;\nCREATE USER IF NOT EXISTS '%[1]s'@'127.0.0.1' IDENTIFIED BY '%[2]s';\n"+
		"GRANT ALL PRIVILEGES ON *.* TO '%[1]s'@'127.0.0.1' WITH GRANT OPTION;\n", account, password)
	if err := os.WriteFile(initFile, []byte(initSQL), 0o600); err != nil {
		return err
	}

	port, err := freePort()
	if err != nil {
		return err
	}
	s.cfg = mysql.NewConfig()
	s.cfg.User = account
	s.cfg.Passwd = password
	s.cfg.Net = "tcp"
	s.cfg.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))

	s.args = append([]string{
		"--datadir=" + data,
		"--tmpdir=" + s.dir,
		"--socket=" + socket,
		"--pid-file=" + filepath.Join(s.dir, "pid"),
		"--log-error=" + s.logFile(),
		"--init-file=" + initFile,
		"--bind-address=127.0.0.1",
		"--port=" + strconv.Itoa(port),
		"--skip-name-resolve",
		"--loose-mysqlx=OFF",                     // MySQL's second port
		"--loose-innodb-parallel-read-threads=1", // MySQL begins four for each COUNT(*), which takes 20 ms
		"--loose-secure-file-priv=",
		"--skip-log-bin",
		"--performance-schema=OFF",
		"--character-set-server=utf8mb4",
		"--innodb-buffer-pool-size=64M",
		"--innodb-flush-log-at-trx-commit=1",
		"--max-connections=300",
	}, extra...)
	return s.start(ctx)
}

// Program returns what the server runs.
func (s *Server) Program() *Program { return s.program }

// DSN returns the address of the server in the form of go-sql-driver/mysql, with no database selected.
// It stays the same over Kill and Restart. The account may do everything.
func (s *Server) DSN() string { return s.cfg.FormatDSN() }

// Kill ends the server as a crash would (SIGKILL) and returns when the process is gone. Killing a server that does not
// run is no error.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end(context.Background(), os.Kill)
}

// Restart starts the server again on the same data and the same port, and waits until it answers. A server that still
// runs is shut down in an orderly way first.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock == nil {
		return errors.New("servertest: Restart after Stop: the data is gone")
	}
	if err := s.end(ctx, syscall.SIGTERM); err != nil {
		return err
	}
	return s.start(ctx)
}

// Stop ends the server and removes its folder. Further calls do nothing.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock == nil {
		return nil
	}
	// Nothing is worth an orderly shutdown: the data goes away with the server.
	err := errors.Join(s.end(context.Background(), os.Kill), os.RemoveAll(s.dir), s.lock.Close())
	s.lock = nil
	return err
}

// Alive reports whether the server process runs: it may have crashed.
func (s *Server) Alive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		return false
	}
	select {
	case <-s.run.exited:
		return false
	default:
		return true
	}
}

// Freeze has the server take connections and say nothing, as SIGSTOP does, and returns when all its
// threads stand still.
func (s *Server) Freeze() error { return s.with("Freeze", Freeze) }

// Thaw lets the server continue.
func (s *Server) Thaw() error { return s.with("Thaw", Thaw) }

// with does something to the process of the server.
func (s *Server) with(what string, do func(*os.Process) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		return fmt.Errorf("servertest: %s: the server does not run", what)
	}
	return do(s.run.process)
}

// start runs the server program and waits until it answers. The caller holds s.mu or is alone.
func (s *Server) start(ctx context.Context) error {
	cmd := s.program.Command(context.Background(), s.args...)
	cmd.Dir = s.dir
	var early bytes.Buffer // what the server says before it opens its log
	cmd.Stdout, cmd.Stderr = &early, &early
	own(cmd)

	run := &running{exited: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The child dies with the thread that forked it, so that thread must live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		run.process = cmd.Process
		started <- err
		if err == nil {
			cmd.Wait() // the exit status says less than the log does
			close(run.exited)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("servertest: start %s: %w", s.program, err)
	}
	s.run = run

	if err := s.await(ctx); err != nil {
		s.end(context.Background(), os.Kill)
		return fmt.Errorf("servertest: %s did not come up: %w\n%s%s", s.program, err, early.Bytes(), s.logTail())
	}
	return nil
}

// await returns when the server answers, or says why it does not.
func (s *Server) await(ctx context.Context) error {
	cfg := s.cfg.Clone()
	cfg.Logger = &mysql.NopLogger{} // refused connections are expected here
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		last := db.PingContext(ctx)
		if last == nil {
			return nil
		}
		select {
		case <-s.run.exited:
			return errors.New("the process ended")
		case <-ctx.Done():
			return fmt.Errorf("%w (last answer: %w)", context.Cause(ctx), last)
		case <-tick.C:
		}
	}
}

// end sends the signal and returns when the process is gone. The caller holds s.mu or is alone.
func (s *Server) end(ctx context.Context, sig os.Signal) error {
	if s.run == nil {
		return nil
	}
	if err := s.run.process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("servertest: end the server: %w", err)
	}
	select {
	case <-s.run.exited:
		s.run = nil
		return nil
	case <-ctx.Done():
		return fmt.Errorf("servertest: the server still runs after %v: %w", sig, context.Cause(ctx))
	}
}

func (s *Server) logFile() string { return filepath.Join(s.dir, "error.log") }

// logTail returns the last lines of the server's log.
func (s *Server) logTail() string {
	log, err := os.ReadFile(s.logFile())
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// freePort returns a loopback port that is free now. It lies below the range from which systems take the ports of
// outgoing connections (49152 by the standard, 32768 on Linux), so that nothing takes it between a kill and a restart.
func freePort() (int, error) {
	const low, high = 15000, 32768
	var last error
	for range 100 {
		port := low + mathrand.IntN(high-low)
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, l.Close()
		}
		last = err
	}
	return 0, fmt.Errorf("servertest: no free loopback port found: %w", last)
}
