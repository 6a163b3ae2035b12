package world

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mergesafe/internal/naming"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
)

// filePath is the path of a database that is a file, as connections find it.
func filePath(d Database) (path string, is bool) {
	if path, is = strings.CutPrefix(d.DSN, string(sqldb.SQLite)+":"); is && path != "" {
		path = filepath.Clean(path)
	}
	return path, is
}

// Exists reports whether there is such a database. A file of 0 bytes is none yet.
func Exists(ctx context.Context, d Database) (bool, error) {
	if path, file := filePath(d); file {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("database %q: %w", d.Name, fileError(err))
		}
		return info.Size() > 0, nil
	}
	server, name, err := Server(d)
	if err != nil {
		return false, fmt.Errorf("database %q: %w", d.Name, err)
	}
	on := &Connection{Database: server}
	defer on.Close()
	n, err := on.Number(ctx, "SELECT COUNT(*) FROM SCHEMATA WHERE SCHEMA_NAME = ?", false, name)
	return n > 0, err
}

// PlaceOf says where a database is, or is to be made.
func PlaceOf(ctx context.Context, d Database) (p sqldb.Place, err error) {
	if path, file := filePath(d); file {
		if !sqldb.IsPlainPath(path) {
			return p, nil // it is not shown
		}
		if p, err = sqldb.SQLite.PlaceOfFile(path); err != nil {
			err = fmt.Errorf("database %q: %w", d.Name, fileError(err))
		}
		return p, err
	}
	server, name, err := Server(d)
	if err != nil {
		return p, fmt.Errorf("database %q: %w", d.Name, err)
	}
	db, err := sqldb.Dial(ctx, server.DSN, sqldb.ReadOnly)
	if err != nil {
		return p, fmt.Errorf("database %q: %w", d.Name, err)
	}
	defer db.Close()
	at, err := db.Locate(ctx)
	if err != nil {
		return p, fmt.Errorf("database %q: %w", d.Name, err)
	}
	at.Place.Database = name
	return at.Place, nil
}

// MayMake says why there cannot be a database that [Exists] did not find, as far as that is known before it is made.
func MayMake(d Database) error {
	if path, file := filePath(d); file {
		return mayMake(path)
	}
	return nil
}

// Contains lists the names of what is in a database, tables of ours among it; on a server, no triggers.
func Contains(ctx context.Context, on *Connection) ([]string, error) { return contains(ctx, on, "") }

// Beside lists the names of what is in a database beside a table and its triggers. What is no table may have the name of one.
func Beside(ctx context.Context, on *Connection, table string) ([]string, error) {
	have, err := contains(ctx, on, table)
	if err == nil && on.Dialect().MySQL() {
		var triggers []Object
		triggers, err = Triggers(ctx, on)
		for _, o := range triggers {
			if o.Table != table {
				have = append(have, o.Name)
			}
		}
		slices.Sort(have)
	}
	return slices.Compact(have), err
}

func contains(ctx context.Context, on *Connection, table string) ([]string, error) {
	if !on.Dialect().MySQL() {
		return on.Texts(ctx, "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND NOT (type = 'table' AND name = ? COLLATE NOCASE) ORDER BY name", table)
	}
	have, err := on.Texts(ctx, `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND NOT (TABLE_TYPE = 'BASE TABLE' AND CAST(TABLE_NAME AS BINARY) = ?)
		UNION ALL SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()
		UNION ALL SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()`, table)
	slices.Sort(have)
	return slices.Compact(have), err // a package and its body have one name
}

