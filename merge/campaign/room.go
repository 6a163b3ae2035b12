package campaign

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
)

// roomSpare is what a merge needs beside the rows: checkpoints, renames, keys.
const roomSpare = 64 << 20

// roomFor is how much room a merge may need where its new database is: twice what the worlds have
// now, since a database first writes rows to a log, and fills its pages less when rows
// come out of order.
func roomFor(ctx context.Context, worlds []merge.Database) (bytes int64, err error) {
	for _, d := range worlds {
		n, err := sizeOf(ctx, d)
		if err != nil {
			return 0, fmt.Errorf("database %q: %w", d.Name, err)
		}
		bytes += n
	}
	return 2*bytes + roomSpare, nil
}

// sizeOf is how many bytes a database has on its disk.
func sizeOf(ctx context.Context, d merge.Database) (bytes int64, err error) {
	dialect, path, err := sqldb.SplitDSN(d.DSN)
	if err != nil {
		return 0, err
	}
	if dialect == sqldb.SQLite {
		for _, beside := range []string{"", "-wal"} {
			if info, err := os.Stat(path + beside); err == nil {
				bytes += info.Size()
			} else if beside == "" {
				return 0, err
			}
		}
		return bytes, nil
	}
	db, err := sqldb.Dial(ctx, d.DSN, sqldb.ReadOnly)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	const query = "SELECT CAST(COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) AS SIGNED) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
	err = db.Get(ctx, &bytes, query)
	return bytes, err
}

// Free returns what tells how many bytes are left where a database is, or would be made. On a server the folder is that of
// a world, if one of the same address is there.
func Free(world merge.Database) func(ctx context.Context, d merge.Database) (bytes int64, known bool) {
	return func(ctx context.Context, d merge.Database) (int64, bool) {
		if serverOf(d) == serverOf(world) && serverOf(d) != string(sqldb.SQLite) {
			d = world
		}
		folder, err := folderOf(ctx, d)
		if err != nil || folder == "" {
			return 0, false
		}
		_, free, known := diskOf(folder)
		return free, known
	}
}

// folderOf is the folder of this machine that a database writes to; "" if it may be on
// another one.
func folderOf(ctx context.Context, d merge.Database) (string, error) {
	dialect, path, err := sqldb.SplitDSN(d.DSN)
	if err != nil {
		return "", err
	}
	if dialect == sqldb.SQLite {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		return filepath.Dir(path), nil
	}
	if server, ok := sqldb.ParseServer(d.DSN); !ok || !here(server) {
		return "", nil
	}
	db, err := sqldb.Dial(ctx, d.DSN, sqldb.ReadOnly)
	if err != nil {
		return "", err
	}
	defer db.Close()
	var at struct {
		Folder string `db:"folder"`
		Host   string `db:"host"`
		Name   string `db:"name"`
	}
	if err := db.Get(ctx, &at, "SELECT @@datadir AS folder, @@hostname AS host, DATABASE() AS name"); err != nil {
		return "", err
	}
	// A tunnel or a container may answer at an address of this machine.
	if host, err := os.Hostname(); err != nil || host != at.Host {
		return "", nil
	}
	if info, err := os.Stat(filepath.Join(at.Folder, at.Name)); err != nil || !info.IsDir() {
		return "", nil
	}
	return at.Folder, nil
}

// serverOf is the database server of a database: its address. All files of SQLite are on one.
func serverOf(d merge.Database) string {
	if s, ok := sqldb.ParseServer(d.DSN); ok {
		return s.Address
	}
	return string(sqldb.SQLite)
}

// here reports whether an address is one of this machine.
func here(s sqldb.Server) bool {
	if s.Network == "unix" {
		return true
	}
	if strings.Contains(s.Address, ",") {
		return false
	}
	host, _, err := net.SplitHostPort(s.Address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}
