package world

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
)

// What an SQLite file keeps of itself, as PRAGMA takes it.
const sqliteOptions = `SELECT
	printf('encoding = ''%s''; page_size = %d; auto_vacuum = %d; user_version = %d; application_id = %d',
	encoding, page_size, auto_vacuum, user_version, application_id)
	FROM pragma_encoding, pragma_page_size, pragma_auto_vacuum, pragma_user_version, pragma_application_id`

// The tables in which a virtual table keeps its rows are shadows.
const sqliteObjects = `WITH t AS MATERIALIZED (SELECT name, type FROM pragma_table_list WHERE schema = 'main')
	SELECT s.type, s.name, IIF(s.type IN ('index', 'trigger'), s.tbl_name, ''), s.sql, t.type
	FROM sqlite_schema AS s LEFT JOIN t ON t.name = s.tbl_name
	WHERE s.sql IS NOT NULL AND s.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND t.type IS NOT 'shadow'
	ORDER BY s.type = 'table' DESC, s.type = 'index' DESC, s.type = 'view' DESC, s.rowid`

func (s *reader) readSQLite(ctx context.Context) error {
	options, err := one(ctx, s.on, sqliteOptions)
	if err != nil {
		return err
	}
	s.Options = Text(options[0])
	err = s.listSQLite(ctx)
	for _, o := range s.of(View) {
		if err == nil {
			err = s.tryView(ctx, o)
		}
	}
	return err
}

// listSQLite lists the objects, with the texts that made them.
func (s *reader) listSQLite(ctx context.Context) error {
	s.Engine = sqlite
	return s.on.Rows(ctx, sqliteObjects, false, nil, func(row []any) (bool, error) {
		o := Object{Kind: Kind(Text(row[0])), Name: Text(row[1]), Table: Text(row[2])}
		o.SQL = Text(row[3])
		if !o.ours() {
			s.Objects = append(s.Objects, o)
		}
		if Text(row[4]) == "virtual" {
			s.cannot(&o, "it is a virtual table, whose rows are kept in tables of its own",
				"drop it, and create and fill it again after the merge")
		}
		return true, nil
	})
}

// createFile makes an SQLite file with the settings of s. A file that is there must be empty, or have these settings.
func (s *Schema) createFile(ctx context.Context, d Database, record func(context.Context, *Connection) error) (made bool, err error) {
	path, _ := filePath(d)
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 {
		if err := mayMake(path); err != nil {
			return false, err
		}
	}
	if made = os.IsNotExist(err); err != nil && !made {
		return false, fileError(err)
	}
	if info != nil && info.Size() > 0 {
		to := &Connection{Database: d, Writes: true}
		defer to.Close()
		return made, s.set(ctx, to)
	}
	return made, s.setAside(ctx, d, path, record, made)
}

// shown is a path without what may be a password: a DSN of a server may have been given as a file.
func shown(path string) string {
	const prefix = string(sqldb.SQLite) + ":"
	return strings.TrimPrefix(sqldb.Redact(prefix+path), prefix)
}

// fileError is what the system says of a file, whose path may be a DSN with a password.
func fileError(err error) error {
	var path string
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		path, err = of.Path, of.Err
	} else if of, ok := errors.AsType[*os.LinkError](err); ok {
		path, err = of.New, of.Err
	} else {
		return err
	}
	path = shown(path)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s: %w: check the rights of the account to the folder %s", path, err, filepath.Dir(path))
	}
	return fmt.Errorf("%s: %w", path, err)
}

// mayMake says why a file that is not there, or is empty, cannot be made.
func mayMake(path string) error {
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || !dir.IsDir() {
		return fmt.Errorf("there is no directory %q: create it first", shown(filepath.Dir(path)))
	}
	is, err := os.Stat(path)
	if link, _ := os.Lstat(path); err != nil && link != nil {
		return fmt.Errorf("%q is a link to a missing file: give the file itself", shown(filepath.Base(path)))
	}
	if err == nil && !is.Mode().IsRegular() {
		return fmt.Errorf("%q is not a file: give one that does not exist", shown(filepath.Base(path)))
	}
	if err == nil { // it may have two names
		if _, err := sqldb.NewConnector(string(sqldb.SQLite)+":"+path, sqldb.ReadWrite); err != nil {
			return err
		}
	}
	var left []string
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Lstat(path + suffix); !os.IsNotExist(err) {
			left = append(left, printable.Quoted(shown(path)+suffix))
		}
	}
	if len(left) > 0 { // SQLite would take it for a part of the new file
		return fmt.Errorf("of a database that was there before, only a part is left: bring that database back, or remove the rest: rm %s", strings.Join(left, " "))
	}
	return nil
}