// TablesOf are those of some tables that are there and of a type: "BASE TABLE" or, of MariaDB, "SEQUENCE". Names that differ in case
// only are one where a server takes them so; SQLite has them as they were made.
func TablesOf(ctx context.Context, on *Connection, kind string, names []string) ([]string, error) {
	if !on.Dialect().MySQL() {
		there, err := on.Texts(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table'")
		return slices.DeleteFunc(there, func(table string) bool { return !slices.Contains(names, table) }), err
	}
	folds, err := on.Number(ctx, "SELECT @@lower_case_table_names <> 0", false)
	if err != nil {
		return nil, err
	}
	there, err := on.Texts(ctx, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = ?", kind)
	return slices.DeleteFunc(there, func(table string) bool {
		return !slices.Contains(names, table) && (folds == 0 || !naming.Among(names, table))
	}), err
}

// Tables are the names of the tables.
func (s *Schema) Tables() []string {
	return slice.Map(s.of(Table), func(o *Object) string { return o.Name })
}

// Has reports whether there is such an object.
func (s *Schema) Has(kind Kind, name string) bool {
	return slices.ContainsFunc(s.of(kind), func(o *Object) bool { return o.Name == name })
}

// Besides is how many things are made beside tables and what is part of these.
func (s *Schema) Besides() int {
	return len(s.Objects) - len(s.of(Table, Column, PrimaryKey, Check, Period))
}

// Others are the names of what is in a database of SQLite and is neither of s nor one of ours, nor goes with one of these.
func (s *Schema) Others(ctx context.Context, on *Connection, ours []string) (others []string, err error) {
	const all = `SELECT s.name, COALESCE(t.name, s.name) FROM sqlite_schema AS s LEFT JOIN sqlite_schema AS t ON s.type IN ('index', 'trigger')
		AND t.type IN ('table', 'view') AND t.name = s.tbl_name COLLATE NOCASE WHERE s.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY s.name`
	goes := append(slice.Map(s.Objects, func(o Object) string { return o.Name }), ours...) // the cases of Ä are two names there
	err = on.Rows(ctx, all, false, nil, func(row []any) (bool, error) {
		if name := Text(row[0]); !slices.Contains(goes, name) && !slices.Contains(goes, Text(row[1])) {
			others = append(others, name)
		}
		return true, nil
	})
	return others, err
}

// Triggers are all triggers of a database, those of our tables too. Of each only its name and its table are known.
func Triggers(ctx context.Context, on *Connection) (all []Object, err error) {
	query := "SELECT s.name, t.name FROM sqlite_schema AS s JOIN sqlite_schema AS t ON t.type IN ('table', 'view') AND t.name = s.tbl_name COLLATE NOCASE WHERE s.type = 'trigger' ORDER BY s.name"
	if on.Dialect().MySQL() {
		query = "SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() ORDER BY TRIGGER_NAME"
	}
	err = on.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
		all = append(all, Object{Kind: Trigger, Name: Text(row[0]), Table: Text(row[1])})
		return true, nil
	})
	return all, err
}

// DropReaders removes from a database what s has beside its tables and what is part of them, and what reads tables: its views,
// the one that a merge adds, its routines and events. It changes the sql_mode of a session of MariaDB.
func (s *Schema) DropReaders(ctx context.Context, from *Connection) error {
	have, err := Contains(ctx, from)
	if err != nil {
		return err
	}
	words := map[Kind]string{Event: "EVENT", Procedure: "PROCEDURE", Function: "FUNCTION", PackageBody: "PACKAGE BODY", Package: "PACKAGE"}
	for _, kind := range []Kind{PackageBody, Package, Function, Procedure, Event} {
		if s.Engine == mariadb && (kind == PackageBody || kind == Function) && len(s.of(Package)) > 0 {
			// Outside of that mode MariaDB 10.11 does not know the word.
			mode := map[Kind]string{PackageBody: "'ORACLE'", Function: "''"}[kind]
			if err := drop(ctx, from, "SET SESSION sql_mode = "+mode); err != nil {
				return err
			}
		}
		for _, o := range s.of(kind) {
			if slices.Contains(have, o.Name) {
				if err := drop(ctx, from, "DROP "+words[kind]+" IF EXISTS "+from.Dialect().Quote(o.Name)); err != nil {
					return err
				}
			}
		}
	}
	query := "SELECT name FROM sqlite_schema WHERE type = 'view'"
	if from.Dialect().MySQL() {
		query = "SELECT TABLE_NAME FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()"
	}
	views, err := from.Texts(ctx, query)
	for _, name := range append(slice.Map(s.of(View), func(o *Object) string { return o.Name }), sqldb.KeysView) {
		if err == nil && naming.Among(views, name) { // or others made a table of its name
			err = drop(ctx, from, "DROP VIEW IF EXISTS "+from.Dialect().Quote(name))
		}
	}
	return err
}

