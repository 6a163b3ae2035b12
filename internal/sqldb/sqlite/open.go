package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"mergesafe/internal/sqldb"
)

// parameter matches what comes behind the path in a URI.
var parameter = regexp.MustCompile(`\?\w+=`)

// isPath returns an error, which quotes nothing, for what other programs take beside a path: a file of that name would be
// made, which is not what was asked for.
func isPath(path string) error {
	switch {
	case path == "":
		return errors.New("no path after \"sqlite:\"")
	case filepath.Clean(path) == ":memory:":
		return errors.New("every connection would get its own database in memory: use a file, for example in a temporary directory")
	case strings.HasPrefix(path, "file:"):
		return errors.New("it is a URI: want the path alone, without \"file:\"")
	case parameter.MatchString(path):
		return errors.New("want the path of a file: it takes no parameters, such as ?mode=ro")
	case strings.Contains(path, "\x00"):
		return errors.New("want the path of a file: this one contains a zero byte")
	case path != strings.TrimSpace(path):
		return errors.New("want the path of a file: this one begins or ends with a space")
	}
	return nil
}

func openSQLite(path string, access sqldb.Access) (_ *sqliteFile, check func() error, err error) {
	readOnly := access == sqldb.ReadOnly
	path = filepath.Clean(path) // as in filepath.Abs below
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, nil, errors.New("it is a directory: want the path of a file")
	case err == nil && !info.Mode().IsRegular(): // a read of a pipe waits for a writer
		return nil, nil, errors.New("it is a device or a pipe: want the path of a file")
	case err == nil && !readOnly && names(info) > 1:
		return nil, nil, errOtherNames
	case errors.Is(err, fs.ErrNotExist):
		if dir, err := os.Stat(cmp.Or(filepath.Dir(path), ".")); err != nil || !dir.IsDir() {
			return nil, nil, fmt.Errorf("no directory %q: create it first, or correct the path", filepath.Dir(path))
		}
		switch access {
		case sqldb.ReadOnly:
			return nil, nil, errors.New("no such file: check the path; a database opened read-only must exist")
		case sqldb.WriteExisting, sqldb.Alone:
			return nil, nil, errors.New("no such file: check the path")
		}
	case err != nil:
		return nil, nil, err
	}
	if path, err = filepath.Abs(path); err != nil { // all connections mean one path
		return nil, nil, err
	}
	options := url.Values{
		"_busy_timeout": {strconv.FormatInt(sqldb.BusyTimeout.Milliseconds(), 10)},
		"_dqs":          {"0"}, // "text" in double quotes is a column, and nothing else
		// Times are integers in columns declared DATETIME, and by timeConnector in those
		// declared DATETIME(3). Microseconds, because the driver takes small numbers of
		// milliseconds for seconds.
		"_inttotime":           {"1"},
		"_time_integer_format": {"unix_micro"},
	}
	if readOnly {
		return openSQLiteReadOnly(path, options)
	}
	switch access {
	case sqldb.Alone: // without -shm, for which a full disk has no room
		options.Set("mode", "rw")
		options.Set("_pragma", "locking_mode(EXCLUSIVE)")
		options.Set("_busy_timeout", "0") // the caller says why it waits
	case sqldb.WriteExisting:
		options.Set("mode", "rw")
	default:
		options.Set("mode", "rwc")
		options.Set("_journal_mode", "WAL")
	}
	options.Set("_foreign_keys", "1")
	// A transaction is on the disk before its commit returns. The registry
	// relies on it.
	options.Set("_synchronous", "FULL")
	// A transaction that has read and then wants to write could not wait for
	// another writer: it takes the lock when it begins.
	options.Set("_txlock", "immediate")
	connector, err := sqlite.NewConnector(sqliteURI(path, options))
	return &sqliteFile{Connector: timeConnector{busyConnector{connector, path, options}}, path: path}, nil, err
}

func openSQLiteReadOnly(path string, options url.Values) (_ *sqliteFile, check func() error, err error) {
	options.Set("mode", "ro")
	options.Set("_query_only", "1")
	// The files beside it lie where the file is, not where a link to it is.
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, nil, err
	}
	before, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	_, err = os.Stat(path + "-wal")
	closed := errors.Is(err, fs.ErrNotExist)
	wal := false
	if closed { // what is in -wal may be what makes the file whole
		if wal, err = isWAL(path); err != nil {
			return nil, nil, err
		}
	}
	if wal {
		// Nobody has it open: everybody who uses a database in WAL mode has a
		// -wal file. SQLite would make one even now; only "immutable" stops
		// that. It also turns locking off, so a writer that comes later is
		// noticed by what it leaves: it cannot change what we read without
		// changing the file itself.
		options.Set("immutable", "1")
		check = func() error {
			now, err := os.Stat(path)
			switch {
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				return unseen(path, err)
			case err != nil || now.Size() != before.Size() || now.ModTime() != before.ModTime() || !os.SameFile(now, before):
				return fmt.Errorf("store: the file %q: %w", shownPath(path), sqldb.ErrChanged)
			}
			return nil
		}
	}
	connector, err := sqlite.NewConnector(sqliteURI(path, options))
	return &sqliteFile{Connector: timeConnector{busyConnector{connector, path, options}}, path: path}, check, err
}

// busyConnector makes connections that wait for a lock as long as their first use allows: see [sqldb.Waiting].
type busyConnector struct {
	driver.Connector
	path    string
	options url.Values
}

func (c busyConnector) Connect(ctx context.Context) (driver.Conn, error) {
	busy := sqldb.BusyFor(ctx)
	if busy == sqldb.BusyTimeout || c.options.Get("_busy_timeout") == "0" {
		return c.Connector.Connect(ctx)
	}
	options := maps.Clone(c.options)
	options.Set("_busy_timeout", strconv.FormatInt(busy.Milliseconds(), 10))
	connector, err := sqlite.NewConnector(sqliteURI(c.path, options))
	if err != nil {
		return nil, err
	}
	return connector.Connect(ctx)
}

// isWAL reads from the header whether a database is in WAL mode. SQLite reads it, because
// this process must not: when it closes a file that it opened by itself, its connections lose their locks on that file.
// With immutable, SQLite takes no lock and makes no file.
func isWAL(path string) (wal bool, err error) {
	connector, err := sqlite.NewConnector(sqliteURI(path, url.Values{"mode": {"ro"}, "immutable": {"1"}}))
	if err != nil {
		return false, err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	const readVersion = "SELECT hex(substr(data, 20, 1)) = '02' FROM sqlite_dbpage WHERE pgno = 1"
	err = db.QueryRow(readVersion).Scan(&wal)
	switch e, _ := errors.AsType[*sqlite.Error](err); {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil // an empty file is an empty database
	case e != nil && e.Code() == sqlite3.SQLITE_NOTADB:
		return false, errors.New("the file is not an SQLite database")
	}
	return wal, err
}

// sqliteURI is the URI by which SQLite opens the file at path. Options are the
// driver's.
func sqliteURI(path string, options url.Values) string {
	// SQLite decodes %xx in a URI; everything special in a path is escaped.
	u := url.URL{Path: path}
	escaped := strings.ReplaceAll(u.EscapedPath(), "%2F", "/")
	return "file:" + escaped + "?" + options.Encode()
}
