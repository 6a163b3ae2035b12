package world

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
)

const (
	sqliteAbout = `SELECT sqlite_version(), CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), encoding FROM pragma_encoding`

	sqliteTables = `SELECT name, type, wr FROM pragma_table_list
		WHERE schema = 'main' AND lower(substr(name, 1, 7)) <> 'sqlite_'`

	// At most as many as there are numbers between the first and the last.
	sqliteRows = `SELECT CAST(COALESCE((SELECT MAX(_rowid_) FROM %[1]s) - (SELECT MIN(_rowid_) FROM %[1]s) + 1, 0) AS INTEGER)`

	sqliteColumns = `SELECT t.name, c.name, c.type, c."notnull", c.pk, c.dflt_value, CASE WHEN c.hidden IN (2, 3) THEN
			(SELECT sql FROM sqlite_schema AS s WHERE s.type = 'table' AND s.name = t.name) END
		FROM pragma_table_list AS t JOIN pragma_table_xinfo(t.name) AS c
		WHERE t.schema = 'main' AND t.type = 'table' ORDER BY t.name, c.cid`

	// A column of an expression has no name.
	sqliteIndexes = `SELECT t.name, i.name, i.origin, i.partial, COALESCE(c.name, ''), c.coll
		FROM pragma_table_list AS t JOIN pragma_index_list(t.name) AS i JOIN pragma_index_xinfo(i.name) AS c
		WHERE t.schema = 'main' AND t.type = 'table' AND i."unique" AND c.key ORDER BY t.name, i.name, c.seqno`

	// The columns that are referred to may be left out in the declaration; they
	// are then the primary key.
	sqliteReferences = `SELECT t.name, f.id, f."from", f."table", f.seq, COALESCE(f."to", ''), f.on_delete, f.on_update
		FROM pragma_table_list AS t JOIN pragma_foreign_key_list(t.name) AS f
		WHERE t.schema = 'main' AND t.type = 'table' ORDER BY t.name, f.id, f.seq`

	// The table is there once there was a table with AUTOINCREMENT. SQLite counts from a text or NULL as from 0.
	sqliteCounters = `SELECT COUNT(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'`
	sqliteCounter  = `SELECT COALESCE(MAX(CAST(seq AS INTEGER)), 0) FROM sqlite_sequence WHERE name = ?`
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
		d.readTables, d.readColumns, d.readCollations, d.readIndexes, d.readReferences, d.readChecks, d.readCounters,
		d.findIDs, describeStore,
	} {
		if err := read(ctx, conn, b); err != nil {
			return nil, err
		}
	}
	if encoding != "UTF-8" {
		for _, t := range b.tables {
			for _, c := range t.columns {
				if c.kind == text || c.kind == anything {
					c.why = "texts in " + encoding + " cannot be compared yet"
				}
			}
		}
	}
	return b.finish(), nil
}

func (d sqliteDialect) readTables(ctx context.Context, conn *sql.Conn, b *builder) error {
	var name, kind string
	var withoutRowid bool
	var numbered []string
	err := each(ctx, conn, sqliteTables, func() {
		switch kind {
		case "table":
			if b.table(name); !withoutRowid {
				numbered = append(numbered, name)
			}
		case "view":
			b.view(name)
		default:
			b.skip(name, kind+" table: its contents are stored elsewhere")
		}
	}, &name, &kind, &withoutRowid)
	for _, name := range numbered {
		var rows int64
		if err == nil {
			err = conn.QueryRowContext(ctx, fmt.Sprintf(sqliteRows, sqldb.SQLite.Quote(name))).Scan(&rows)
		}
		b.About[name] = rows
	}
	return err
}

func (d sqliteDialect) readColumns(ctx context.Context, conn *sql.Conn, b *builder) error {
	var table string
	var c column
	var notNull bool
	var primary int
	var standard, made sql.NullString
	return each(ctx, conn, sqliteColumns, func() {
		c.Nullable = !notNull
		sqliteKind(&c)
		c.Default, c.Generated = nil, ""
		if standard.Valid {
			c.Default = &[]string{standard.String}[0]
		}
		if made.Valid {
			c.Generated = generated(made.String, c.Name)
		}
		b.column(table, c)
		// The primary key is here even where it has no index: the rowid.
		if t := b.tables[table]; t != nil && primary > 0 {
			for len(t.Primary) < primary {
				t.Primary = append(t.Primary, "")
			}
			t.Primary[primary-1] = c.Name
		}
	}, &table, &c.Name, &c.Type, &notNull, &primary, &standard, &made)
}

// sqliteKind says what the values of a column are, by the rules that SQLite has
// for declared types. SQLite does not enforce them; a value of another kind is
// found when it is read.
func sqliteKind(c *column) {
	c.kind, c.why, c.Opaque = other, "", ""
	declared := strings.ToUpper(c.Type)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(declared, p) })
	}
	switch {
	case has("INT"):
		c.kind = integer
	case has("CHAR", "CLOB", "TEXT"):
		c.kind = text
	case has("BLOB", "BINARY"):
		c.kind = raw
	case has("REAL", "FLOA", "DOUB"):
		c.kind = real
	default:
		// Numbers where a value looks like one, or whatever was written.
		c.kind = anything
	}
}

