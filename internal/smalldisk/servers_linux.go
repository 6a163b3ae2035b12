package smalldisk

import (
	"errors"
	"os"
	"testing"

	"mergesafe/internal/servertest"
)

// MariaDB starts a server on a disk of that size, and stops it with the test. Its log is small, so
// that the disk is for rows. If this machine has no program of a server, or cannot make the disk, the
// test is skipped.
func MariaDB(t testing.TB, size string, args ...string) (*Disk, *servertest.Server) {
	t.Helper()
	servertest.OnlyMariaDB(t, "what a full disk does is tried there")
	if _, err := servertest.Find(t.Context(), servertest.MariaDB); err != nil {
		t.Skip(err)
	}
	d := Mount(t, size)
	server, err := servertest.Start(t.Context(), servertest.Options{Name: servertest.MariaDB, Dir: d.Path(), Args: append([]string{"--innodb-log-file-size=8M"}, args...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	return d, server
}

// Postgres is the same with a PostgreSQL.
func Postgres(t testing.TB, size string) (*Disk, *servertest.Postgres) {
	t.Helper()
	d := Mount(t, size)
	if err := os.Chmod(d.Path(), 0o755); err != nil { // the server has an account of its own
		t.Fatal(err)
	}
	server, err := servertest.StartPostgres(t.Context(), servertest.Options{Dir: d.Path()})
	if errors.Is(err, servertest.ErrNoProgram) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	return d, server
}
