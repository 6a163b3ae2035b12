//go:build linux

package torture

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"mergesafe/internal/servertest"
)

// packages are those of Debian and Ubuntu that have what the cluster needs.
const packages = "on Debian or Ubuntu, as root: apt-get install mariadb-server-core mariadb-client-core galera-4 rsync lsof"

// provider is the part of Galera that is loaded into the server.
const provider = "/usr/lib/galera/libgalera_smm.so"

func requireGalera(t *testing.T) {
	t.Helper()
	for _, program := range []string{"mariadb-install-db", "rsync", "lsof"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v; %s", err, packages)
		}
	}
	if _, err := servertest.Find(t.Context(), servertest.MariaDB); err != nil {
		t.Fatalf("%v; %s", err, packages)
	}
	if _, err := os.Stat(provider); err != nil {
		t.Fatalf("%v; %s", err, packages)
	}
}

// newHome makes the folder of a cluster, removed at the test's end.
func newHome(t *testing.T) string {
	t.Helper()
	servertest.RemoveAbandoned(os.TempDir())
	dir, lock, err := servertest.New(os.TempDir())
	must(t, err)
	t.Cleanup(func() {
		lock.Close()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// unprivileged tells as whom to run Galera: rsync refuses to work among processes
// of root.
func unprivileged(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	who, err := user.Lookup("mysql")
	if errors.As(err, new(user.UnknownUserError)) {
		who, err = user.Lookup("nobody")
	}
	must(t, err)
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	must(t, err)
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	must(t, err)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func own(path string, who *syscall.Credential) error {
	if who == nil {
		return nil
	}
	return os.Chown(path, int(who.Uid), int(who.Gid))
}

// transferScripts returns the folder of the scripts by which one node copies
// its data from another. Debian has them in the package of the system service,
// which a test should not install: so they are only unpacked, into dir.
func transferScripts(t *testing.T, dir string) string {
	t.Helper()
	const script = "wsrep_sst_rsync"
	if path, err := exec.LookPath(script); err == nil {
		return filepath.Dir(path)
	}
	unpacked := filepath.Join(dir, "scripts")
	must(t, os.Mkdir(unpacked, 0o755))
	for _, command := range []string{
		"apt-get download -q mariadb-server || { apt-get update -q && apt-get download -q mariadb-server; }",
		"dpkg-deb -x mariadb-server_*.deb .",
		"rm mariadb-server_*.deb",
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir = unpacked
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s is not on PATH, and %q: %v\n%s\ninstall the package mariadb-server, which has it", script, command, err, out)
		}
	}
	scripts := filepath.Join(unpacked, "usr", "bin")
	if _, err := os.Stat(filepath.Join(scripts, script)); errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the package mariadb-server has no %s", script)
	}
	return scripts
}
