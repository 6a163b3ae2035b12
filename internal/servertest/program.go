package servertest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
)

// The servers that tests run on, by name.
const (
	MariaDB   = "mariadb"      // the one that is installed on this machine
	MariaDB11 = "mariadb-11.8" // unpacked
	MySQL     = "mysql"        // unpacked, or the one that is installed
)

// ErrNoProgram says that this machine does not have a server of that name. The error says how to bring it.
var ErrNoProgram = errors.New("no such database server here")

// Program is a database server that can be run on this machine.
type Program struct {
	Name    string // e.g. [MySQL]
	Version string // as it tells it, e.g. "9.7.4-2"
	MariaDB bool   // otherwise it is MySQL

	Path string // of the server; [Program.Command] knows how to run it

	root string // the folder that it was unpacked into, "" if it is installed
}

// Find looks a server up by its name: where .ci/server unpacks servers, on PATH, and where systems keep servers.
// Otherwise the error is [ErrNoProgram].
func Find(ctx context.Context, name string) (*Program, error) {
	p := &Program{Name: name}
	folder, err := serversDir()
	if err != nil {
		return nil, err
	}
	root := filepath.Join(folder, name)
	if _, err := os.Stat(root); err == nil {
		p.root = root
	}
	programs := map[string]string{MariaDB: "mariadbd", MariaDB11: "mariadbd", MySQL: "mysqld"}
	switch {
	case programs[name] == "":
		return nil, fmt.Errorf("servertest: no server is called %q, want %q, %q or %q", name, MariaDB, MariaDB11, MySQL)
	case p.root != "":
		p.Path = filepath.Join(p.root, "usr/sbin", programs[name])
	case name != MariaDB11:
		p.Path, _ = installed(programs[name])
	}
	missing := fmt.Errorf("servertest: %w: %s; to bring it run .ci/server %s", ErrNoProgram, name, name)
	if p.Path == "" {
		return nil, missing
	}
	cmd := p.Command(ctx, "--version")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("servertest: %q --version: %w\n%s", p.Path, err, out)
	}
	if m := versionNumber.FindSubmatch(out); m != nil {
		p.Version = string(m[1])
	}
	p.MariaDB = strings.Contains(p.Version, "MariaDB")
	if p.MariaDB != (name != MySQL) { // MariaDB is also installed as mysqld
		return nil, missing
	}
	return p, nil
}

var versionNumber = regexp.MustCompile(`Ver (\S+)`)

// String is e.g. "mysql 9.7.4-2".
func (p *Program) String() string { return p.Name + " " + p.Version }

// serversDir is where .ci/server unpacks servers.
func serversDir() (string, error) {
	if dir := os.Getenv("TEST_SERVER_PROGRAMS"); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil { // no home
		cache = "/root/.cache"
	}
	return filepath.Join(cache, "mergesafe-servers"), nil
}

// installed returns the path of a program of this machine.
func installed(name string) (string, bool) {
	dirs := append(filepath.SplitList(os.Getenv("PATH")),
		"/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/local/bin", "/usr/bin",
		"/usr/local/mysql/bin", "/usr/libexec/mysql", "/opt/homebrew/bin", "/opt/homebrew/sbin")
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(path) {
			return path, true
		}
	}
	return "", false
}

// Command is a run of the server with these arguments, and before them those that it needs because of
// its folder. It reads no configuration of the machine. What was unpacked is started by the loader that
// was unpacked with it: the machine's own has older libraries.
func (p *Program) Command(ctx context.Context, args ...string) *exec.Cmd {
	args = append(asRoot(), args...)
	if p.root == "" {
		return exec.CommandContext(ctx, p.Path, append([]string{"--no-defaults"}, args...)...)
	}
	loader := filepath.Join(p.root, "usr/lib/*-linux-gnu*/ld-linux*.so.*")
	if found, _ := filepath.Glob(loader); len(found) > 0 {
		loader = found[0]
	}
	return exec.CommandContext(ctx, loader, append([]string{"--library-path", filepath.Dir(loader), p.Path, "--no-defaults",
		"--basedir=" + filepath.Join(p.root, "usr"), "--lc-messages-dir=" + p.share(), "--character-sets-dir=" + filepath.Join(p.share(), "charsets"),
		"--plugin-dir=" + filepath.Join(p.root, "usr/lib/mysql/plugin")}, args...)...)
}

