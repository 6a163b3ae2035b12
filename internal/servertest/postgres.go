package servertest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // "pgx"
)

// PostgreSQL is the name of that server, for with-server.
const PostgreSQL = "postgres"

// Postgres is a private PostgreSQL, as [Server] is a MySQL: it listens on a loopback port of its own, keeps its
// data in a temporary folder, and dies with the process that started it. Commits wait for the disk or the memory
// that the folder is on.
type Postgres struct {
	Port int

	bin, dir string
	args     []string
	lock     *os.File
	run      *running
}

// StartPostgres is [Start] of a PostgreSQL. opts.Args are settings such as "fsync=off".
func StartPostgres(ctx context.Context, opts Options) (*Postgres, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // as Debian has it
	if path, err := exec.LookPath("postgres"); err == nil && len(found) == 0 {
		found = append(found, path)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: no PostgreSQL; to bring it: .ci/server postgres", ErrNoProgram)
	}
	parent := cmp.Or(opts.Dir, memory(), os.TempDir())
	RemoveAbandoned(parent)
	dir, lock, err := New(parent)
	if err != nil {
		return nil, err
	}
	p := &Postgres{bin: filepath.Dir(found[len(found)-1]), dir: dir, lock: lock}
	initdb := []string{"initdb", "-U", "root", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"}
	if err := p.create(ctx, initdb, opts.Args); err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

// Standby starts a server that follows this one, as asynchronously as a standby is by default.
func (p *Postgres) Standby(ctx context.Context) (*Postgres, error) {
	dir, lock, err := New(filepath.Dir(p.dir))
	if err != nil {
		return nil, err
	}
	s := &Postgres{bin: p.bin, dir: dir, lock: lock}
	if err := s.create(ctx, []string{"pg_basebackup", "-d", p.DSN(), "--write-recovery-conf", "--checkpoint=fast", "--no-sync"}, nil); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (p *Postgres) create(ctx context.Context, making, args []string) (err error) {
	if p.Port, err = freePort(); err != nil {
		return err
	}
	if err := p.own(); err != nil {
		return err
	}
	data := filepath.Join(p.dir, "data")
	if out, err := p.command(ctx, making[0], append(making[1:], "-D", data)...).CombinedOutput(); err != nil {
		return fmt.Errorf("servertest: %s: %w: %s", making[0], err, out)
	}
	p.args = []string{"-D", data, "-p", strconv.Itoa(p.Port), "-k", p.dir}
	settings := []string{"listen_addresses=127.0.0.1", "max_connections=300", "shared_buffers=32MB",
		"max_prepared_transactions=2"}
	for _, arg := range append(settings, args...) {
		p.args = append(p.args, "-c", arg)
	}
	return p.Restart(ctx)
}

// own gives the folder to the account that runs the server, which root must not be.
func (p *Postgres) own() error {
	if os.Getuid() != 0 {
		return nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	return os.Chown(p.dir, uid, -1)
}

func (p *Postgres) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, name), args...)
	cmd.Dir = p.dir
	if os.Getuid() == 0 { // setpriv keeps the process that dies with this one
		cmd.Args = slices.Concat([]string{"setpriv", "--reuid=nobody", "--clear-groups", "--pdeathsig=KILL", cmd.Path}, args)
		cmd.Path, cmd.Err = exec.LookPath("setpriv")
	}
	own(cmd)
	return cmd
}

// Restart starts the server that was killed, or came to its end.
func (p *Postgres) Restart(ctx context.Context) error {
	cmd := p.command(context.WithoutCancel(ctx), "postgres", p.args...)
	log, err := os.OpenFile(filepath.Join(p.dir, "error.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	p.run = &running{process: cmd.Process, exited: make(chan struct{})}
	go func(run *running) { cmd.Wait(); close(run.exited) }(p.run)
	db, err := sql.Open("pgx", p.DSN())
	if err != nil {
		return err
	}
	defer db.Close()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case <-p.run.exited:
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
			continue
		}
		text, _ := os.ReadFile(log.Name())
		return fmt.Errorf("servertest: PostgreSQL does not answer: %w: %s", err, text[max(0, len(text)-2000):])
	}
}

// DSN is the URL of the database that every server has.
func (p *Postgres) DSN() string { return fmt.Sprintf("postgres://root@127.0.0.1:%d/postgres", p.Port) }

// Alive reports whether the server's first process runs.
func (p *Postgres) Alive() bool {
	select {
	case <-p.run.exited:
		return false
	default:
		return true
	}
}

// Kill ends all processes of the server at once, as kill -9 does, and waits for their end: as long as one has the
// server's shared memory, no other starts.
func (p *Postgres) Kill() error {
	if p.run == nil {
		return nil
	}
	backends := children(p.run.process.Pid)
	err := p.each((*os.Process).Kill)
	<-p.run.exited
	p.run = nil
	deadline := time.Now().Add(time.Minute) // where no process waits for orphans, they stay
	for _, pid := range backends {
		for backend, _ := os.FindProcess(pid); backend.Signal(syscall.Signal(0)) == nil && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
	}
	return err
}

// Freeze stops all processes of the server, until [Postgres.Thaw].
func (p *Postgres) Freeze() error { return p.each(Freeze) }

// Thaw lets them go on.
func (p *Postgres) Thaw() error { return p.each(Thaw) }

// each reaches all processes: each backend is a session of its own, and so a group of its own. One may have ended.
func (p *Postgres) each(signal func(*os.Process) error) error {
	for _, pid := range children(p.run.process.Pid) {
		if child, err := os.FindProcess(pid); err == nil {
			signal(child)
		}
	}
	return signal(p.run.process)
}

// children lists the processes that a process has started, where the system tells.
func children(pid int) (all []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// Stop ends the server and removes its folder.
func (p *Postgres) Stop() error {
	p.Kill()
	p.lock.Close()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) { // backends end by themselves soon after
		if err := os.RemoveAll(p.dir); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// PrivatePostgres starts a server with those settings for a test, which is skipped where there is none.
func PrivatePostgres(t testing.TB, settings ...string) *Postgres {
	t.Helper()
	NotShort(t)
	p, err := StartPostgres(t.Context(), Options{Args: settings})
	if errors.Is(err, ErrNoProgram) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop() })
	return p
}

// PostgresDSN makes a fresh, empty database on the PostgreSQL for tests, drops it at the test's end, and returns its
// URL. Where there is none, the test is skipped.
func PostgresDSN(t testing.TB) string {
	t.Helper()
	NotShort(t)
	server := serverOf(t, PostgreSQL)
	if server == "" {
		lacks(t, PostgreSQL)
	}
	return PostgresDatabase(t, server)
}

// PostgresDatabase is [PostgresDSN] on the server of a URL.
func PostgresDatabase(t testing.TB, server string) string {
	t.Helper()
	name := randomName()
	run := func(statement string) {
		ctx, cancel := context.WithTimeout(context.Background(), adminTimeout)
		defer cancel()
		db, err := sql.Open("pgx", server)
		if err == nil {
			defer db.Close()
			_, err = db.ExecContext(ctx, statement)
		}
		if err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	// Templates are copied by a checkpoint otherwise, which takes longer.
	run("CREATE DATABASE " + name + " TEMPLATE template0 STRATEGY wal_log")
	t.Cleanup(func() { run("DROP DATABASE " + name + " WITH (FORCE)") })
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}
