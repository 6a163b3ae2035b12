package gameworlds

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// table is a table as the server has it.
type table struct {
	name     string
	columns  []*column
	unique   [][]int // of each unique index the places of its columns
	declared map[string]bool
	empty    bool
}

// column is a column as the server has it.
type column struct {
	Column
	place     int
	kind      string // the name of its type: int, varchar
	unsigned  bool
	nullable  bool
	generated bool
	length    int64    // characters of a text, bytes of a binary
	digits    [2]int64 // of a decimal and of float(3,1): all, and after the point
	values    []string // of an enum or a set
}

const (
	columnsSQL = `SELECT table_name, column_name, data_type, column_type, is_nullable, extra, COALESCE(character_maximum_length, 0),
	COALESCE(numeric_precision, 0), COALESCE(numeric_scale, 0)
FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position`

	uniqueSQL = `SELECT table_name, index_name, column_name FROM information_schema.statistics
WHERE table_schema = DATABASE() AND non_unique = 0 ORDER BY table_name, index_name, seq_in_index`

	foreignSQL = `SELECT table_name, column_name FROM information_schema.key_column_usage
WHERE table_schema = DATABASE() AND referenced_table_name IS NOT NULL`
)

var enumValues = regexp.MustCompile(`'((?:[^']|'')*)'`)

// readCatalog reads the tables of the connection's database, by name.
func readCatalog(ctx context.Context, conn *sql.Conn) (map[string]*table, error) {
	tables := make(map[string]*table)
	err := each(ctx, conn, columnsSQL, func(rows *sql.Rows) error {
		c := new(column)
		var columnType, nullable, extra string
		if err := rows.Scan(&c.Table, &c.Name, &c.kind, &columnType, &nullable, &extra, &c.length, &c.digits[0], &c.digits[1]); err != nil {
			return err
		}
		t := tables[c.Table]
		if t == nil {
			t = &table{name: c.Table, declared: make(map[string]bool)}
			tables[c.Table] = t
		}
		c.kind, c.place = strings.ToLower(c.kind), len(t.columns)
		c.unsigned = strings.Contains(columnType, "unsigned")
		c.nullable, c.generated = nullable == "YES", strings.Contains(extra, "VIRTUAL") || strings.Contains(extra, "STORED")
		for _, m := range enumValues.FindAllStringSubmatch(columnType, -1) {
			c.values = append(c.values, m[1])
		}
		t.columns = append(t.columns, c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	indexes := make(map[[2]string]int)
	err = each(ctx, conn, uniqueSQL, func(rows *sql.Rows) error {
		var name, index, columnName string
		if err := rows.Scan(&name, &index, &columnName); err != nil {
			return err
		}
		t := tables[name]
		i, known := indexes[[2]string{name, index}]
		if !known {
			i = len(t.unique)
			indexes[[2]string{name, index}] = i
			t.unique = append(t.unique, nil)
		}
		c, err := t.column(columnName)
		if err == nil {
			t.unique[i] = append(t.unique[i], c.place)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	err = each(ctx, conn, foreignSQL, func(rows *sql.Rows) error {
		var name, columnName string
		err := rows.Scan(&name, &columnName)
		if err == nil {
			tables[name].declared[columnName] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		var n int
		if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM (SELECT 1 FROM "+quote(name)+" LIMIT 1) t").Scan(&n); err != nil {
			return nil, err
		}
		tables[name].empty = n == 0
	}
	return tables, nil
}

// each calls scan for every row of a query.
func each(ctx context.Context, conn *sql.Conn, query string, scan func(*sql.Rows) error) error {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// column returns a column by its name, whose letters' case does not count in MySQL.
func (t *table) column(name string) (*column, error) {
	for _, c := range t.columns {
		if strings.EqualFold(c.Name, name) {
			return c, nil
		}
	}
	return nil, fmt.Errorf("table %q has no column %q", t.name, name)
}

// limits returns the numbers that an integer column takes, as far as an int64 has them.
func (c *column) limits() (r Range, integer bool) {
	bits := map[string]uint{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}[c.kind]
	switch {
	case bits == 0:
		return Range{}, false
	case bits == 64 && c.unsigned:
		return Range{0, math.MaxInt64}, true
	case c.unsigned:
		return Range{0, 1<<bits - 1}, true
	default:
		return Range{-1 << (bits - 1), 1<<(bits-1) - 1}, true
	}
}

// text reports whether a column holds characters or bytes.
func (c *column) text() bool {
	return strings.HasSuffix(c.kind, "char") || strings.HasSuffix(c.kind, "text") || c.bytes()
}

func (c *column) bytes() bool {
	return strings.HasSuffix(c.kind, "binary") || strings.HasSuffix(c.kind, "blob")
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