// share is the folder of messages and character sets of a server that was unpacked.
func (p *Program) share() string {
	return filepath.Join(p.root, "usr/share", map[bool]string{true: "mariadb", false: "mysql"}[p.Name == MariaDB11])
}

// asRoot returns the argument without which a server program refuses to run as root. Nothing but this process can reach
// the private server, so there is nothing to protect by another user.
func asRoot() []string {
	if os.Geteuid() == 0 {
		return []string{"--user=root"}
	}
	return nil
}

// Initialize makes a data folder. Only this system's user may connect, as root, through the socket.
// The first folder of a program is kept beside the unpacked servers, for it takes seconds; the others
// are copies of it. The options are those that hold for a folder from the beginning.
func (p *Program) Initialize(ctx context.Context, data string, options ...string) error {
	me, err := user.Current()
	if err != nil {
		return err
	}
	folder, err := serversDir()
	if err != nil {
		return err
	}
	key := sha256.Sum256([]byte(strings.Join(append([]string{p.Path, p.Version, me.Username}, options...), "\n")))
	kept := filepath.Join(folder, "data", fmt.Sprintf("%s-%x", p.Name, key[:6]))
	if _, err := os.Stat(kept); err != nil {
		if err := p.keep(ctx, kept, me.Username, options); err != nil {
			return err
		}
	}
	if err := os.CopyFS(data, os.DirFS(kept)); err != nil {
		return fmt.Errorf("servertest: copy the data folder of %s: %w", p, err)
	}
	return nil
}

// keep makes the data folder that others are copied from.
func (p *Program) keep(ctx context.Context, kept, username string, options []string) error {
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(kept), ".new-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	data := filepath.Join(work, "data")
	var cmd *exec.Cmd
	switch {
	case !p.MariaDB:
		cmd = p.Command(ctx, append([]string{"--initialize-insecure", "--datadir=" + data, "--innodb-redo-log-capacity=8M"}, options...)...)
	case p.root != "":
		if cmd, err = p.bootstrap(ctx, data); err != nil {
			return err
		}
	default:
		install, ok := installed("mariadb-install-db")
		if !ok {
			return fmt.Errorf("servertest: %q is here but mariadb-install-db, which makes its data folder, is not", p.Path)
		}
		cmd = exec.CommandContext(ctx, install, append([]string{"--no-defaults", "--datadir=" + data, "--skip-test-db", "--skip-name-resolve",
			"--auth-root-authentication-method=socket", "--auth-root-socket-user=" + username, "--innodb-log-file-size=8M"}, asRoot()...)...)
	}
	// A server that starts removes the temporary tables of every other one that has the same folder for them.
	cmd.Env = append(os.Environ(), "TMPDIR="+work)
	own(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("servertest: %q made no data folder: %w\n%s", cmd.Path, err, out)
	}
	os.Remove(filepath.Join(data, "auto.cnf"))                                    // each server has an identity of its own
	if err := os.Rename(data, kept); err != nil && !errors.Is(err, os.ErrExist) { // another process may have been faster
		return err
	}
	return nil
}

// bootstrap does what mariadb-install-db does, which does not know how to run what was unpacked.
func (p *Program) bootstrap(ctx context.Context, data string) (*exec.Cmd, error) {
	if err := os.MkdirAll(filepath.Join(data, "mysql"), 0o700); err != nil {
		return nil, err
	}
	script := []byte("USE mysql;\nSET @auth_root_socket = NULL;\n")
	for _, name := range []string{"mariadb_system_tables", "mariadb_performance_tables", "mariadb_system_tables_data", "fill_help_tables", "maria_add_gis_sp_bootstrap"} {
		text, err := os.ReadFile(filepath.Join(p.share(), name+".sql"))
		if err != nil {
			return nil, err
		}
		script = append(append(script, text...), '\n')
	}
	cmd := p.Command(ctx, "--bootstrap", "--datadir="+data, "--skip-log-bin", "--innodb-log-file-size=8M")
	cmd.Stdin = strings.NewReader(string(script))
	return cmd, nil
}