// setAside gives the settings of s, and the record, to another file, which takes its place at once: a process that is
// killed leaves no journal beside it, and no file without a record. An empty file that is there gets the bytes, and so keeps its owner. A file that another process
// made meanwhile stays.
func (s *Schema) setAside(ctx context.Context, d Database, path string, record func(context.Context, *Connection) error, made bool) error {
	aside := path + "." + rand.Text()[:8] + making // of this process alone
	defer removeAside(aside)
	f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return fileError(err)
	}
	to := &Connection{Database: Database{Name: d.Name, DSN: string(sqldb.SQLite) + ":" + aside}, Writes: true}
	err = s.set(ctx, to)
	if err == nil && made && record != nil {
		err = record(ctx, to)
	}
	if to.Close(); err != nil {
		return ifMissing(path, err)
	}
	if !made {
		return fillEmpty(ctx, d, path, aside)
	}
	if err := os.Link(aside, path); err != nil {
		return ifMissing(path, err)
	}
	if left, err := filepath.Glob(globbed.Replace(path) + ".*" + making); err == nil { // of processes that were killed, or come too late
		for _, other := range left {
			removeAside(other)
		}
	}
	return nil
}

// fillEmpty gives an empty file the bytes of another one, while no other process has it open: one that is frozen here must
// not write over what others fill it with meanwhile.
func fillEmpty(ctx context.Context, d Database, path, aside string) error {
	on := &Connection{Database: d, Alone: true}
	defer on.Close()
	if _, err := on.Exec(ctx, "lock", "PRAGMA journal_mode = MEMORY", false); err != nil { // no -journal
		return err
	}
	if err := Lock(ctx, on); err != nil {
		return err
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 0 {
		return err
	}
	bytes, err := os.ReadFile(aside)
	if err == nil {
		err = os.WriteFile(path, bytes, 0) // a page or two, with one call
	}
	return err
}

// making is what the name of a file ends with that is to take the place of another one.
const making = ".making"

// globbed makes a path a pattern of [filepath.Glob] that only it matches.
var globbed = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]", `\`, `\\`)

func removeAside(aside string) {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		os.Remove(aside + suffix)
	}
}

// ifMissing is an error of making a file, and nil if another process made it meanwhile, and removed what this one had.
func ifMissing(path string, err error) error {
	if info, missing := os.Stat(path); missing == nil && info.Size() > 0 {
		return nil
	}
	return fileError(err)
}

// set gives a file without tables the settings of s, and WAL mode.
func (s *Schema) set(ctx context.Context, to *Connection) error {
	have := &reader{Schema: new(Schema), on: to}
	if err := have.readSQLite(ctx); err != nil {
		return err
	}
	switch tables, err := to.Number(ctx, "SELECT COUNT(*) FROM sqlite_schema", false); {
	case err != nil:
		return err
	case tables > 0 && have.Options != s.Options:
		return fmt.Errorf("the file has tables and other settings: %s", s.different(s.Options, have.Options))
	case tables > 0:
		return nil
	}
	// In WAL mode a file keeps the size of its pages. It gets its encoding by its first table.
	encoding, others, _ := strings.Cut(s.Options, "; ")
	statements := []string{
		"PRAGMA journal_mode = DELETE", "PRAGMA " + encoding, "BEGIN; CREATE TABLE t (a); DROP TABLE t; COMMIT",
		"PRAGMA " + strings.ReplaceAll(others, "; ", "; PRAGMA "), "VACUUM",
	}
	if have.Options == s.Options {
		statements = nil
	}
	for _, statement := range append(statements, "PRAGMA journal_mode = WAL") {
		if _, err := to.Exec(ctx, "create", statement, false); err != nil {
			return err
		}
	}
	return nil
}

// tryFile makes the objects in a file that is thrown away, and notes those that SQLite does not make.
func (s *Schema) tryFile(ctx context.Context) (all []Obstacle, err error) {
	dir, err := os.MkdirTemp("", "schema")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	d := Database{Name: "a trial", DSN: string(sqldb.SQLite) + ":" + filepath.Join(dir, "trial.db")}
	if _, err := s.createFile(ctx, d, nil); err != nil {
		return nil, err
	}
	to := &Connection{Database: d, Writes: true}
	defer to.Close()
	for i := range s.Objects {
		o := &s.Objects[i]
		if _, err := to.Exec(ctx, "create", o.SQL, false); sqldb.Says(err, sqldb.Refused) {
			all = append(all, Obstacle{Object: o.String(), Why: "it cannot be created again: " + err.Error(),
				Do: "create it with texts in single quotes, and without functions or collations of the game's program"})
		} else if err != nil {
			return nil, err
		}
	}
	return all, nil
}
