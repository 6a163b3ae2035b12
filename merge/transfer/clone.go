package transfer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
	"mergesafe/store/registry"
)

// Clone copies a database as it is at one moment, also while its game runs: for a rehearsal,
// never for a game. The other database must be an SQLite file that does not exist, or a database
// of MySQL or MariaDB without tables. In the copy no server is leased, so that the merge can
// be tried there. From MySQL and MariaDB views and routines are not copied. Triggers are made
// without their statements, which might write to another database: so a plan finds them there as
// it finds them here. The result lists all of these.
//
// The first database is only read. If Clone returns an error, what it made of the copy is
// still there.
func Clone(ctx context.Context, from, to Database) (left []string, err error) {
	on := &connection{Database: from}
	defer on.close()
	if on.dialect() != (&connection{Database: to}).dialect() {
		return nil, fmt.Errorf("transfer: copying %q: the copy has to be of the same kind", from.Name)
	}
	if on.dialect().mysql() {
		left, err = cloneRows(ctx, on, to)
	} else {
		err = cloneFile(ctx, on, to)
	}
	if err == nil {
		err = endLeases(ctx, to)
	}
	if err != nil {
		return nil, fmt.Errorf("transfer: copying %q: %w", from.Name, err)
	}
	return left, nil
}

func cloneFile(ctx context.Context, from *connection, to Database) error {
	path := strings.TrimPrefix(to.DSN, string(sqldb.SQLite)+":")
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the file %q is there already", path)
	}
	if err := from.connect(ctx); err != nil {
		return err
	}
	// The copy is a file of its own: what keeps this connection from writing would keep it
	// from being made. The file of the database is opened mode=ro.
	if _, err := from.exec(ctx, "clone", "PRAGMA query_only = 0", false); err != nil {
		return err
	}
	if _, err := from.exec(ctx, "clone", "VACUUM INTO ?", false, path); err != nil {
		return err
	}
	return from.db.Unchanged()
}

func cloneRows(ctx context.Context, from *connection, to Database) (left []string, err error) {
	source, err := openSource(ctx, from.Database)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	target := &connection{Database: to, writes: true, unchecked: true}
	defer target.close()
	have, err := target.texts(ctx, tablesOf(target.dialect()))
	if err != nil {
		return nil, err
	}
	if len(have) > 0 {
		return nil, fmt.Errorf("%q has tables already: want a database without", to.Name)
	}
	statements, err := schemaOf(ctx, source, new(Made), func(string) bool { return false })
	if err != nil {
		return nil, err
	}
	for _, s := range statements {
		if _, err := target.exec(ctx, "create", s, false); err != nil {
			return nil, fmt.Errorf("%.200s: %w", s, err)
		}
	}
	for _, s := range []string{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"} {
		if _, err := from.exec(ctx, "begin", s, false); err != nil {
			return nil, err
		}
	}
	tables, err := from.texts(ctx, tablesOf(from.dialect()))
	if err != nil {
		return nil, err
	}
	w := &run{target: target}
	for _, name := range tables {
		t, err := columnsOf(ctx, from, name)
		if err == nil {
			err = w.cloneTable(ctx, from, newLayout(from.dialect(), t))
		}
		if err != nil {
			return nil, fmt.Errorf("table %q: %w", name, err)
		}
	}
	if _, err = from.exec(ctx, "commit", "COMMIT", false); err != nil {
		return nil, err
	}
	return leftOfClone(ctx, source.catalog, target), nil
}

// leftOfClone makes the triggers of a copy, and lists what is not in it.
func leftOfClone(ctx context.Context, c *merge.Catalog, target *connection) (left []string) {
	for _, what := range leftBehind(c) {
		if !strings.HasPrefix(what, "trigger ") {
			left = append(left, what)
		}
	}
	for _, t := range c.Tables {
		for _, trigger := range t.Triggers {
			q := target.dialect().Quote
			_, err := target.exec(ctx, "create", "CREATE TRIGGER "+q(trigger.Name)+" "+trigger.Event+" ON "+q(t.Name)+" FOR EACH ROW SET @mergesafe_rehearsal = 1", false)
			what := fmt.Sprintf("trigger %s (%s on %s), which is there, but runs nothing", trigger.Name, trigger.Event, t.Name)
			if err != nil { // such as for the right to make one: the plan of the world itself finds it
				what = fmt.Sprintf("trigger %s (%s on %s), which could not be made there: %v", trigger.Name, trigger.Event, t.Name, err)
			}
			left = append(left, what)
		}
	}
	for _, hidden := range c.Hidden {
		left = append(left, hidden.String())
	}
	return left
}

// columnsOf describes a table, which may be one of ours, as far as copying needs.
func columnsOf(ctx context.Context, on *connection, table string) (*merge.Table, error) {
	const query = "SELECT COLUMN_NAME, COLUMN_TYPE, EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION"
	t := &merge.Table{Name: table}
	err := on.rows(ctx, query, true, []any{table}, func(row []any) (bool, error) {
		c := merge.Column{Name: text(row[0]), Type: text(row[1])}
		if extra := strings.ToUpper(text(row[2])); strings.Contains(extra, "GENERATED") && !strings.Contains(extra, "DEFAULT_GENERATED") {
			c.Generated = extra
		}
		t.Columns = append(t.Columns, c)
		return true, nil
	})
	return t, err
}

// cloneTable streams the rows of a table into its copy.
func (r *run) cloneTable(ctx context.Context, from *connection, l *layout) error {
	var batch [][]any
	size := 0
	flush := func() error {
		defer func() { batch, size = batch[:0], 0 }()
		if len(batch) == 0 {
			return nil
		}
		return r.target.tx(ctx, func() error { return r.insert(ctx, l, batch) })
	}
	err := from.rows(ctx, l.selectFrom(), false, nil, func(row []any) (bool, error) {
		kept := append([]any(nil), row...)
		l.tidy(kept)
		batch, size = append(batch, kept), size+rowSize(kept)
		if len(batch) < 5000 && size < pageBytes {
			return true, nil
		}
		return true, flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// endLeases lets go of the servers in a copy.
func endLeases(ctx context.Context, d Database) error {
	db, err := sqldb.Dial(ctx, d.DSN, false)
	if err != nil {
		return err
	}
	defer db.Close()
	var tables []string
	if err := db.Select(ctx, &tables, db.Dialect().TableNames()); err != nil {
		return err
	}
	for _, t := range tables {
		if t == registry.Table {
			return registryOf(db).EndLeases(ctx)
		}
	}
	return nil
}
