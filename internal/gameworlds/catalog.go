package gameworlds

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"regexp"
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
		`SELECT name, i, col FROM (
SELECT t.name, 'PRIMARY' AS i, c.name AS col, c.pk AS n FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.pk > 0
UNION ALL SELECT t.name, i.name, c.name, c.seqno FROM sqlite_schema t JOIN pragma_index_list(t.name) i JOIN pragma_index_info(i.name) c
WHERE t.type = 'table' AND i."unique" AND i.origin <> 'pk') ORDER BY name, i, n`,
		`SELECT t.name, f."from" FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table'`,
	},
}

// readCatalog reads the tables of the connection's database, by name.
func readCatalog(ctx context.Context, conn *sql.Conn, dialect sqldb.Dialect) (map[string]*table, error) {
	tables, ask := make(map[string]*table), catalogs[dialect]
	columns, err1 := texts(ctx, conn, ask.columns, 5)
	unique, err2 := texts(ctx, conn, ask.unique, 3)
	foreign, err3 := texts(ctx, conn, ask.foreign, 2)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	for _, row := range columns {
		t := tables[row[0]]
		if t == nil {
			var n int
			if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM (SELECT 1 FROM "+dialect.Quote(row[0])+" LIMIT 1) t").Scan(&n); err != nil {
				return nil, err
			}
			t = &table{name: row[0], declared: make(map[string]bool), empty: n == 0}
			tables[row[0]] = t
		}
		c := &column{Column: Column{row[0], row[1]}, place: len(t.columns), nullable: row[3] == "1", generated: row[4] == "1"}
		c.setType(row[2])
		t.columns = append(t.columns, c)
	}
	index := "" // the one before
	for _, row := range unique {
		t := tables[row[0]]
		if t == nil { // a table of SQLite's own
			continue
		}
		if this := row[0] + "." + row[1]; this != index {
			index, t.unique = this, append(t.unique, nil)
		}
		c, err := t.column(row[2])
		if err != nil {
			return nil, err
		}
		last := len(t.unique) - 1
		t.unique[last] = append(t.unique[last], c.place)
	}
	for _, row := range foreign {
		tables[row[0]].declared[row[1]] = true
	}
	return tables, nil
}

// texts returns the rows of a query of so many columns.
func texts(ctx context.Context, conn *sql.Conn, query string, columns int) (all [][]string, err error) {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		row, to := make([]string, columns), make([]any, columns)
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
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