// readCollations asks for the collation that a comparison with each text
// column would use. Nothing else tells it for columns without an index.
func (d sqliteDialect) readCollations(ctx context.Context, conn *sql.Conn, b *builder) error {
	for _, t := range b.tables {
		for _, c := range t.columns {
			if c.kind != text && c.kind != anything {
				continue
			}
			var opcode string
			var p4 sql.NullString
			var skip any
			query := "EXPLAIN SELECT " + d.ref(c) + " = '' FROM " + d.Quote(t.name) + " AS r"
			err := each(ctx, conn, query, func() {
				// The operand is the name of the collation and the encoding.
				if name, _, ok := cutLast(p4.String, "-"); ok && opcode == "Eq" {
					c.Collation = name
				}
			}, &skip, &opcode, &skip, &skip, &skip, &p4, &skip, &skip)
			switch {
			case sqldb.Says(err, sqldb.Incomparable):
				c.Collation = "unknown"
			case err != nil:
				return err
			case c.Collation == "":
				return fmt.Errorf("table %q, column %q: SQLite does not report its collation", t.name, c.Name)
			}
			if c.kind == anything {
				if c.Collation != "BINARY" {
					c.why = fmt.Sprintf("values of type %q under the collation %s cannot be compared", c.Type, c.Collation)
				}
				c.Collation = "" // only what is text for certain has one
			}
		}
	}
	return nil
}

func (d sqliteDialect) readIndexes(ctx context.Context, conn *sql.Conn, b *builder) error {
	var table, index, origin, name, collation string
	var partial bool
	some := make(map[string]bool)  // indexes over some rows; SQLite names no two alike
	keyed := make(map[string]bool) // tables whose primary key is an index
	err := each(ctx, conn, sqliteIndexes, func() {
		t := b.tables[table]
		if t == nil {
			return
		}
		unclear := ""
		c := t.byName[name]
		if partial {
			some[index] = true
		}
		switch {
		case c == nil:
			unclear = "it covers an expression"
		case c.kind == text && !strings.EqualFold(c.Collation, collation):
			unclear = fmt.Sprintf("it compares %s under %s, the column under %s", name, collation, c.Collation)
		case c.kind == anything && !strings.EqualFold(collation, "BINARY"):
			unclear = fmt.Sprintf("it compares %s under %s, which is not supported for values of any type", name, collation)
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
		for i := range t.Uniques {
			if u := &t.Uniques[i]; some[u.Name] && u.Unclear == "" {
				u.Unclear = catalog.SomeRows
			} else if some[u.Name] {
				u.Unclear = catalog.SomeRows + ", and " + u.Unclear
			}
		}
		if len(t.Primary) == 1 && !keyed[t.name] {
			t.byName[t.Primary[0]].Nullable = false
			t.AutoIncrement = &catalog.AutoIncrement{Column: t.Primary[0], Max: math.MaxInt64} // readCounters says how far
		}
	}
	return err
}

// readCounters finds what the next row would get where it does not say: one
// more than the largest there is or, with AUTOINCREMENT, ever was.
func (d sqliteDialect) readCounters(ctx context.Context, conn *sql.Conn, b *builder) error {
	var counters int
	if err := conn.QueryRowContext(ctx, sqliteCounters).Scan(&counters); err != nil {
		return err
	}
	for _, t := range b.tables {
		if t.AutoIncrement == nil {
			continue
		}
		var largest, ever int64
		query := "SELECT COALESCE(MAX(" + d.Quote(t.AutoIncrement.Column) + "), 0) FROM " + d.Quote(t.name)
		if err := conn.QueryRowContext(ctx, query).Scan(&largest); err != nil {
			return err
		}
		if counters > 0 {
			if err := conn.QueryRowContext(ctx, sqliteCounter, t.name).Scan(&ever); err != nil {
				return err
			}
		}
		t.AutoIncrement.Next = uint64(max(largest, ever, 0)) + 1
	}
	return nil
}

func (d sqliteDialect) readReferences(ctx context.Context, conn *sql.Conn, b *builder) error {
	var table, from, toTable, to, onDelete, onUpdate string
	var id, seq int
	err := each(ctx, conn, sqliteReferences, func() {
		b.reference(table, catalog.Reference{
			Name: fmt.Sprintf("%s_fk%d", table, id), ToTable: toTable, OnDelete: actionOf(onDelete), OnUpdate: actionOf(onUpdate),
		}, from, to)
	}, &table, &id, &from, &toTable, &seq, &to, &onDelete, &onUpdate)
	if err != nil {
		return err
	}
	// Names are written any way in a declaration.
	for _, t := range b.tables {
		for i := range t.References {
			b.resolve(&t.References[i])
		}
	}
	return nil
}

// resolve gives a reference the names by which the catalogue knows what it
// refers to.
func (b *builder) resolve(r *catalog.Reference) {
	for _, to := range b.tables {
		if !strings.EqualFold(to.name, r.ToTable) {
			continue
		}
		r.ToTable = to.name
		for i, name := range r.ToColumns {
			if name == "" && i < len(to.Primary) {
				r.ToColumns[i] = to.Primary[i]
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
		candidates := t.Primary
		for _, r := range t.References {
			candidates = append(candidates[:len(candidates):len(candidates)], r.Columns...)
		}
		for _, name := range candidates {
			c := t.byName[name]
			if c == nil || c.kind != raw || c.IsID {
				continue
			}
			var ids, others int
			query := fmt.Sprintf(`SELECT COALESCE(SUM(n = %d), 0), COALESCE(SUM(n <> %[1]d), 0)
				FROM (SELECT length(%s) AS n FROM %s AS r WHERE n IS NOT NULL LIMIT 100)`, gameid.Size, d.ref(c), d.Quote(t.name))
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
