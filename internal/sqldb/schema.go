package sqldb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
)

// Part is a group of tables that are made, versioned and used together. Each
// part of a database has a mark of its own in [SchemaTable].
type Part struct {
	Mark    string // its name in SchemaTable
	Absent  string // the message about a database without them
	Unready string // how to complete tables that were left unfinished
	Tables  []string
	Version int // of the tables: any other is refused

	// SQL has the statements that make the tables. They do no harm when they run again.
	// Statements that make other tables need another Version.
	SQL map[Dialect]string

	// Fill writes the rows that belong to the tables from the beginning. It
	// must do no harm to those that are there. It may be nil.
	Fill func(context.Context, *Session) error
}

// The marks of all parts.
const (
	RegistryMark = "mergesafe-registry"
	NumbersMark  = "mergesafe-numbers"
	StarterMark  = "mergesafe-starter"
	FleetMark    = "mergesafe-fleet"
)

const gameOwner = "a game"

// owners tells whose tables a mark stands for.
var owners = map[string]string{
	RegistryMark: gameOwner, NumbersMark: gameOwner, StarterMark: gameOwner,
	FleetMark: "a fleet registry",
}

// The row of SchemaTable is written before the first table is made, with
// version 0, and gets its version after the last.
const (
	createMark = "CREATE TABLE IF NOT EXISTS " + SchemaTable + ` (
		application VARCHAR(32) NOT NULL PRIMARY KEY,
		version     INT         NOT NULL
	)` // and [Words.MarkEngine]
	insertMark  = "INSERT INTO " + SchemaTable + " (application, version) VALUES (?, 0)"
	raiseMark   = "UPDATE " + SchemaTable + " SET version = ? WHERE application = ? AND version < ?"
	selectMarks = "SELECT application, version FROM " + SchemaTable
)

// SchemaError says why the tables of a database cannot be used. errors.Is
// finds [ErrSchema] in it.
type SchemaError struct {
	Reason string // the state of the tables, and what to do
}

func (e *SchemaError) Error() string { return "store: " + e.Reason }

// Is reports whether target is [ErrSchema].
func (e *SchemaError) Is(target error) bool { return target == ErrSchema }

// Create makes the tables of the part, unless they are there: then it only
// reads. It may be called at every start and by several processes at once,
// and finishes what another one did not. A database that has tables of the same
// names made by others, or of another version, is refused with a
// [*SchemaError].
func (p *Part) Create(ctx context.Context, db *DB) error {
	// A process that waited in vain for others, which make the same tables, looks
	// again: then they are there.
	return Retry(ctx, func() error {
		found, err := p.look(ctx, &db.Session, false)
		if err != nil && !found.creatable {
			return err
		}
		if err == nil && found.marked {
			return nil
		}
		if db.dialect.Words().Together {
			return db.InTx(ctx, func(tx *Tx) error { return p.create(ctx, &tx.Session, found) })
		}
		if err := p.create(ctx, &db.Session, found); err != nil { // MySQL commits after every CREATE, so this may end half-way
			return err
		}
		return p.Check(ctx, db) // the server may have taken another engine
	})
}

// Check returns a [*SchemaError] unless the tables of the part are there,
// complete and of this version. It only reads.
func (p *Part) Check(ctx context.Context, db *DB) error {
	_, err := p.look(ctx, &db.Session, false)
	return err
}

func (p *Part) create(ctx context.Context, s *Session, found state) error {
	if !found.marks { // where there are some, the right to make tables may not be needed
		if err := makes(ctx, s, createMark+s.Dialect().Words().MarkEngine); err != nil {
			return err
		}
	}
	if _, err := s.Exec(ctx, insertMark, p.Mark); err != nil && !errors.Is(err, ErrDuplicate) {
		return err
	}
	for statement := range strings.SplitSeq(strings.TrimSpace(p.SQL[s.Dialect()]), ";\n") {
		if err := makes(ctx, s, statement); err != nil {
			return p.nameTaken(ctx, s, err)
		}
	}
	if p.Fill != nil {
		if err := p.Fill(ctx, s); err != nil {
			return err
		}
	}
	_, err := s.Exec(ctx, raiseMark, p.Version, p.Mark, p.Version)
	return err
}

