package world

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"

	_ "mergesafe/internal/sqldb/mysql"  // worlds are of either kind,
	_ "mergesafe/internal/sqldb/sqlite" // whatever the program links
)

// Source is a database that is to be merged: one connection, and one snapshot
// that everything it returns belongs to. It implements [catalog.Source] and is
// used by one goroutine at a time. A method that is called while a Scan is
// open returns an error.
//
// Once the connection is lost, so is the snapshot, and every later call fails:
// it is never silently opened anew. That includes a context that ends during
// a call on MariaDB or MySQL.
type Source struct {
	of      Database
	db      *sqldb.DB
	pool    *sql.DB
	conn    *sql.Conn
	backend sqldb.Backend // of conn
	dialect dialect
	options Options
	busy    bool
	found   *schema        // nil until it was read
	located *sqldb.Located // nil until it was asked where it is

	withheld map[string][]catalog.Withheld // by table: its rows that are left out
	asides   map[string]*Aside             // by table; see [Source.ReadAside]
	tests    map[string]*tests             // by table; see [Source.TestBeside]
}

var (
	_ catalog.Source = (*Source)(nil)
	_ catalog.Ender  = (*Source)(nil)
	_ catalog.Placed = (*Source)(nil)
)

// Options configures a [Source]. The zero value means the
// defaults.
type Options struct {
	// NoSnapshot lets every Scan, Count and Row see the rows of its own moment.
	// The default is one moment for all, which a check needs. On MariaDB and MySQL a
	// snapshot that is open for hours keeps the server from cleaning up behind its
	// writers: who only asks for the load of a server needs none.
	NoSnapshot bool

	// Pause, if not nil, is called before every batch of a Scan, and may wait to
	// spare the database. A Scan ends with the error that it returns. It is
	// called by a goroutine of the source, one at a time.
	Pause func(ctx context.Context) error
}

var errBusy = errors.New("sqlsource: called while a Scan is open: a source answers one query at a time")

// Open connects to the database that dsn names, in the forms that
// [store.OpenReadOnly] takes, and opens the snapshot. The caller closes it.
// name is what reports and messages call the database. Errors do not contain
// the password.
//
// On MariaDB and MySQL the account must be allowed to SELECT from every table
// of the database, or Open returns an error with the GRANT that is missing;
// tables are in the snapshot only if their engine has transactions.
//
// An SQLite database in WAL mode that no process has open is read as it
// is; if a writer comes and changes it, every method returns
// [sqldb.ErrChanged] from then on.
func Open(ctx context.Context, name, dsn string) (*Source, error) {
	return OpenWith(ctx, name, dsn, Options{})
}

// OpenWith is [Open] with options.
func OpenWith(ctx context.Context, name, dsn string, options Options) (*Source, error) {
	if dialect, _, err := sqldb.SplitDSN(dsn); err == nil && dialect == sqldb.PostgreSQL {
		return nil, errors.New("checks and merges work on MariaDB, MySQL and SQLite: for worlds on PostgreSQL see docs/postgresql.md")
	}
	db, err := sqldb.Dial(ctx, dsn, sqldb.ReadOnly)
	if err != nil {
		return nil, err
	}
	var d dialect
	switch db.Dialect() {
	case sqldb.SQLite:
		d = sqliteDialect{sqldb.SQLite, db.Unchanged}
	case sqldb.MySQL:
		d = newMySQL()
	}
	of := Database{name, dsn}
	s, err := newSource(ctx, of, db.Pool().DB, d, options)
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("sqlsource: open %q: %w", db, of.Held(ctx, err))
	}
	s.db = db
	return s, nil
}

// newSource opens the snapshot on a connection of pool.
func newSource(ctx context.Context, of Database, pool *sql.DB, d dialect, options Options) (*Source, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s := &Source{of: of, pool: pool, conn: conn, dialect: d, options: options}
	if s.backend, err = d.BackendOf(ctx, conn); err == nil {
		err = d.begin(ctx, conn, !options.NoSnapshot)
	}
	if err != nil {
		s.abandon(ctx)
		conn.Close()
		return nil, err
	}
	return s, nil
}

// Close gives up the snapshot and closes the connection.
func (s *Source) Close() error {
	// The connection may be broken, and ending it ends the transaction as well.
	// Saying so first spares the server from finding out by itself.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s.conn.ExecContext(ctx, "ROLLBACK")
	s.conn.Close()
	return s.db.Close()
}

// Load is how many statements the server works on at this moment, ours and
// this question among them; 0 for SQLite, which has no server. It asks over a
// connection of its own, and may be called at any time, also while a Scan is
// open.
func (s *Source) Load(ctx context.Context) (int, error) {
	n, err := s.dialect.load(ctx, s.pool)
	if err != nil {
		return 0, fmt.Errorf("sqlsource: load: %w", err)
	}
	return n, nil
}

