package sqldb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Part is a group of tables that are made, versioned and used together. Each
// part of a database has a mark of its own in [SchemaTable].
type Part struct {
	Mark    string // its name in SchemaTable
	Absent  string // the message about a database without them
	Unready string // how to complete tables that were left unfinished
	Older   string // how to bring tables of an older version to the present one
	Tables  []string

	// SQL has for each version the statements that make it of the one before;
	// the first begins with nothing. They do no harm when they run again. Do not
	// change statements that were published: databases were made with them.
	SQL map[Dialect][]string

	// Common is, by the version of [CommonMark], which version of this part such
	// a database has: databases are read that were made when all tables of a game
	// had one mark. It is nil for a part that is younger, or of no game.
	Common []int

	// Fill writes the rows that belong to the tables from the beginning. It
	// must do no harm to those that are there. It may be nil.
	Fill func(context.Context, *Session) error
}

// The marks of all parts.
const (
	CommonMark   = "mergesafe" // all tables of a game, before each part had a mark of its own
	RegistryMark = "mergesafe-registry"
	NumbersMark  = "mergesafe-numbers"
	StarterMark  = "mergesafe-starter"
	FleetMark    = "mergesafe-fleet"
)

const gameOwner = "a game"

// owners tells whose tables a mark stands for.
var owners = map[string]string{
	CommonMark: gameOwner, RegistryMark: gameOwner, NumbersMark: gameOwner, StarterMark: gameOwner,
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
// reads. Tables of an older version it brings to the present one, and their
// rows stay. It may be called at every start and by several processes at once,
// and finishes what another one did not. A database that has tables of the same
// names made by others, or of a newer version, is refused with a
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
		err = p.create(ctx, &db.Session, found) // MySQL commits after every CREATE, so this may end half-way
		if says(err, TableThere) {              // in spite of IF NOT EXISTS: another process was faster
			err = fmt.Errorf("%w: %w", ErrRetryable, err)
		}
		if err != nil {
			return err
		}
		return p.Check(ctx, db) // the server may have taken another engine
	})
}

// Check returns a [*SchemaError] unless the tables of the part are there,
// complete and of the present version. It only reads.
func (p *Part) Check(ctx context.Context, db *DB) error {
	_, err := p.look(ctx, &db.Session, false)
	return err
}

func (p *Part) create(ctx context.Context, s *Session, found state) error {
	if !found.marks { // where there are some, the right to make tables may not be needed
		if _, err := s.Exec(ctx, createMark+s.Dialect().Words().MarkEngine); err != nil {
			return err
		}
	}
	marks, err := readMarks(ctx, s)
	if err != nil {
		return err
	}
	done, _ := p.version(marks) // before the mark is written: it may rest on the common one
	if _, err := s.Exec(ctx, insertMark, p.Mark); err != nil && !errors.Is(err, ErrDuplicate) {
		return err
	}
	for _, statements := range p.SQL[s.Dialect()][min(done, p.latest()):] {
		for statement := range strings.SplitSeq(strings.TrimSpace(statements), ";\n") {
			if _, err := s.Exec(ctx, statement); err != nil {
				if err := p.unlessDone(ctx, s, err); err != nil {
					return err
				}
			}
		}
	}
	if p.Fill != nil {
		if err := p.Fill(ctx, s); err != nil {
			return err
		}
	}
	_, err = s.Exec(ctx, raiseMark, p.latest(), p.Mark, p.latest())
	return err
}

// unlessDone returns the error of a statement, or nil if it says that the
// statement was run before, by an upgrade that was interrupted or by another
// process. All that one statement adds to a table is there, or nothing of it.
func (p *Part) unlessDone(ctx context.Context, s *Session, err error) error {
	if says(err, ColumnThere) {
		return nil
	}
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
	// MySQL looks for the name of a CHECK before the column, and in all tables.
	var tables []string
	switch lookErr := s.Select(ctx, &tables, tableOfCheck, name); {
	case lookErr != nil:
		return lookErr
	case len(tables) == 0:
		return err // on a table that the account does not see
	case !slices.Contains(p.Tables, tables[0]):
		return &SchemaError{Reason: fmt.Sprintf("the table %q, which was not made by this program, has a CHECK %q: rename it, or use another database", tables[0], name)}
	}
	return nil
}

// latest is the present version.
func (p *Part) latest() int { return len(p.SQL[MySQL]) } // the same in all dialects

// version returns which version of the part a database with these marks has,
// and whether it has a mark of its own. A mark of its own that was not completed
// does not count where the common one tells more.
func (p *Part) version(marks map[string]int) (version int, marked bool) {
	version, marked = marks[p.Mark]
	if version != 0 || p.Common == nil {
		return version, marked
	}
	version = marks[CommonMark]
	if 0 <= version && version < len(p.Common) { // any other is refused: no program of ours made it
		version = p.Common[version]
	}
	return version, marked
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
	version, marked := p.version(marks)
	found.marked = marked && marks[p.Mark] > 0
	fault := func(creatable bool, format string, args ...any) (state, error) {
		found.creatable = creatable
		return found, &SchemaError{Reason: fmt.Sprintf(format, args...)}
	}
	for mark := range marks {
		switch owner, known := owners[mark]; {
		case !known:
			return fault(false, "the database belongs to another program, %q: use another database", mark)
		case owner != owners[p.Mark]:
			return fault(false, "it is the database of %s, want that of %s", owner, owners[p.Mark])
		}
	}
	_, common := marks[CommonMark]
	begun := marked || common && p.Common != nil
	switch {
	case !begun && len(ours) > 0:
		return fault(false, "the database has a table %q that was not made by this program: use another database", ours[0])
	case !begun:
		schema, table, err := p.elsewhere(ctx, s)
		if err != nil {
			return found, err
		}
		if schema != "" {
			return fault(false, "the table %q is in the schema %q, which is not the first of the search_path: put it first, "+
				"or leave it out if it is of another world", table, schema)
		}
		return fault(true, "%s", p.Absent)
	case version == 0:
		return fault(true, "the tables were never completed: %s", p.Unready)
	case version > p.latest():
		return fault(false, "the tables have version %d and this program knows them up to version %d: use a newer program", version, p.latest())
	case version < 0:
		return fault(false, "the tables have version %d and this program needs version %d", version, p.latest())
	case version < p.latest():
		return fault(true, "the tables have version %d and this program needs version %d: %s", version, p.latest(), p.Older)
	case len(missing) > 0 && !again:
		// Another process may have made them after the first look and before
		// the mark.
		return p.look(ctx, s, true)
	case len(missing) > 0:
		return fault(false, "the table %q is missing: if it was dropped, restore it from a backup; if it was never made, because a schema file was run in part, make it by the whole file (gameid servers schema -h)", missing[0])
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
			return &SchemaError{Reason: fmt.Sprintf("the table %q has no primary key, so it may have rows twice: restore the database from a backup", name)}
		}
	}
	return nil
}
