package oracle

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	_ "github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite"
)

// now is the moment of all plans, in seconds since 1970: conditions may ask for it.
const now = 1_700_000_000

// Game is a random game: its tables, what is said of them, and the rows of its worlds.
type Game struct {
	Seed     uint64
	MySQL    bool // for MariaDB and MySQL; otherwise for SQLite
	Tables   []*Table
	Rules    Rules
	Features map[string]bool
}

// Table is a table of a game. Its first column is the key that others name, unless its key has several, or none.
type Table struct {
	Name    string
	Columns []*Column
	Key     []string
	Unique  [][]string
	Auto    bool // its key is counted by the database
	Foreign []string
	Bare    bool    // its key is UNIQUE and NOT NULL, and not the primary one
	Rows    [][]Row // of each world
	Next    []int64 // of each world, where its counter is set to; 0: where it is

	live, gone [][]int64 // of each world: keys of rows, and keys that are not there
	rows       func(w int) int
	builtIn    int64 // keys below it are the same in every world
	same       bool
}

// Column is a column of a table. A value is nil, an int64, a string or []byte.
type Column struct {
	Name, Kind, Type string
	Null, Fold       bool   // it takes NULL; it compares without case
	Size             int    // characters, of texts
	As               string // computed from the others

	fill fill
}

// fill makes a value of a row of a world; the columns before it have theirs.
type fill func(r Row, w int) any

// Row is a row, by the name of the column.
type Row map[string]any