// SameDatabase implements [catalog.Placed].
func (s *Source) SameDatabase(ctx context.Context, other catalog.Source) (same bool, unclear string, err error) {
	o, ok := other.(interface {
		locate(ctx context.Context) (*sqldb.Located, error)
	})
	if !ok {
		return false, "", nil
	}
	here, err := s.locate(ctx)
	if err != nil {
		return false, "", err
	}
	there, err := o.locate(ctx)
	if err != nil {
		return false, "", err
	}
	return here.Same(ctx, there)
}

// locate asks the first time where the database is.
func (s *Source) locate(ctx context.Context) (*sqldb.Located, error) {
	if s.located == nil {
		located, err := s.db.Locate(ctx)
		if err != nil {
			return nil, err
		}
		s.located = located
	}
	return s.located, nil
}

// Name implements [catalog.Source].
func (s *Source) Name() string { return s.of.Name }

// Catalog implements [catalog.Source].
func (s *Source) Catalog(ctx context.Context) (*catalog.Catalog, error) {
	schema, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	s.leave()
	return &schema.Catalog, nil
}

// schema reads the catalogue at the first call.
func (s *Source) schema(ctx context.Context) (*schema, error) {
	if s.found == nil {
		found, err := s.dialect.describe(ctx, s.conn)
		if err == nil {
			err = s.dialect.unchanged()
		}
		if err != nil {
			s.abandon(ctx)
			return nil, fmt.Errorf("sqlsource: catalogue: %w", s.of.Held(ctx, err))
		}
		s.found = found
	}
	return s.found, nil
}

// enter makes the source busy with one question, and returns the catalogue.
// Whoever gets it calls leave.
func (s *Source) enter(ctx context.Context) (*schema, error) {
	if s.busy {
		return nil, errBusy
	}
	found, err := s.schema(ctx)
	s.busy = err == nil
	return found, err
}

func (s *Source) leave() { s.busy = false }

// ask lets f answer one question. Its error says what the question was about.
func (s *Source) ask(ctx context.Context, about string, f func(*schema) error) error {
	schema, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer s.leave()
	if err = f(schema); err == nil {
		err = s.dialect.unchanged()
	}
	if err != nil {
		s.abandon(ctx)
		return fmt.Errorf("sqlsource: %s: %w", about, s.of.Held(ctx, err))
	}
	return nil
}

// askOf lets f answer one question about a table.
func (s *Source) askOf(ctx context.Context, about, name string, f func(t *table) error) error {
	return s.ask(ctx, about, func(schema *schema) error {
		if t := schema.tables[name]; t != nil {
			return f(t)
		}
		return noTable(name)
	})
}

// abandon is called after an error. If it came because the context ended, the
// server may still be at work on the statement, and hold what it reads: it is
// told to stop. Where it cannot be told, it notices by itself later.
func (s *Source) abandon(ctx context.Context) {
	if ctx.Err() != nil {
		_ = s.backend.Kill(s.pool)
	}
}

// scanError gives an error of a scan its place and its meaning.
func (s *Source) scanError(ctx context.Context, scan catalog.Scan, err error) error {
	s.abandon(ctx)
	if ctx.Err() != nil {
		// Drivers have many ways of saying it.
		return fmt.Errorf("sqlsource: scan: %w", ctx.Err())
	}
	if u, ok := errors.AsType[*catalog.UnsupportedError](err); ok {
		u.Table = scan.Table
		return u
	}
	if sqldb.Says(err, sqldb.Incomparable) {
		return &catalog.UnsupportedError{Table: scan.Table, Column: orderNames(scan), Reason: err.Error()}
	}
	if generated := s.generatedOf(scan); generated != "" && sqldb.Says(err, sqldb.NeverEvaluates) { // as the session of the game may
		return &catalog.UnsupportedError{Table: scan.Table, Column: generated, Reason: "it cannot be computed in a row: " + err.Error()}
	}
	return fmt.Errorf("sqlsource: scan: %w", s.of.Held(ctx, err))
}

// generatedOf names the generated columns that a scan reads.
func (s *Source) generatedOf(scan catalog.Scan) string {
	all := scan.Carry
	for _, o := range scan.Order {
		all = append(all[:len(all):len(all)], o.Column)
	}
	t := s.found.tables[scan.Table]
	return strings.Join(slices.DeleteFunc(slices.Clone(all), func(name string) bool { return t == nil || t.byName[name] == nil || t.byName[name].Generated == "" }), ", ")
}

func orderNames(scan catalog.Scan) string {
	return strings.Join(slice.Map(scan.Order, func(o catalog.Order) string { return o.Column }), ", ")
}