// makes runs a statement that makes something unless it exists. If another process makes the same at that moment, the
// server may answer that it exists: then the statement runs again, and finds it. Each statement has tries of its own,
// because a process may be late at each.
func makes(ctx context.Context, s *Session, statement string) error {
	run := func() error {
		_, err := s.Exec(ctx, statement)
		if Says(err, TableThere) {
			return fmt.Errorf("%w: %w", ErrRetryable, err)
		}
		return err
	}
	if s.IsTx() { // which is tried again as a whole
		return run()
	}
	return Retry(ctx, run)
}

// nameTaken returns the error of a statement, or what to do if it says that another table of the
// database has a CHECK of that name, which MySQL knows once in a database.
func (p *Part) nameTaken(ctx context.Context, s *Session, err error) error {
	looks, ok := s.Dialect().of().(interface {
		CheckThere(err error) (name, tables string)
	})
	if !ok {
		return err
	}
	name, tableOfCheck := looks.CheckThere(err)
	if name == "" {
		return err
	}
	var tables []string
	switch lookErr := s.Select(ctx, &tables, tableOfCheck, name); {
	case lookErr != nil:
		return lookErr
	case len(tables) == 0 || slices.Contains(p.Tables, tables[0]):
		return err // on a table that the account does not see, or one that another process made just now
	}
	return &SchemaError{Reason: fmt.Sprintf("the table %q, which was not made by this program, has a CHECK %q: rename it, or use another database", tables[0], name)}
}

func readMarks(ctx context.Context, s *Session) (map[string]int, error) {
	var rows []struct {
		Application string `db:"application"`
		Version     int    `db:"version"`
	}
	if err := s.Select(ctx, &rows, selectMarks); err != nil {
		return nil, err
	}
	marks := make(map[string]int)
	for _, row := range rows {
		marks[row.Application] = row.Version
	}
	return marks, nil
}

// state is what was found of a part.
type state struct {
	creatable bool // Create may make the tables what they should be
	marks     bool // SchemaTable is there
	marked    bool // the part has a mark of its own
}

// look returns no error if the tables are as they should be. again tells that
// it is the second look.
func (p *Part) look(ctx context.Context, s *Session, again bool) (found state, err error) {
	// First the tables, then the marks: whoever makes them does the reverse, so
	// that we cannot see tables without their mark.
	var names []string
	if err := s.Select(ctx, &names, s.Dialect().TableNames()); err != nil {
		return found, err
	}
	var ours, missing []string
	for _, name := range p.Tables {
		if slices.Contains(names, name) {
			ours = append(ours, name)
		} else {
			missing = append(missing, name)
		}
	}
	var marks map[string]int
	if found.marks = slices.Contains(names, SchemaTable); found.marks {
		if marks, err = readMarks(ctx, s); err != nil {
			return found, err
		}
	}
	version, begun := marks[p.Mark]
	found.marked = version > 0
	fault := func(creatable bool, format string, args ...any) (state, error) {
		found.creatable = creatable
		return found, &SchemaError{Reason: fmt.Sprintf(format, args...)}
	}
	for mark := range marks {
		switch owner, known := owners[mark]; {
		case !known:
			return fault(false, "the database belongs to another program, %q: use a different database", mark)
		case owner != owners[p.Mark]:
			return fault(false, "it is the database of %s, want that of %s", owner, owners[p.Mark])
		}
	}
	switch {
	case !begun && len(ours) > 0:
		return fault(false, "the database has a table %q that was not made by this program: use another database", ours[0])
	case !begun:
		schema, table, err := p.elsewhere(ctx, s)
		if err != nil {
			return found, err
		}
		if schema != "" {
			return fault(false, "the table %q is in the schema %q, which is not first in the search_path: put it first, "+
				"or remove it if it belongs to another world", table, schema)
		}
		return fault(true, "%s", p.Absent)
	case version == 0:
		return fault(true, "the tables were never completed: %s", p.Unready)
	case version != p.Version:
		return fault(false, "the tables have version %d but this program knows version %d: use the program that made them, or a new database", version, p.Version)
	case len(missing) > 0 && !again:
		// Another process may have made them after the first look and before
		// the mark.
		return p.look(ctx, s, true)
	case len(missing) > 0:
		return fault(false, "the table %q is missing: if it was dropped, restore it from a backup; if a schema file was only run in part, run the whole file (gameid servers schema -h)", missing[0])
	}
	return found, p.sound(ctx, s)
}

