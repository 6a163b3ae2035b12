package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"mergesafe/internal/sqldb"
)

// errOtherNames: SQLite keeps the newest rows and the locks beside the name by which a file was opened.
var errOtherNames = errors.New("the file has another name (hard link): a process that opens it by that name sees neither the locks nor the newest rows " +
	"of this one; to give it a single name, replace it with a copy")

// sqliteFile makes connections that all have the same file open. The path may lead to another
// file later, or to none: then it makes no more, and [sqliteFile.check] says so.
type sqliteFile struct {
	driver.Connector
	path string // absolute

	mu   sync.Mutex // never held while the file is used, which may take long
	open int        // connections
	seen atomic.Pointer[[]seenFile]
}

// seenFile is a file, and the path at which it was.
type seenFile struct {
	path string
	info os.FileInfo
}

func lookAt(path string) (seenFile, error) {
	info, err := os.Stat(path)
	if err == nil {
		os.SameFile(info, info) // Windows finds out only now which file it is
	}
	return seenFile{path, info}, err
}

// check returns [sqldb.ErrReplaced] if the file is not where it was, and [sqldb.ErrUnavailable] if that
// cannot be looked at. With all it looks also at what SQLite keeps next to it: -wal has the newest rows, and -shm the locks. Both stay what they
// are as long as a connection is open. A look takes about a microsecond.
func (f *sqliteFile) check(all bool) error {
	seen := f.seen.Load()
	if seen == nil {
		return nil
	}
	files := *seen
	if !all {
		files = files[:1]
	}
	for _, was := range files {
		now, err := os.Stat(was.path)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return unseen(was.path, err)
		case err != nil || !os.SameFile(was.info, now):
			if f.seen.Load() != seen { // the last connection was closed meanwhile, and took -wal and -shm along
				return f.check(all)
			}
			return fmt.Errorf("store: the file %q: %w", shownPath(was.path), sqldb.ErrReplaced)
		}
	}
	return nil
}

// checkGame is check for a pool that the game opened, whose connections may all have been closed
// and opened again, with another -wal. If one was removed while it was open, Linux tells.
func (f *sqliteFile) checkGame(all bool) error {
	err := f.check(all)
	seen := f.seen.Load()
	if err != nil || !all || seen == nil {
		return err
	}
	if wal := (*seen)[0].path + "-wal"; hasRemoved(wal) {
		return fmt.Errorf("store: the file %q: %w", shownPath(wal), sqldb.ErrReplaced)
	}
	return nil
}

// unseen is the error of a file that cannot be looked at, and so may be there or not.
func unseen(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err // without the path
	}
	return fmt.Errorf("store: is the file %q still there: %w: %w", shownPath(path), sqldb.ErrUnavailable, err)
}

// shownPath is a path without what is secret.
func shownPath(path string) string { return sqldb.Place{Path: path}.String() }

// Connect implements [driver.Connector].
func (f *sqliteFile) Connect(ctx context.Context) (driver.Conn, error) {
	if f.seen.Load() == nil {
		if err := f.find(ctx); err != nil {
			return nil, err
		}
	}
	if err := f.check(true); err != nil {
		return nil, err // and make no file in the place of one that was removed
	}
	conn, err := f.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := f.check(true); err != nil { // it may have opened another file
		conn.Close()
		return nil, err
	}
	f.mu.Lock()
	f.open++
	first := f.open == 1
	f.mu.Unlock()
	if first {
		f.addCompanions(ctx, conn.(driver.QueryerContext))
	}
	return &fileConn{conn.(sqldb.Conn), f}, nil
}

// find looks which file it is, and makes it if there is none.
func (f *sqliteFile) find(ctx context.Context) error {
	file, err := lookAt(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		conn, failed := f.Connector.Connect(ctx)
		if failed != nil {
			return failed
		}
		if failed := conn.Close(); failed != nil {
			return failed
		}
		file, err = lookAt(f.path)
	}
	if err != nil {
		return err
	}
	f.seen.CompareAndSwap(nil, &[]seenFile{file}) // the first look counts
	return nil
}

// addCompanions has check look at -wal and -shm as well. SQLite makes them with the first
// read, unless the database has none. They lie where the file is, not where a link to it is.
func (f *sqliteFile) addCompanions(ctx context.Context, conn driver.QueryerContext) {
	if rows, err := conn.QueryContext(ctx, "PRAGMA user_version", nil); err == nil {
		rows.Next(make([]driver.Value, 1))
		rows.Close()
	}
	seen := (*f.seen.Load())[:1:1]
	if path, err := filepath.EvalSymlinks(f.path); err == nil {
		for _, suffix := range []string{"-wal", "-shm"} {
			if file, err := lookAt(path + suffix); err == nil {
				seen = append(seen, file)
			}
		}
	}
	f.seen.Store(&seen)
}

type fileConn struct {
	sqldb.Conn
	file *sqliteFile
}

// Close implements [driver.Conn]. The last connection to a file removes its -wal
// and -shm.
func (c *fileConn) Close() error {
	f := c.file
	f.mu.Lock()
	if f.open--; f.open == 0 {
		main := (*f.seen.Load())[:1:1]
		f.seen.Store(&main)
	}
	f.mu.Unlock()
	return c.Conn.Close()
}

// placeOf says where a file is, or would be.
func placeOf(path string) (p sqldb.Place, err error) {
	if p.Path, err = filepath.Abs(path); err != nil {
		return p, err
	}
	real, err := filepath.EvalSymlinks(p.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if folder, err := filepath.EvalSymlinks(filepath.Dir(p.Path)); err == nil {
			p.Path = filepath.Join(folder, filepath.Base(p.Path))
		}
		return p, nil
	}
	if err != nil {
		return p, err
	}
	p.Path = real
	if p.File, err = os.Stat(real); err != nil {
		return p, err
	}
	os.SameFile(p.File, p.File) // Windows finds out only now which file it is
	p.Remote = remote(real)
	return p, nil
}
