package world

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
)

// SessionBound names an index of one of these tables of MySQL or MariaDB whose values depend on the session: it covers a virtual
// column, or an expression, that the server computes otherwise with its own time zone and sql_mode than with those of our
// sessions. They are "" if there is none. An index has what the session computed that filled it, so ours would find other rows
// than the game's; MariaDB even takes it for damaged.
func SessionBound(ctx context.Context, w *World, tables []string) (table, index string, err error) {
	if !w.Dialect.MySQL() {
		return "", "", nil
	}
	indexed, err := computedIndexes(ctx, w, tables)
	if err != nil || len(indexed) == 0 {
		return "", "", err
	}
	settings, err := w.On.Texts(ctx, "SELECT QUOTE(@@GLOBAL.time_zone) UNION ALL SELECT QUOTE(@@GLOBAL.sql_mode)")
	if err != nil {
		return "", "", err
	}
	zone, mode := settings[0], settings[1]
	for _, i := range indexed {
		var names []string // which are not read: they have what was computed once
		for _, other := range indexed {
			if other.table == i.table {
				names = append(names, w.Dialect.Quote(other.name))
			}
		}
		sum := fmt.Sprintf("CONCAT(COUNT(*), ' ', COALESCE(SUM(CRC32(COALESCE(CONCAT(%s, ''), '-'))), 0)) FROM %s IGNORE INDEX (%s)%s",
			i.computed, w.Dialect.Quote(i.table), strings.Join(slices.Compact(names), ", "), Where(w.On.Comes(i.table)))
		ours, err := w.On.Texts(ctx, "SELECT "+sum)
		if err != nil {
			return "", "", err
		}
		theirs := fmt.Sprintf("SELECT /*+ SET_VAR(time_zone = %s) SET_VAR(sql_mode = %s) */ %s", zone, mode, sum)
		if w.Known.Engine != "mysql" {
			theirs = fmt.Sprintf("SET STATEMENT time_zone = %s, sql_mode = %s FOR SELECT %s", zone, mode, sum)
		}
		own, err := w.On.Texts(ctx, theirs)
		if err != nil {
			return "", "", err
		}
		if !slices.Equal(ours, own) {
			return i.table, i.name, nil
		}
	}
	return "", "", nil
}

// computedIndex is an index of a table, and what of it is computed.
type computedIndex struct{ table, name, computed string }

func computedIndexes(ctx context.Context, w *World, tables []string) (all []computedIndex, err error) {
	told := "''"
	if w.Known.Engine == "mysql" {
		tells, err := w.On.Number(ctx, mysqlTellsExpressions, false)
		if err != nil {
			return nil, err
		}
		if tells > 0 {
			told = "COALESCE(EXPRESSION, '')"
		}
	}
	virtual := func(table, column string) bool {
		return slices.ContainsFunc(w.Table(table).Columns, func(c catalog.Column) bool {
			return c.Virtual && c.Name == column && !ofKind(c.Type, []string{"geom", "point", "linestring", "polygon", "multi"})
		})
	}
	query := "SELECT TABLE_NAME, INDEX_NAME, COALESCE(COLUMN_NAME, ''), " + told + " FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX"
	err = w.On.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
		table, name, column, expression := Text(row[0]), Text(row[1]), Text(row[2]), Text(row[3])
		switch {
		case !slices.Contains(tables, table):
		case strings.HasSuffix(strings.ToLower(expression), " array)"): // its values can be computed in an index only, and come from JSON
		case expression != "":
			all = append(all, computedIndex{table, name, "(" + unescaped(expression) + ")"})
		case virtual(table, column):
			all = append(all, computedIndex{table, name, w.Dialect.Quote(column)})
		}
		return true, nil
	})
	return all, err
}

// unescaped is an expression as MySQL's catalogue shows it, which has each quote and each backslash of it behind another one.
func unescaped(shown string) string {
	var b strings.Builder
	for i := 0; i < len(shown); i++ {
		if shown[i] == '\\' && i+1 < len(shown) {
			i++
			if at := strings.IndexByte("ntr0", shown[i]); at >= 0 {
				b.WriteByte("\n\t\r\x00"[at])
				continue
			}
		}
		b.WriteByte(shown[i])
	}
	return b.String()
}