func (t *Table) column(name string) *Column {
	i := slices.IndexFunc(t.Columns, func(c *Column) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return t.Columns[i]
}

func (t *Table) at(column string) string { return t.Name + "." + column }

func (g *Game) table(name string) *Table {
	i := slices.IndexFunc(g.Tables, func(t *Table) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return g.Tables[i]
}

// statements make a world.
func (g *Game) statements(w int) (all []string) {
	if g.MySQL {
		all = append(all, "SET SESSION foreign_key_checks = 0, sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'")
	}
	for _, t := range g.Tables {
		all = append(all, t.create(g.MySQL))
	}
	for _, t := range g.Tables {
		var given []string
		for _, c := range t.Columns {
			if c.As == "" {
				given = append(given, c.Name)
			}
		}
		for _, row := range t.Rows[w] {
			var values []string
			for _, name := range given {
				values = append(values, literal(row[name]))
			}
			all = append(all, "INSERT INTO "+t.Name+" ("+strings.Join(given, ", ")+") VALUES ("+strings.Join(values, ", ")+")")
		}
		if next := t.Next[w]; next > 0 && g.MySQL {
			all = append(all, fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", t.Name, next))
		} else if next > 0 {
			all = append(all, fmt.Sprintf("DELETE FROM sqlite_sequence WHERE name = '%s'", t.Name),
				fmt.Sprintf("INSERT INTO sqlite_sequence (name, seq) VALUES ('%s', %d)", t.Name, next-1))
		}
	}
	return all
}

func (t *Table) create(mysql bool) string {
	var parts []string
	primary := len(t.Key) > 0
	for _, c := range t.Columns {
		part := c.Name + " " + c.Type
		switch {
		case c.As != "":
			part += " GENERATED ALWAYS AS (" + c.As + ") " + []string{"VIRTUAL", "STORED"}[len(c.Name)%2]
		case !c.Null:
			part += " NOT NULL"
		}
		if t.Auto && c.Name == t.Key[0] {
			if part += " AUTO_INCREMENT"; !mysql {
				part, primary = c.Name+" INTEGER PRIMARY KEY AUTOINCREMENT", false
			}
		}
		parts = append(parts, part)
	}
	if t.Bare {
		parts = append(parts, "UNIQUE ("+strings.Join(t.Key, ", ")+")")
	} else if primary {
		parts = append(parts, "PRIMARY KEY ("+strings.Join(t.Key, ", ")+")")
	}
	for _, u := range t.Unique {
		parts = append(parts, "UNIQUE ("+strings.Join(u, ", ")+")")
	}
	for _, f := range t.Foreign {
		column, to, _ := strings.Cut(f, " ")
		table, key := placed(to)
		parts = append(parts, fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s)", column, table, key[0]))
	}
	return "CREATE TABLE " + t.Name + " (" + strings.Join(parts, ", ") + ")"
}

// free reports whether a column may be changed alone.
func (t *Table) free(c *Column) bool {
	return len(t.Key) > 0 && c.As == "" && !slices.Contains(slices.Concat(append(t.Unique, t.Key)...), c.Name) &&
		!slices.ContainsFunc(t.Foreign, func(f string) bool { return strings.HasPrefix(f, c.Name+" ") })
}

// sqlOf is a value that was read, in SQL.
func sqlOf(v *string) string {
	switch {
	case v == nil:
		return "NULL"
	case (*v)[0] == 't':
		return literal((*v)[1:])
	case (*v)[0] == 'x':
		return "x'" + (*v)[1:] + "'"
	}
	return (*v)[1:]
}

func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(v) + "'" // no generated text has a backslash
	case []byte:
		return "x'" + hex.EncodeToString(v) + "'"
	}
	return fmt.Sprint(v)
}

// Contents are the rows of a database by table, each value as reference.py writes it, and the next number of each key.
type Contents struct {
	Name   string                 `json:"name"`
	Tables map[string][][]*string `json:"tables"`
	Next   map[string]int64       `json:"next"`
}

func openDatabase(dsn string) (*sql.DB, error) {
	kind, rest, _ := strings.Cut(dsn, ":")
	if kind == "sqlite" {
		rest = "file:" + rest + "?_pragma=busy_timeout(5000)&_pragma=synchronous(0)&_pragma=journal_mode(memory)"
	}
	db, err := sql.Open(kind, rest)
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// create makes a world.
func (g *Game) create(ctx context.Context, d database, w int) error {
	db, err := openDatabase(d.DSN)
	if err != nil {
		return err
	}
	defer db.Close()
	all := g.statements(w)
	if !g.MySQL {
		all = slices.Concat([]string{"BEGIN"}, all, []string{"COMMIT"})
	}
	for _, s := range all {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%w in %s", err, s)
		}
	}
	return nil
}

// read reads a database.
func (g *Game) read(ctx context.Context, d database) (*Contents, error) {
	db, err := openDatabase(d.DSN)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	c := &Contents{Name: d.Name, Tables: make(map[string][][]*string), Next: make(map[string]int64)}
	for _, t := range g.Tables {
		if c.Tables[t.Name], err = t.read(ctx, db); err != nil {
			return nil, err
		}
		if !t.Auto {
			continue
		}
		query := "SELECT COALESCE((SELECT seq + 1 FROM sqlite_sequence WHERE name = '" + t.Name + "'), 0)"
		if g.MySQL {
			if _, err := db.ExecContext(ctx, "ANALYZE TABLE "+t.Name); err != nil { // MySQL tells an older number
				return nil, err
			}
			query = "SELECT AUTO_INCREMENT FROM information_schema.TABLES " +
				"WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '" + t.Name + "'"
		}
		var next sql.NullInt64
		if err := db.QueryRowContext(ctx, query).Scan(&next); err != nil {
			return nil, err
		}
		c.Next[t.Name] = next.Int64
	}
	return c, nil
}

func (t *Table) read(ctx context.Context, db *sql.DB) ([][]*string, error) {
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	rows, err := db.QueryContext(ctx, "SELECT "+strings.Join(names, ", ")+" FROM "+t.Name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := [][]*string{}
	for rows.Next() {
		values, dest := make([]sql.RawBytes, len(names)), make([]any, len(names))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		row := make([]*string, len(names))
		for i, v := range values {
			if v == nil {
				continue
			}
			text := ""
			switch t.Columns[i].Kind {
			case "int":
				text = "i" + string(v)
			case "text":
				text = "t" + string(v)
			default:
				text = "x" + hex.EncodeToString(v)
			}
			row[i] = &text
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// lines are the rows of a table, sorted, to be compared and printed.
func lines(rows [][]*string) (all []string) {
	for _, row := range rows {
		var b strings.Builder
		for i, v := range row {
			if i > 0 {
				b.WriteByte('|')
			}
			if v == nil {
				b.WriteString("NULL")
			} else {
				b.WriteString((*v)[1:])
			}
		}
		all = append(all, b.String())
	}
	slices.Sort(all)
	return all
}

// schema is what the reference knows of the tables.
func (g *Game) schema() map[string]any {
	all := make(map[string]any)
	for _, t := range g.Tables {
		var columns []map[string]any
		for _, c := range t.Columns {
			columns = append(columns, map[string]any{"name": c.Name, "kind": c.Kind, "null": c.Null, "fold": c.Fold,
				"size": c.Size, "as": c.As})
		}
		all[t.Name] = map[string]any{"columns": columns, "key": append([]string{}, t.Key...),
			"unique": append([][]string{}, t.Unique...), "auto": t.Auto}
	}
	return all
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func digits(n int64) string { return strconv.FormatInt(n, 10) }