// DropTables removes those of some tables that are there, with their triggers: to drop one by itself may need a right of the whole
// server. What others gave one of these names and is no table stays.
func DropTables(ctx context.Context, from *Connection, names []string) error {
	return dropOf(ctx, from, "BASE TABLE", names)
}

// DropSequences removes the sequences that s has. Tables that use them are gone before.
func (s *Schema) DropSequences(ctx context.Context, from *Connection) error {
	all := s.of(Sequence)
	if len(all) == 0 {
		return nil
	}
	return dropOf(ctx, from, "SEQUENCE", slice.Map(all, func(o *Object) string { return o.Name }))
}

// dropOf removes [TablesOf] a type.
func dropOf(ctx context.Context, from *Connection, kind string, names []string) error {
	there, err := TablesOf(ctx, from, kind, names)
	slices.Sort(there)
	for _, name := range there {
		if err == nil {
			err = drop(ctx, from, "DROP "+strings.TrimPrefix(kind, "BASE ")+" IF EXISTS "+from.Dialect().Quote(name))
		}
	}
	return err
}

func drop(ctx context.Context, from *Connection, statement string) error {
	_, err := from.Exec(ctx, "drop", statement, false)
	if err != nil {
		err = fmt.Errorf("%.200s: %w", statement, err)
	}
	return err
}

// Counter is the next value of the AUTO_INCREMENT column of a table, as far as the database keeps it.
func Counter(ctx context.Context, on *Connection, table string) (next uint64, err error) {
	if on.Dialect().MySQL() {
		return counted(ctx, on, table)
	}
	all, err := Sequences(ctx, on)
	if last, counts := all[table]; counts {
		next = uint64(max(last, 0)) + 1
	}
	return next, err
}

// Sequences are, by table, how far tables of SQLite with AUTOINCREMENT have counted. A text or NULL there counts as 0, as
// SQLite itself has it.
func Sequences(ctx context.Context, on *Connection) (last map[string]int64, err error) {
	there, err := on.Number(ctx, sqliteCounters, false)
	if err != nil || there == 0 {
		return nil, err
	}
	last = make(map[string]int64)
	err = on.Rows(ctx, "SELECT name, COALESCE(CAST(seq AS INTEGER), 0) FROM sqlite_sequence", false, nil, func(row []any) (bool, error) {
		n, err := IntIn(row[1], "sqlite_sequence.seq")
		last[Text(row[0])] = n
		return true, err
	})
	return last, err
}

// counted asks MySQL and MariaDB, of which the first remembers older answers.
func counted(ctx context.Context, on *Connection, table string) (next uint64, err error) {
	if _, err := on.Exec(ctx, "set", "/*!80000 SET SESSION information_schema_stats_expiry = 0 */", false); err != nil {
		return 0, err
	}
	values, err := on.Texts(ctx, "SELECT CAST(AUTO_INCREMENT AS CHAR) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND AUTO_INCREMENT IS NOT NULL", table)
	if err != nil || len(values) == 0 {
		return 0, err
	}
	_, err = fmt.Sscan(values[0], &next)
	return next, err
}

