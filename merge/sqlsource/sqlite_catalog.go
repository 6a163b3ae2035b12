package sqlsource

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"mergesafe/gameid"
	"mergesafe/merge"
)

const (
	sqliteAbout = `SELECT sqlite_version(), CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), encoding FROM pragma_encoding`

	sqliteTables = `SELECT name, type FROM pragma_table_list
		WHERE schema = 'main' AND type <> 'view' AND lower(substr(name, 1, 7)) <> 'sqlite_'`

	sqliteColumns = `SELECT t.name, c.name, c.type, c."notnull", c.pk
		FROM pragma_table_list AS t JOIN pragma_table_xinfo(t.name) AS c
		WHERE t.schema = 'main' AND t.type = 'table' ORDER BY t.name, c.cid`

	// A column of an expression has no name.
	sqliteIndexes = `SELECT t.name, i.name, i.origin, i.partial, COALESCE(c.name, ''), c.coll
		FROM pragma_table_list AS t JOIN pragma_index_list(t.name) AS i JOIN pragma_index_xinfo(i.name) AS c
		WHERE t.schema = 'main' AND t.type = 'table' AND i."unique" AND c.key ORDER BY t.name, i.name, c.seqno`

	// The columns that are referred to may be left out in the declaration; they
	// are then the primary key.
	sqliteReferences = `SELECT t.name, f.id, f."from", f."table", f.seq, COALESCE(f."to", '')
		FROM pragma_table_list AS t JOIN pragma_foreign_key_list(t.name) AS f
		WHERE t.schema = 'main' AND t.type = 'table' ORDER BY t.name, f.id, f.seq`
)

func (d sqliteDialect) describe(ctx context.Context, conn *sql.Conn) (*schema, error) {
	b := newBuilder()
	b.Engine = "sqlite"
	var now int64
	var encoding string
	if err := conn.QueryRowContext(ctx, sqliteAbout).Scan(&b.EngineVersion, &now, &encoding); err != nil {
		return nil, err
	}
	b.Now = time.UnixMilli(now).UTC()
	for _, read := range []func(context.Context, *sql.Conn, *builder) error{
		d.readTables, d.readColumns, d.readCollations, d.readIndexes, d.readReferences, d.findIDs, describeStore,
	} {
		if err := read(ctx, conn, b); err != nil {
			return nil, err
		}
	}
	if encoding != "UTF-8" {
		for _, t := range b.tables {
			for _, c := range t.columns {
				if c.kind == text {
					c.why = "texts in " + encoding + " cannot be compared yet"
				}
			}
		}
	}
	return b.finish(), nil
}

func (d sqliteDialect) readTables(ctx context.Context, conn *sql.Conn, b *builder) error {
	var name, kind string
	return each(ctx, conn, sqliteTables, func() {
		if kind == "table" {
			b.table(name)
		} else {
			b.skip(name, kind+" table: what it holds is kept elsewhere")
		}
	}, &name, &kind)
}

func (d sqliteDialect) readColumns(ctx context.Context, conn *sql.Conn, b *builder) error {
	var table string
	var c column
	var notNull bool
	var primary int
	return each(ctx, conn, sqliteColumns, func() {
		c.Nullable = !notNull
		sqliteKind(&c)
		b.column(table, c)
		// The primary key is here even where it has no index: the rowid.
		if t := b.tables[table]; t != nil && primary > 0 {
			for len(t.primary) < primary {
				t.primary = append(t.primary, "")
			}
			t.primary[primary-1] = c.Name
		}
	}, &table, &c.Name, &c.Type, &notNull, &primary)
}

// sqliteKind says what the values of a column are, by the rules that SQLite has
// for declared types. SQLite does not enforce them; a value of another kind is
// found when it is read.
func sqliteKind(c *column) {
	c.kind, c.why, c.Opaque = other, "", ""
	declared := strings.ToUpper(c.Type)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(declared, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("JSON"):
		c.Opaque = "JSON"
		c.why = "JSON cannot be compared yet"
	case has("INT"):
		c.kind = integer
	case has("CHAR", "CLOB", "TEXT"):
		c.kind = text
	case has("BLOB", "BINARY"):
		c.kind = raw
	case declared == "":
		c.why = "it is declared without a type and may hold anything"
	default:
		c.why = fmt.Sprintf("values of type %s cannot be compared yet", c.Type)
	}
}

