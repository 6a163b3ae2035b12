package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/write"
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
func Clone(ctx context.Context, from, to rowio.Database) (left []string, err error) {
	on := &rowio.Connection{Database: from}
	defer on.Close()
	if on.Dialect() != (&rowio.Connection{Database: to}).Dialect() {
		return nil, fmt.Errorf("transfer: copying %q: the copy has to be of the same kind", from.Name)
	}
	if on.Dialect().MySQL() {
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

func cloneFile(ctx context.Context, from *rowio.Connection, to rowio.Database) error {
	path := strings.TrimPrefix(to.DSN, string(sqldb.SQLite)+":")
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the file %q is there already", path)
	}
	if err := from.Connect(ctx); err != nil {
		return err
	}
	// The copy is a file of its own: what keeps this connection from writing would keep it
	// from being made. The file of the database is opened mode=ro.
	if _, err := from.Exec(ctx, "clone", "PRAGMA query_only = 0", false); err != nil {
		return err
	}
	if _, err := from.Exec(ctx, "clone", "VACUUM INTO ?", false, path); err != nil {
		return err
	}
	return from.DB.Unchanged()
}

func cloneRows(ctx context.Context, from *rowio.Connection, to rowio.Database) (left []string, err error) {
	source, err := rowio.OpenSource(ctx, from.Database)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	target := &rowio.Connection{Database: to, Writes: true, Unchecked: true}
	defer target.Close()
	have, err := target.Texts(ctx, tablesOf(target.Dialect()))
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
		if _, err := target.Exec(ctx, "create", s, false); err != nil {
			return nil, fmt.Errorf("%.200s: %w", s, err)
		}
	}
	for _, s := range []string{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"} {
		if _, err := from.Exec(ctx, "begin", s, false); err != nil {
			return nil, err
		}
	}
	tables, err := from.Texts(ctx, tablesOf(from.Dialect()))
	if err != nil {
		return nil, err
	}
	w := &job.Run{Target: target}
	for _, name := range tables {
		t, err := columnsOf(ctx, from, name)
		if err == nil {
			err = cloneTable(ctx, w, from, rowio.NewLayout(from.Dialect(), t))
		}
		if err != nil {
			return nil, fmt.Errorf("table %q: %w", name, err)
		}
	}
	if _, err = from.Exec(ctx, "commit", "COMMIT", false); err != nil {
		return nil, err
	}
	return leftOfClone(ctx, source.Known, target), nil
}

// leftOfClone makes the triggers of a copy, and lists what is not in it.
func leftOfClone(ctx context.Context, c *catalog.Catalog, target *rowio.Connection) (left []string) {
	for _, what := range leftBehind(c) {
		if !strings.HasPrefix(what, "trigger ") {
			left = append(left, what)
		}
	}
	for _, t := range c.Tables {
		for _, trigger := range t.Triggers {
			q := target.Dialect().Quote
			_, err := target.Exec(ctx, "create", "CREATE TRIGGER "+q(trigger.Name)+" "+trigger.Event+" ON "+q(t.Name)+" FOR EACH ROW SET @mergesafe_rehearsal = 1", false)
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
func columnsOf(ctx context.Context, on *rowio.Connection, table string) (*catalog.Table, error) {
	const query = "SELECT COLUMN_NAME, COLUMN_TYPE, EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION"
	t := &catalog.Table{Name: table}
	err := on.Rows(ctx, query, true, []any{table}, func(row []any) (bool, error) {
		c := catalog.Column{Name: rowio.Text(row[0]), Type: rowio.Text(row[1])}
		if extra := strings.ToUpper(rowio.Text(row[2])); strings.Contains(extra, "GENERATED") && !strings.Contains(extra, "DEFAULT_GENERATED") {
			c.Generated = extra
		}
		t.Columns = append(t.Columns, c)
		return true, nil
	})
	return t, err
}

// cloneTable streams the rows of a table into its copy.
func cloneTable(ctx context.Context, r *job.Run, from *rowio.Connection, l *rowio.Layout) error {
	var batch [][]any
	size := 0
	flush := func() error {
		defer func() { batch, size = batch[:0], 0 }()
		if len(batch) == 0 {
			return nil
		}
		return r.Target.Tx(ctx, func() error { return write.Insert(ctx, r, l, batch) })
	}
	err := from.Rows(ctx, l.SelectFrom(), false, nil, func(row []any) (bool, error) {
		kept := append([]any(nil), row...)
		l.Tidy(kept)
		batch, size = append(batch, kept), size+write.RowSize(kept)
		if len(batch) < 5000 && size < rowio.PageBytes {
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
func endLeases(ctx context.Context, d rowio.Database) error {
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
			return rowio.RegistryOf(db).EndLeases(ctx)
		}
	}
	return nil
}
