package world

import (
	"context"
	"database/sql"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqltext"
	"mergesafe/merge/catalog"
)

const mysqlPartitions = `SELECT TABLE_NAME, PARTITION_METHOD, COALESCE(PARTITION_EXPRESSION, ''),
		COALESCE(SUBPARTITION_METHOD, ''), COALESCE(SUBPARTITION_EXPRESSION, ''), COALESCE(PARTITION_DESCRIPTION, '')
	FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = DATABASE() AND PARTITION_METHOD IS NOT NULL
	ORDER BY TABLE_NAME, PARTITION_ORDINAL_POSITION, SUBPARTITION_ORDINAL_POSITION`

// partitioning is what the rows of a table are parted by, and the bounds of the
// partitions, in order.
type partitioning struct {
	method, expression string
	bounds             []string
}

func mysqlReadPartitions(ctx context.Context, conn *sql.Conn, b *builder) error {
	var table, subMethod, subExpression, bound string
	var p partitioning
	all := make(map[string]*partitioning)
	err := listed(ctx, conn, mysqlPartitions, func() {
		t := b.tables[table]
		if t == nil {
			return
		}
		if all[table] == nil {
			all[table] = &partitioning{method: p.method, expression: p.expression}
			t.Partitions = p.method + "(" + p.expression + ")"
			if subMethod != "" {
				t.Partitions += ", " + subMethod + "(" + subExpression + ")"
			}
		}
		all[table].bounds = append(all[table].bounds, bound)
	}, &table, &p.method, &p.expression, &subMethod, &subExpression, &bound)
	for name, p := range all {
		t := b.tables[name]
		if t.partitionOfRest {
			continue
		}
		if c := p.condition(); c != "" {
			t.condition(sqldb.MySQL, catalog.Condition{Kind: catalog.ConditionPartition, Name: t.Partitions}, sqltext.MySQL(c))
		}
	}
	return err
}

// hasPartitionOfRest reports whether a CREATE TABLE has a partition for all rows that belong to
// no other one: DEFAULT, of MariaDB. The catalogue shows it as VALUES IN (0).
func hasPartitionOfRest(all []sqltext.Token) bool {
	for i := range len(all) - 2 {
		if all[i].Keyword("PARTITION") && all[i+2].Keyword("DEFAULT") {
			return true
		}
	}
	return false
}

// condition is what must hold of a row so that there is a partition for it; "" if
// there is one for every row. A table with a partition of the rest is not asked about.
func (p *partitioning) condition() string {
	switch p.method {
	case "RANGE", "RANGE COLUMNS":
		// The last bound is the highest. NULL is below every value.
		return below(p.columns(), sqltext.Parts(p.bounds[len(p.bounds)-1]))
	case "LIST", "LIST COLUMNS":
		var values []string
		null := false
		columns := p.columns()
		for _, bound := range p.bounds {
			for _, v := range sqltext.Parts(bound) {
				if strings.EqualFold(v, "NULL") {
					null = true
				} else {
					values = append(values, v)
				}
			}
		}
		if len(columns) > 1 {
			// <=> finds NULL in a row of values too.
			var ways []string
			for _, v := range values {
				var equal []string
				for i, one := range sqltext.Parts(strings.TrimSuffix(strings.TrimPrefix(v, "("), ")")) {
					if i < len(columns) {
						equal = append(equal, columns[i]+" <=> "+one)
					}
				}
				ways = append(ways, "("+strings.Join(equal, " AND ")+")")
			}
			return strings.Join(ways, " OR ")
		}
		in := columns[0] + " IS NULL"
		if len(values) > 0 {
			in = columns[0] + " IN (" + strings.Join(values, ", ") + ")"
		}
		if null {
			return in // of NULL it is NULL
		}
		return columns[0] + " IS NOT NULL AND " + in
	default: // HASH, KEY: for every row; SYSTEM_TIME: such tables are not read
		return ""
	}
}

// below is the condition that a row of values comes before another one, in which
// MAXVALUE may stand; "" if every row does.
func below(columns, bound []string) string {
	if len(columns) == 0 || len(bound) != len(columns) {
		return "UNKNOWN_BOUND" // no word of a condition: it is not evaluated
	}
	if strings.EqualFold(bound[0], "MAXVALUE") {
		return ""
	}
	first := columns[0] + " IS NULL OR " + columns[0] + " < " + bound[0]
	if len(columns) == 1 {
		return first
	}
	rest := below(columns[1:], bound[1:])
	if rest == "" {
		return columns[0] + " IS NULL OR " + columns[0] + " <= " + bound[0]
	}
	return first + " OR " + columns[0] + " = " + bound[0] + " AND (" + rest + ")"
}

// columns are what the rows are parted by: an expression, or columns.
func (p *partitioning) columns() []string {
	if !strings.HasSuffix(p.method, "COLUMNS") {
		return []string{"(" + p.expression + ")"}
	}
	return sqltext.Parts(p.expression)
}
