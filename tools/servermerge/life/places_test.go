package life

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite"

	"mergesafe/internal/servertest"
)

// places has the databases of one sequence, each under a name of its own: files of SQLite, or databases of a server.
// Nothing here is code of the product.
type places interface {
	dsn(at string) string   // as the tools take it
	alias(at string) string // the same database under another name

	create(at string) error // an empty one
	drop(at string) error
	copy(from, to string) error // what is at to is replaced
	open(at string) (*sql.DB, error)

	// look reads a database, or one that is not there.
	look(at string) (*image, error)

	others() []string // what is beside the databases of the sequence
	clear()
}

// image is a database as SQL shows it.
type image struct {
	there   bool
	objects map[string]string   // how tables, views, triggers and events are made, by kind and name
	rows    map[string][]string // of each table, sorted
	counts  map[string]int64    // the counters of tables
	events  int                 // that are enabled
	servers []server            // of the registry, in their order
	wal     bool                // a file in WAL mode
}

// server is a row of a registry.
type server struct {
	id, epoch, reserved, window int64
	world, role, fleet, holder  string
}

// kept is what of a server never changes.
func (s server) kept() string { return line(s.id, s.world, s.role, s.fleet) }

// empty reports whether there is nothing in a database.
func (i *image) empty() bool { return len(i.objects) == 0 }

func (i *image) has(table string) bool { _, has := i.rows[table]; return has }

// row has the values of a row of an image.
func cells(row string) []string { return strings.Split(row, "\x1f") }

// ---------------------------------------------------------------- SQLite

type files struct {
	dir  string
	seen map[string]*seen // what was read last
}

type seen struct {
	bytes []byte
	image *image
}

func newFiles(dir string) *files { return &files{dir, make(map[string]*seen)} }

func (f *files) path(at string) string { return filepath.Join(f.dir, at+".db") }
func (f *files) dsn(at string) string  { return "sqlite:" + f.path(at) }

// alias is a path by a link to the folder.
func (f *files) alias(at string) string {
	os.Symlink(f.dir, filepath.Join(f.dir, "link"))
	return "sqlite:" + filepath.Join(f.dir, "link", at+".db")
}

func (f *files) clear() { os.RemoveAll(f.dir) }

func (f *files) others() (all []string) {
	entries, _ := os.ReadDir(f.dir)
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name(), ".db")
		if strings.HasSuffix(e.Name(), ".db") && !slices.Contains(locations, name) && name != "fleet" || !f.there(name) && strings.Contains(e.Name(), ".db-") {
			all = append(all, e.Name())
		}
	}
	return all
}

func (f *files) there(at string) bool { _, err := os.Stat(f.path(at)); return err == nil }

func (f *files) create(at string) error { return os.WriteFile(f.path(at), nil, 0o666) }