// elsewhere returns the schema of a table that is found, and not where it would be made: with a second one beside
// it a world would begin again.
func (p *Part) elsewhere(ctx context.Context, s *Session) (schema, table string, err error) {
	query := s.Dialect().Words().Elsewhere
	for _, table := range p.Tables {
		if query == "" {
			break
		}
		if err := s.Get(ctx, &schema, query, table); !errors.Is(err, ErrNotFound) {
			return schema, table, err
		}
	}
	return "", "", nil
}

// sound returns an error if a table would forget rows, commit them one by one,
// or take a key twice.
func (p *Part) sound(ctx context.Context, s *Session) error {
	for _, name := range append([]string{SchemaTable}, p.Tables...) {
		var table struct {
			Engine string `db:"engine"`
			Keyed  int    `db:"keyed"`
		}
		words := s.Dialect().Words()
		args := []any{name}
		if words.SoundTwice {
			args = []any{name, name}
		}
		if err := s.Get(ctx, &table, words.Sound, args...); err != nil {
			return err
		}
		switch {
		case !strings.EqualFold(table.Engine, words.Engine):
			return &SchemaError{Reason: fmt.Sprintf("the table %q has the storage engine %q, which may lose rows that were committed: ALTER TABLE %s %s", name, table.Engine, s.Dialect().Quote(name), words.MendEngine)}
		case table.Keyed == 0:
			return &SchemaError{Reason: fmt.Sprintf("the table %q has no primary key, so it may have duplicate rows: restore the database from a backup", name)}
		}
	}
	return nil
}

// Text returns the statements that make the tables of the part in a database
// that has none of them, with their mark, for tools that run migrations. They do
// no harm when they run again. A part with rows of its own ([Part.Fill]) has no
// such text.
func (p *Part) Text(d Dialect) string {
	words := d.Words()
	var b strings.Builder
	b.WriteString(strings.TrimSpace(p.SQL[d]))
	b.WriteString("\n\n")
	mark := strings.ReplaceAll(createMark, "\n\t", "\n") + words.MarkEngine
	fmt.Fprintf(&b, "-- Which version the tables have.\n%s;\n\nINSERT %sINTO %s (application, version) VALUES ('%s', %d)%s;\n",
		strings.ReplaceAll(mark, "\t", "  "), words.Ignore, SchemaTable, p.Mark, p.Version, words.OnConflict)
	return b.String()
}

// UniqueKeys returns the columns of each unique key of a table, those of the primary key first. Of a view, and of a
// table that does not exist, it finds none.
func (s *Session) UniqueKeys(ctx context.Context, table string) (keys [][]string, err error) {
	query := s.Dialect().Native(s.Dialect().Words().Unique)
	var rows []struct {
		Name string
		Col  *string // an index of an expression has no column
		I, K int     // the order of SQLite
	}
	err = s.with(ctx, func(on queryer) error { return sqlx.SelectContext(ctx, on, &rows, query, table) })
	if err != nil {
		return nil, s.Fault("read the keys of "+table, err)
	}
	for i, row := range rows {
		if i == 0 || row.Name != rows[i-1].Name {
			keys = append(keys, nil)
		}
		keys[len(keys)-1] = append(keys[len(keys)-1], *cmp.Or(row.Col, new(string)))
	}
	return keys, nil
}

// IsView reports whether a table is a view. One that does not exist is [ErrNotFound].
func (s *Session) IsView(ctx context.Context, table string) (bool, error) {
	var is string
	err := s.GetAs(ctx, "look at "+table, &is, s.Dialect().Words().TableType, table)
	return strings.Contains(strings.ToLower(is), "view"), err
}
