package mariadbtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
)

// ErrNoProgram says that no MariaDB or MySQL server program was found on this machine.
var ErrNoProgram = errors.New("mariadbtest: no mariadbd or mysqld found; on Debian or Ubuntu: apt-get install mariadb-server-core mariadb-client-core")

// FindProgram returns the path of the database server program, looked for on PATH and where systems keep servers, or
// ErrNoProgram.
func FindProgram() (string, error) {
	if path, ok := find("mariadbd", "mysqld"); ok {
		return path, nil
	}
	return "", ErrNoProgram
}

// find returns the first of the programs that exists.
func find(names ...string) (string, bool) {
	dirs := append(filepath.SplitList(os.Getenv("PATH")),
		"/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/local/bin", "/usr/bin",
		"/usr/local/mysql/bin", "/usr/libexec/mysql", "/opt/homebrew/bin", "/opt/homebrew/sbin")
	for _, name := range names {
		for _, dir := range dirs {
			if dir == "" {
				continue
			}
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(path) {
				return path, true
			}
		}
	}
	return "", false
}

// initialize makes a data folder in which only this system's user may come in as root, through the socket.
func initialize(ctx context.Context, program, data string) error {
	version, err := exec.CommandContext(ctx, program, "--no-defaults", "--version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("mariadbtest: %q --version: %w\n%s", program, err, version)
	}
	var cmd *exec.Cmd
	if strings.Contains(string(version), "MariaDB") {
		install, ok := find("mariadb-install-db", "mysql_install_db")
		if !ok {
			return fmt.Errorf("mariadbtest: %q is here but mariadb-install-db, which makes its data folder, is not", program)
		}
		me, err := user.Current()
		if err != nil {
			return err
		}
		cmd = exec.CommandContext(ctx, install, append([]string{"--no-defaults", "--datadir=" + data, "--skip-test-db", "--skip-name-resolve",
			"--auth-root-authentication-method=socket", "--auth-root-socket-user=" + me.Username}, asRoot()...)...)
	} else {
		cmd = exec.CommandContext(ctx, program, append([]string{"--no-defaults", "--initialize-insecure", "--datadir=" + data}, asRoot()...)...)
	}
	// A server that starts removes the temporary tables of every other one that has the same folder for them.
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Dir(data))
	ownProcess(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mariadbtest: %q made no data folder: %w\n%s", cmd.Path, err, out)
	}
	return nil
}

// asRoot returns the argument without which a server program refuses to run as root. Nothing but this process can reach
// the private server, so there is nothing to protect by another user.
func asRoot() []string {
	if os.Geteuid() == 0 {
		return []string{"--user=root"}
	}
	return nil
}