// Recover takes back what a process that was killed had begun to write to a file of SQLite that has no write-ahead log.
// Until then the file can be read only with the right to write it.
func Recover(ctx context.Context, d Database) error {
	path, file := filePath(d)
	if journal, err := os.Stat(path + "-journal"); !file || err != nil || journal.Size() == 0 {
		return nil
	}
	c := &Connection{Database: d, Writes: true}
	defer c.Close()
	_, err := c.Number(ctx, "SELECT COUNT(*) FROM sqlite_schema", false)
	return err
}

// Lock keeps others from a file until c, which is [Connection.Alone], is closed. It is the file that is at its path.
func Lock(ctx context.Context, c *Connection) error {
	_, err := c.Exec(ctx, "lock", "BEGIN EXCLUSIVE; ROLLBACK", false)
	if locked, is := errors.AsType[*sqldb.LockedError](err); is {
		err = &inUseError{c.Name, locked.By}
	}
	if err == nil {
		err = c.DB.Kept()
	}
	return err
}

// inUseError is a file that others have open. They may close it.
type inUseError struct{ name, by string }

func (e *inUseError) Error() string {
	return fmt.Sprintf("the file of %q is still open in %s: stop it", e.name, e.by)
}

func (e *inUseError) Unwrap() error { return sqldb.ErrRetryable }

// Remove removes an empty database of MySQL or MariaDB, or the file that c has locked: see [Lock]. It says what it had to
// leave, for want of room on the disk.
func Remove(ctx context.Context, c *Connection) (left string, err error) {
	if path, file := filePath(c.Database); file {
		return removeFile(ctx, c, path)
	}
	_, name, err := Server(c.Database)
	if err == nil {
		_, err = c.Exec(ctx, "drop", "DROP DATABASE IF EXISTS "+quote(name), false)
	}
	return "", err
}

// removeFile removes what lies beside a file first: a process that is killed leaves a whole database, and one that is
// frozen keeps its lock. When the file is gone, what has such a name may belong to a later database, and stays: SQLite
// too removes no -wal beside a file that was moved. So does -wal if the disk has no room to bring what it holds into the file.
func removeFile(ctx context.Context, c *Connection, path string) (left string, err error) {
	link := path
	path, err = filepath.EvalSymlinks(link) // beside which SQLite keeps the others
	if err != nil {
		return "", fmt.Errorf("database %q: %w", c.Name, fileError(err))
	}
	if _, err := c.Exec(ctx, "checkpoint", "PRAGMA wal_checkpoint(TRUNCATE)", false); err != nil && !errors.Is(err, sqldb.ErrDiskFull) {
		return "", err
	}
	all := []string{path + "-shm", path + "-journal", path + "-wal", path}
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		all = all[3:]
		left = "the disk had no room to empty what lay beside the file: rm " + printable.Quoted(shown(path)+"-wal") + " " + printable.Quoted(shown(path)+"-shm")
	}
	if link != path {
		all = append(all, link)
	}
	var file *os.File
	if runtime.GOOS == "windows" { // which removes no file that is open
		c.Close()
	} else {
		if file, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
			return "", fmt.Errorf("database %q: %w", c.Name, fileError(err))
		}
		defer file.Close() // at the end: it takes all locks of the process with it
	}
	for _, name := range all {
		if err := c.Fail.At("before removing " + strings.TrimPrefix(name, path)); err != nil {
			return "", err
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("database %q: %w", c.Name, fileError(err))
		}
	}
	if file != nil { // others may have it open without a lock: what they write there would be lost, and now they find no table
		if err := file.Truncate(0); err != nil {
			return "", fmt.Errorf("database %q: %w", c.Name, fileError(err))
		}
	}
	err = c.Fail.At("after removing")
	c.Close()
	return left, err
}

// HasEvents reports whether there are events, enabled or not.
func (s *Schema) HasEvents() bool { return len(s.of(Event)) > 0 }

// Enabled is how many events run.
func (s *Schema) Enabled() (n int) {
	for _, o := range s.of(Event) {
		if o.State == "ENABLE" {
			n++
		}
	}
	return n
}
