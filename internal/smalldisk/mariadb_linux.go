package smalldisk

import (
	"testing"

	"mergesafe/internal/mariadbtest"
)

// MariaDB starts a server on a disk of that size, and stops it with the test. Its log is small, so that the disk is for rows.
// Where there is no program of a server, or no disk to be had, the test is skipped.
func MariaDB(t testing.TB, size string, args ...string) (*Disk, *mariadbtest.Server) {
	t.Helper()
	if _, err := mariadbtest.FindProgram(); err != nil {
		t.Skip(err)
	}
	d := Mount(t, size)
	server, err := mariadbtest.Start(t.Context(), mariadbtest.Options{Dir: d.Path(), Args: append([]string{"--innodb-log-file-size=8M"}, args...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	return d, server
}