func (f *files) drop(at string) error {
	for _, beside := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(f.path(at) + beside); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

func (f *files) copy(from, to string) error {
	if err := f.drop(to); err != nil {
		return err
	}
	for _, beside := range []string{"", "-wal"} {
		b, err := os.ReadFile(f.path(from) + beside)
		if os.IsNotExist(err) && beside != "" {
			continue
		}
		if err == nil {
			err = os.WriteFile(f.path(to)+beside, b, 0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *files) open(at string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+f.path(at)+"?_pragma=busy_timeout(5000)")
}

// look reads a copy of the file, so that what a process left beside it stays as it is.
func (f *files) look(at string) (*image, error) {
	b, err := os.ReadFile(f.path(at))
	if os.IsNotExist(err) || err == nil && len(b) == 0 {
		return &image{}, nil
	}
	if err != nil {
		return nil, err
	}
	wal, _ := os.ReadFile(f.path(at) + "-wal")
	all := slices.Concat(b, wal)
	if s := f.seen[at]; s != nil && bytes.Equal(s.bytes, all) {
		return s.image, nil
	}
	copied := filepath.Join(f.dir, "look.sqlite")
	for _, beside := range []string{"-wal", "-shm"} {
		os.Remove(copied + beside)
	}
	if err := os.WriteFile(copied, b, 0o666); err != nil {
		return nil, err
	}
	if len(wal) > 0 {
		if err := os.WriteFile(copied+"-wal", wal, 0o666); err != nil {
			return nil, err
		}
	}
	db, err := sql.Open("sqlite", "file:"+copied)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	i := &image{there: true, objects: make(map[string]string), rows: make(map[string][]string), counts: make(map[string]int64), wal: b[18] == 2}
	made, err := query(db, "SELECT type, name, COALESCE(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
	for _, o := range made {
		i.objects[o[0]+" "+o[1]] = o[2]
		if err == nil && o[0] == "table" {
			err = i.take(db, o[1], o[1])
		}
	}
	if err == nil && strings.Contains(fmt.Sprint(i.objects), "AUTOINCREMENT") {
		var counters [][]string
		counters, err = query(db, "SELECT name, seq FROM sqlite_sequence")
		for _, c := range counters {
			i.counts[c[0]] = number(c[1])
		}
	}
	f.seen[at] = &seen{all, i}
	return i, err
}

// ---------------------------------------------------------------- a server

type schemas struct {
	t      testing.TB
	admin  *sql.DB
	reader *sql.DB // which does not wait for locks
	config *mysql.Config
	prefix string
	last   map[string]*image // as each database was seen last
}

func newSchemas(t testing.TB, admin *sql.DB) *schemas {
	config, err := mysql.ParseDSN(servertest.ServerDSN(t))
	if err != nil {
		t.Fatal(err)
	}
	reads := config.Clone()
	reads.DBName, reads.Params = "", map[string]string{"lock_wait_timeout": "1"}
	reader, err := sql.Open("mysql", reads.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	return &schemas{t, admin, reader, config, "mergesafetest" + strings.ToLower(rand.Text()[:12]), make(map[string]*image)}
}

func (s *schemas) name(at string) string { return s.prefix + at }

func (s *schemas) dsn(at string) string {
	config := s.config.Clone()
	config.DBName = s.name(at)
	return "mysql:" + config.FormatDSN()
}

func (s *schemas) alias(at string) string {
	config := s.config.Clone()
	config.DBName, config.Addr = s.name(at), strings.Replace(config.Addr, "127.0.0.1", "localhost", 1)
	return "mysql:" + config.FormatDSN()
}

func (s *schemas) create(at string) error {
	_, err := s.admin.Exec("CREATE DATABASE " + s.name(at) + " CHARACTER SET utf8mb4")
	return err
}

func (s *schemas) drop(at string) error {
	_, err := s.admin.Exec("DROP DATABASE IF EXISTS " + s.name(at))
	return err
}

func (s *schemas) clear() {
	s.reader.Close()
	names, err := query(s.admin, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE '"+s.prefix+"%'")
	for _, n := range names {
		if _, failed := s.admin.Exec("DROP DATABASE `" + n[0] + "`"); failed != nil {
			err = failed
		}
	}
	if err != nil {
		s.t.Error(err)
	}
}

func (s *schemas) others() (all []string) {
	names, err := query(s.admin, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE '"+s.prefix+"%'")
	if err != nil {
		s.t.Error(err)
	}
	for _, n := range names {
		if !slices.Contains(locations, strings.TrimPrefix(n[0], s.prefix)) {
			all = append(all, n[0])
		}
	}
	return all
}

func (s *schemas) open(at string) (*sql.DB, error) {
	return sql.Open("mysql", strings.TrimPrefix(s.dsn(at), "mysql:")+"")
}

// copy makes tables with their rows, views and triggers: all that the worlds of a sequence have.
func (s *schemas) copy(from, to string) error {
	if err := s.drop(to); err != nil {
		return err
	}
	if err := s.create(to); err != nil {
		return err
	}
	db, err := s.open(to)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	i, err := s.look(from)
	if err != nil {
		return err
	}
	do := []string{"SET SESSION foreign_key_checks = 0, sql_mode = 'NO_AUTO_VALUE_ON_ZERO'"}
	for _, kind := range []string{"table ", "view ", "trigger ", "event "} {
		for _, what := range sorted(i.objects) {
			name, is := strings.CutPrefix(what, kind)
			if !is {
				continue
			}
			do = append(do, strings.ReplaceAll(i.objects[what], s.name(from), s.name(to)))
			if kind == "table " {
				do = append(do, fmt.Sprintf("INSERT INTO `%s` SELECT * FROM `%s`.`%s`", name, s.name(from), name))
				if next := i.counts[name]; next > 0 {
					do = append(do, fmt.Sprintf("ALTER TABLE `%s` AUTO_INCREMENT = %d", name, next+1))
				}
			}
		}
	}
	for _, statement := range do {
		if _, err := db.Exec(statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

func (s *schemas) look(at string) (*image, error) {
	name := s.name(at)
	found, err := query(s.admin, "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '"+name+"'")
	if err != nil || found[0][0] == "0" {
		return &image{}, err
	}
	i := &image{there: true, objects: make(map[string]string), rows: make(map[string][]string), counts: make(map[string]int64)}
	made, err := query(s.admin, `SELECT IF(TABLE_TYPE = 'VIEW', 'view', 'table'), TABLE_NAME, '' FROM information_schema.TABLES WHERE TABLE_SCHEMA = '`+name+`'
		UNION ALL SELECT 'trigger', TRIGGER_NAME, '' FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = '`+name+`'
		UNION ALL SELECT 'event', EVENT_NAME, STATUS FROM information_schema.EVENTS WHERE EVENT_SCHEMA = '`+name+`'`)
	for _, o := range made {
		if err != nil {
			break
		}
		column := map[string]int{"table": 1, "view": 1, "trigger": 2, "event": 3}[o[0]]
		var text [][]string
		text, err = query(s.admin, fmt.Sprintf("SHOW CREATE %s `%s`.`%s`", strings.ToUpper(o[0]), name, o[1]))
		if err != nil {
			break
		}
		create, next := withoutCounter(text[0][column])
		if i.objects[o[0]+" "+o[1]] = create; o[0] == "table" {
			i.counts[o[1]] = next - 1
			err = i.take(s.reader, o[1], "`"+name+"`.`"+o[1]+"`")
			if failed, is := errors.AsType[*mysql.MySQLError](err); is && failed.Number == 1205 && s.last[at] != nil {
				i.rows[o[1]], err = s.last[at].rows[o[1]], nil // locked by the undo that runs meanwhile
			}
		}
		if o[2] == "ENABLED" {
			i.events++
		}
	}
	s.last[at] = i
	return i, err
}

// withoutCounter cuts the next number of a table out of its statement.
func withoutCounter(create string) (string, int64) {
	before, after, found := strings.Cut(create, " AUTO_INCREMENT=")
	if !found {
		return create, 1
	}
	digits, rest, _ := strings.Cut(after, " ")
	return before + " " + rest, number(digits)
}

// ---------------------------------------------------------------- both

// take reads the rows of a table.
func (i *image) take(db *sql.DB, table, from string) error {
	if table == "gameid_servers" {
		all, err := query(db, "SELECT server_id, epoch, reserved_ms, window_ms, world, role, fleet, holder FROM "+from+" ORDER BY server_id")
		for _, v := range all {
			i.servers = append(i.servers, server{number(v[0]), number(v[1]), number(v[2]), number(v[3]), v[4], v[5], v[6], v[7]})
		}
		return err
	}
	all, err := query(db, "SELECT * FROM "+from)
	rows := []string{}
	for _, row := range all {
		rows = append(rows, strings.Join(row, "\x1f"))
	}
	slices.Sort(rows)
	i.rows[table] = rows
	return err
}

// query returns the rows of an answer as texts.
func query(db *sql.DB, text string, args ...any) (all [][]string, err error) {
	rows, err := db.QueryContext(context.Background(), text, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		var row []string
		for _, v := range values {
			b, is := v.([]byte)
			switch {
			case is && !utf8.Valid(b):
				row = append(row, hex.EncodeToString(b))
			case is:
				row = append(row, string(b))
			default:
				row = append(row, fmt.Sprint(v))
			}
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
