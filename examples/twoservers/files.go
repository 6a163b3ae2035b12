package main

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"mergesafe/merge/transfer"
	"mergesafe/store"
)

// dataDir is where the databases lie, below the working directory.
const dataDir = "data"

// applicationID tells in the header of an SQLite file whose file it is. It is
// "2srv" in ASCII.
const applicationID = 0x32737276

// planFile is where the story proposes to keep the plan of a merge of s1 and s2.
const planFile = dataDir + "/plan.json"

func (w *world) path() string { return filepath.Join(dataDir, w.name+".db") }

func (w *world) dsn() string { return "sqlite:" + w.path() }

// mark makes the file of a database one of ours.
func mark(ctx context.Context, db *store.DB) error {
	_, err := db.Exec(ctx, fmt.Sprintf("PRAGMA application_id = %d", applicationID))
	return err
}

// removeOld removes the files that an earlier run left, and returns their
// paths. It removes nothing if one of them is not ours or in use.
func removeOld(ctx context.Context, worlds ...*world) (removed []string, err error) {
	for _, w := range worlds {
		switch err := removable(ctx, w.path()); {
		case err == nil:
			removed = append(removed, w.path())
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	if isPlan(planFile) { // for databases that are not there any more
		removed = append(removed, planFile)
	}
	for _, path := range removed {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
	}
	return removed, nil
}

// isPlan reports whether a file is the plan of a merge of s1 with others.
func isPlan(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	plan, err := transfer.ReadPlan(f)
	return err == nil && plan.Worlds[0].Name == "s1"
}

// removable returns nil if the file is ours and nobody uses it.
func removable(ctx context.Context, path string) error {
	switch ours, err := isOurs(path); {
	case err != nil:
		return err
	case !ours:
		return fmt.Errorf("%s was not made by this program: move it away, or run this in another directory", path)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw")
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// To read in this mode, SQLite wants the file for itself alone.
	if _, err = conn.ExecContext(ctx, "PRAGMA locking_mode = EXCLUSIVE"); err == nil {
		_, err = conn.ExecContext(ctx, "SELECT COUNT(*) FROM sqlite_schema")
	}
	if err != nil {
		return fmt.Errorf("%s is in use: stop the game server or tool that has it open: %w", path, err)
	}
	return nil
}

// isOurs reads the application ID in the header of an SQLite file.
func isOurs(path string) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	const magic, offset = "SQLite format 3\x00", 68
	var header [offset + 4]byte
	if _, err := io.ReadFull(f, header[:]); err != nil {
		return false, nil // too short for one of ours
	}
	return string(header[:len(magic)]) == magic && binary.BigEndian.Uint32(header[offset:]) == applicationID, nil
}
