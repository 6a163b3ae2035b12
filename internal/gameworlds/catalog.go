package gameworlds

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mergesafe/internal/sqldb"
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
	length    int64    // of a text in characters, of a binary in bytes
	digits    [2]int64 // of a decimal and of float(3,1): all, and after the point
	values    []string // of an enum or a set
}

// catalogSQL are the questions about the tables of a database: for columns, for the columns of unique indexes, and for
// columns of foreign keys.
type catalogSQL struct{ columns, unique, foreign string }

var catalogs = map[sqldb.Dialect]catalogSQL{
	sqldb.MySQL: {
		`SELECT table_name, column_name, column_type, is_nullable = 'YES', extra LIKE '%VIRTUAL%' OR extra LIKE '%STORED%'
FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position`,
		`SELECT table_name, index_name, column_name FROM information_schema.statistics
WHERE table_schema = DATABASE() AND non_unique = 0 ORDER BY table_name, index_name, seq_in_index`,
		`SELECT table_name, column_name FROM information_schema.key_column_usage
WHERE table_schema = DATABASE() AND referenced_table_name IS NOT NULL`,
	},
	sqldb.SQLite: {
		`SELECT t.name, c.name, c.type, NOT c."notnull" AND c.pk = 0, c.hidden > 1 FROM sqlite_schema t JOIN pragma_table_xinfo(t.name) c
WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY t.name, c.cid`,
		`SELECT t.name, 'PRIMARY', c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.pk > 0
UNION ALL SELECT t.name, i.name, c.name FROM sqlite_schema t JOIN pragma_index_list(t.name) i JOIN pragma_index_info(i.name) c
WHERE t.type = 'table' AND i."unique" AND i.origin <> 'pk'`,
		`SELECT t.name, f."from" FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table'`,
	},
}

// readCatalog reads the tables of the connection's database, by name.
func readCatalog(ctx context.Context, conn *sql.Conn, dialect sqldb.Dialect) (map[string]*table, error) {
	tables, ask := make(map[string]*table), catalogs[dialect]
	err := each(ctx, conn, ask.columns, func(rows *sql.Rows) error {
		c := new(column)
		var columnType string
		if err := rows.Scan(&c.Table, &c.Name, &columnType, &c.nullable, &c.generated); err != nil {
			return err
		}
		t := tables[c.Table]
		if t == nil {
			t = &table{name: c.Table, declared: make(map[string]bool)}
			tables[c.Table] = t
		}
		c.place = len(t.columns)
		c.setType(columnType)
		t.columns = append(t.columns, c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	indexes := make(map[[2]string]int)
	err = each(ctx, conn, ask.unique, func(rows *sql.Rows) error {
		var name, index, columnName string
		if err := rows.Scan(&name, &index, &columnName); err != nil {
			return err
		}
		t := tables[name]
		if t == nil { // a table of SQLite's own
			return nil
		}
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
	err = each(ctx, conn, ask.foreign, func(rows *sql.Rows) error {
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
		if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM (SELECT 1 FROM "+dialect.Quote(name)+" LIMIT 1) t").Scan(&n); err != nil {
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

var (
	types      = regexp.MustCompile(`^(\w+)(?:\((\d+)(?:,(\d+))?\))?`)
	enumValues = regexp.MustCompile(`'((?:[^']|'')*)'`)
)

// setType reads a type such as decimal(6,2) or int unsigned.
func (c *column) setType(text string) {
	lower := strings.ToLower(text)
	c.unsigned = strings.Contains(lower, "unsigned")
	m := types.FindStringSubmatch(lower)
	c.kind = m[1]
	c.digits[0], _ = strconv.ParseInt(m[2], 10, 64)
	c.digits[1], _ = strconv.ParseInt(m[3], 10, 64)
	if c.length = c.digits[0]; c.length == 0 {
		c.length = 255 // what any TEXT or BLOB takes
	}
	for _, m := range enumValues.FindAllStringSubmatch(text, -1) {
		c.values = append(c.values, m[1])
	}
}

// limits returns the numbers that an integer column takes, as far as an int64 has them.
func (c *column) limits() (r Range, integer bool) {
	bits := map[string]uint{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "integer": 32, "bigint": 64}[c.kind]
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