// readCollations asks for the collation that a comparison with each text
// column would use. Nothing else tells it for columns without an index.
func (d sqliteDialect) readCollations(ctx context.Context, conn *sql.Conn, b *builder) error {
	for _, t := range b.tables {
		for _, c := range t.columns {
			if c.kind != text {
				continue
			}
			var opcode string
			var p4 sql.NullString
			var skip any
			query := "EXPLAIN SELECT " + d.ref(c) + " = '' FROM " + d.quote(t.name) + " AS r"
			err := each(ctx, conn, query, func() {
				// The operand is the name of the collation and the encoding.
				if name, _, ok := cutLast(p4.String, "-"); ok && opcode == "Eq" {
					c.Collation = name
				}
			}, &skip, &opcode, &skip, &skip, &skip, &p4, &skip, &skip)
			switch {
			case d.unsupported(err):
				c.Collation = "unknown"
			case err != nil:
				return err
			case c.Collation == "":
				return fmt.Errorf("table %q, column %q: SQLite does not tell its collation", t.name, c.Name)
			}
		}
	}
	return nil
}

func (d sqliteDialect) readIndexes(ctx context.Context, conn *sql.Conn, b *builder) error {
	var table, index, origin, name, collation string
	var partial bool
	keyed := make(map[string]bool) // tables whose primary key is an index
	err := each(ctx, conn, sqliteIndexes, func() {
		t := b.tables[table]
		if t == nil {
			return
		}
		unclear := ""
		c := t.byName[name]
		switch {
		case partial:
			unclear = "it covers only some of the rows"
		case c == nil:
			unclear = "it covers an expression"
		case c.kind == text && !strings.EqualFold(c.Collation, collation):
			unclear = fmt.Sprintf("it compares %s under %s, the column under %s", name, collation, c.Collation)
		}
		if origin == "pk" {
			keyed[table] = true
			if unclear == "" {
				return // readColumns has it
			}
		}
		b.index(table, index, origin == "pk", name, unclear)
	}, &table, &index, &origin, &partial, &name, &collation)
	// Where the primary key is the rowid, its column is never NULL, though it
	// is not declared so.
	for _, t := range b.tables {
		if len(t.primary) == 1 && !keyed[t.name] {
			t.byName[t.primary[0]].Nullable = false
		}
	}
	return err
}

func (d sqliteDialect) readReferences(ctx context.Context, conn *sql.Conn, b *builder) error {
	var table, from, toTable, to string
	var id, seq int
	err := each(ctx, conn, sqliteReferences, func() {
		b.reference(table, merge.Reference{Name: fmt.Sprintf("%s_fk%d", table, id), ToTable: toTable}, from, to)
	}, &table, &id, &from, &toTable, &seq, &to)
	if err != nil {
		return err
	}
	// Names are written any way in a declaration.
	for _, t := range b.tables {
		for i := range t.references {
			b.resolve(&t.references[i])
		}
	}
	return nil
}

// resolve gives a reference the names by which the catalogue knows what it
// refers to.
func (b *builder) resolve(r *merge.Reference) {
	for _, to := range b.tables {
		if !strings.EqualFold(to.name, r.ToTable) {
			continue
		}
		r.ToTable = to.name
		for i, name := range r.ToColumns {
			if name == "" && i < len(to.primary) {
				r.ToColumns[i] = to.primary[i]
			}
			for _, c := range to.columns {
				if strings.EqualFold(c.Name, name) {
					r.ToColumns[i] = c.Name
				}
			}
		}
	}
}

// findIDs decides which columns hold IDs. SQLite has no type of 10 bytes, so
// they are the BLOB columns of primary keys and of references, unless there
// are rows and none of the first hundred has a value of that length.
func (d sqliteDialect) findIDs(ctx context.Context, conn *sql.Conn, b *builder) error {
	for _, t := range b.tables {
		candidates := t.primary
		for _, r := range t.references {
			candidates = append(candidates[:len(candidates):len(candidates)], r.Columns...)
		}
		for _, name := range candidates {
			c := t.byName[name]
			if c == nil || c.kind != raw || c.IsID {
				continue
			}
			var ids, others int
			query := fmt.Sprintf(`SELECT COALESCE(SUM(n = %d), 0), COALESCE(SUM(n <> %[1]d), 0)
				FROM (SELECT length(%s) AS n FROM %s AS r WHERE n IS NOT NULL LIMIT 100)`, gameid.Size, d.ref(c), d.quote(t.name))
			if err := conn.QueryRowContext(ctx, query).Scan(&ids, &others); err != nil {
				return err
			}
			c.IsID = ids > 0 || others == 0
		}
		for _, c := range t.columns {
			if c.kind == raw && !c.IsID && !slices.Contains(candidates, c.Name) {
				c.Opaque = "BLOB"
			}
		}
	}
	return nil
}
