package rules

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
)

// KeyTables are the tables of all databases, those whose rows stay behind
// included: what is not copied can be named nevertheless.
func KeyTables(f *Resolved) []string {
	tables := slices.Clone(f.Tables)
	for _, db := range f.DBs {
		for name := range db.Apart {
			tables = append(tables, name)
		}
	}
	slices.Sort(tables)
	// What is the same in every world is named the same before and after.
	return slices.DeleteFunc(slices.Compact(tables), func(table string) bool { return f.Same[table] })
}

// KeyModel is model for any table of keyTables.
func KeyModel(f *Resolved, table string) (*Database, *catalog.Table) {
	if db, t := f.ModelOf(table); t != nil {
		return db, t
	}
	for _, db := range f.DBs {
		if t := db.Apart[table]; t != nil {
			return db, t
		}
	}
	return nil, nil
}

// KeyTable returns a table of the database that is read or set apart.
func (db *Database) KeyTable(table string) *catalog.Table {
	return cmp.Or(db.Tables[table], db.Apart[table])
}

// ForeignKey reports whether a column is one that a foreign key of any database starts
// from, or a reference of several columns that is declared.
func ForeignKey(f *Resolved, table, column string) bool {
	for _, db := range f.DBs {
		t := db.KeyTable(table)
		if t != nil && slices.ContainsFunc(t.References, func(r catalog.Reference) bool { return slices.Contains(r.Columns, column) }) {
			return true
		}
	}
	return slices.ContainsFunc(f.Declared.Composite, func(r *Ref) bool { return r.Table == table && slices.Contains(r.Columns, column) })
}

// Unsaid reports whether neither a statement nor a foreign key says what a column is.
func (f *Resolved) Unsaid(table, column string) bool {
	return f.Declared.Role(table, column).Kind == RoleOpen && !ForeignKey(f, table, column)
}

// Progress is how far a check has come.
type Progress struct {
	Code  string // of the rule that reads
	World string
	Table string
	Rows  int64 // read so far by this rule from this table of this source
	Total int64 // that it reads at most: the rows of the table

	// SourceRows of SourceTotal are done of the rows that all rules have to read in
	// this source. The total is exact, from counted rows, and rises only if a finding
	// makes further reading necessary.
	WorldRows, WorldTotal int64

	// Again, if not empty, says that nothing was read now: the rows of the table are read once more, because what was to
	// be kept of them takes too much memory.
	Again string
}

// Resolved is what the operator wants of some databases, and what these say of themselves:
// the declarations, resolved against the tables that there are.
type Resolved struct {
	Opts      Options
	Declared  *Declared            // of opts
	Same      map[string]bool      // tables that are declared the same in every world
	Combined  map[string]*Combined // tables of which the rows with one key are combined
	Skip      map[string]bool      // tables that stay behind
	Reset     map[string]bool      // of these, the ones that are empty in the new database: the first world's rows stay behind too
	Renumbers map[string]*Renumber // columns that get other values, by table
	Severed   []*SeveredReference
	Keeps     keptKeys      // keys of spaces that are the same in every world
	Names     Names         // of all tables and columns
	Worlds    []WorldColumn // keys that carry the server of their world
	Moving    *Moving       // nil if no keys get new values
	DBs       []*Database   // the worlds, as given
	Tables    []string      // of all databases, sorted
}

// Database is a source together with what it says of itself. Only a reader
// uses the source.
type Database struct {
	Opened  catalog.Source
	Name    string
	Catalog *catalog.Catalog
	Tables  map[string]*catalog.Table // without those that stay behind or cannot be read, which Catalog still has
	Servers []catalog.Server          // in their order
	Listed  map[gameid.ServerID]catalog.Server
	Skipped []catalog.Skipped
	Apart   map[string]*catalog.Table // tables of which rows stay behind
	Rows    map[string]int64          // by table, once all of it was read or counted

	// Histories are the tables of tools for migrations, which are not merged.
	Histories map[string]*catalog.Table
}

// About is how many rows a table has, or an estimate as long as it was not read.
func (db *Database) About(table string) int64 {
	if n, known := db.Rows[table]; known {
		return n
	}
	return db.Catalog.About[table]
}

// Unread says why the database does not read a table that it has, or returns "".
func (db *Database) Unread(table string) string {
	for _, s := range db.Skipped {
		if s.Table == table {
			return "the table is not read: " + s.Reason
		}
	}
	return ""
}

// ColumnsID identifies columns of a table, in their order.
type ColumnsID struct {
	table   string
	Columns string // quoted one by one, so that no two lists are the same
}

func IDOf(table string, columns ...string) ColumnsID {
	return ColumnsID{table, fmt.Sprintf("%q", columns)}
}

// ResolveAll asks the sources for their catalogues and registries, and resolves the
// declarations against them. What it returns knows no numbers of rows yet.
func ResolveAll(ctx context.Context, sources []catalog.Source, opts Options) (*Resolved, error) {
	f := &Resolved{Opts: opts}
	byName := make(map[string]*Database)
	for _, s := range sources {
		db := &Database{Opened: s, Name: s.Name(), Tables: make(map[string]*catalog.Table), Apart: make(map[string]*catalog.Table), Rows: make(map[string]int64)}
		if byName[db.Name] != nil {
			return nil, fmt.Errorf("merge: %w: two are named %q; give each a different name", catalog.ErrWorlds, db.Name)
		}
		byName[db.Name] = db
		f.DBs = append(f.DBs, db)
	}
	for _, db := range f.DBs {
		if err := db.describe(ctx); err != nil {
			return nil, err
		}
	}
	for _, db := range f.DBs {
		// Two engines do not agree on which texts are equal, so the first world
		// cannot compare another engine's rows.
		if db.Catalog.Engine != f.Model().Catalog.Engine {
			return nil, fmt.Errorf("merge: %w: %q is %s and %q is %s: copy one into a database of the other kind and check that",
				catalog.ErrWorlds, f.Model().Name, f.Model().Catalog.Engine, db.Name, db.Catalog.Engine)
		}
	}
	declared := opts // rules know by themselves what is gone
	opts = Missing{namesOf(f.DBs), ReviewedOf(opts)}.Without(opts)
	f.Opts = opts
	if err := resolve(opts, f.DBs); err != nil {
		return nil, err
	}
	var err error
	if f.Declared, err = Declare(declared, namesOf(f.DBs)); err != nil {
		return nil, err
	}
	f.Names = namesOf(f.DBs)
	if err := keepAll(f); err != nil {
		return nil, err
	}
	if err := setPolicies(f); err != nil {
		return nil, err
	}
	setAside(f.DBs)
	f.Tables = TablesOf(f.DBs)
	if f.Severed, err = severs(f); err != nil {
		return nil, err
	}
	if f.Worlds, err = worldColumns(opts, f.Names); err != nil {
		return nil, err
	}
	if f.Moving, err = moves(f); err != nil {
		return nil, err
	}
	for _, check := range []func(*Resolved) error{checkNoNames, checkSettings, checkRenumbers} {
		if err := check(f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// TablesOf returns the tables of all databases, sorted.
func TablesOf(dbs []*Database) []string {
	all := make(map[string]bool)
	for _, db := range dbs {
		for name := range db.Tables {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// describe reads the catalogue and the registry.
func (db *Database) describe(ctx context.Context) error {
	fail := func(doing string, err error) error {
		return &catalog.ReadError{World: db.Name, Doing: doing, Err: err}
	}
	if err := ctx.Err(); err != nil {
		return fail("the catalogue", err)
	}
	var err error
	if db.Catalog, err = db.Opened.Catalog(ctx); err != nil {
		return fail("the catalogue", err)
	}
	for i := range db.Catalog.Tables {
		t := &db.Catalog.Tables[i]
		if db.Tables[t.Name] != nil {
			return fail("the catalogue", fmt.Errorf("it lists table %q twice", t.Name))
		}
		db.Tables[t.Name] = t
	}
	db.Skipped = db.Catalog.Skipped
	if !db.Catalog.HasRegistry {
		return nil
	}
	if db.Servers, err = db.Opened.Servers(ctx); err != nil {
		return fail("the registry", err)
	}
	db.Servers = slices.Clone(db.Servers)
	slices.SortFunc(db.Servers, func(a, b catalog.Server) int { return cmp.Compare(a.Server, b.Server) })
	db.Listed = make(map[gameid.ServerID]catalog.Server)
	for _, s := range db.Servers {
		if err := s.Server.Validate(); err != nil {
			return fail("the registry", err)
		}
		if _, twice := db.Listed[s.Server]; twice {
			return fail("the registry", fmt.Errorf("it lists server %s twice", s.Server))
		}
		if s.Reserved < 0 || s.Reserved > gameid.MaxMillis {
			return fail("the registry", fmt.Errorf("the mark of server %s is %d ms, want 0 to %d", s.Server, s.Reserved, gameid.MaxMillis))
		}
		db.Listed[s.Server] = s
	}
	return nil
}

// Having gives the databases that have a table, with what each says of it.
func (f *Resolved) Having(table string) iter.Seq2[*Database, *catalog.Table] {
	return func(yield func(*Database, *catalog.Table) bool) {
		for _, db := range f.DBs {
			if t := db.Tables[table]; t != nil && !yield(db, t) {
				return
			}
		}
	}
}

// ModelOf returns the definition of a table that the others are compared with:
// that of the first world, or the first there is.
func (f *Resolved) ModelOf(table string) (*Database, *catalog.Table) {
	if t := f.Model().Tables[table]; t != nil {
		return f.Model(), t
	}
	for db, t := range f.Having(table) {
		return db, t
	}
	return nil, nil
}

// Now is what the IDs of a database are compared with; zero if there is no
// clock.
func (f *Resolved) Now(db *Database) time.Time {
	if !f.Opts.Now.IsZero() {
		return f.Opts.Now
	}
	return db.Catalog.Now
}

// Future returns the last millisecond that is not from the future.
func (f *Resolved) Future(db *Database) int64 {
	now := f.Now(db)
	if now.IsZero() {
		return math.MaxInt64
	}
	return now.Add(f.Opts.Slack).UnixMilli() - gameid.EpochMillis
}

// HoldsIDs reports whether any primary key has a column of IDs.
func (db *Database) HoldsIDs() bool {
	for _, t := range db.Tables {
		for _, name := range t.Primary {
			if col := t.Column(name); col != nil && col.IsID {
				return true
			}
		}
	}
	return false
}

// IDColumns returns the columns of a table that hold IDs in any world. In a
// game that shows no other sign of gameid, 10 bytes are only 10 bytes; then
// they are the columns that the operator declares.
func (f *Resolved) IDColumns(table string) (columns []string) {
	uses := slices.ContainsFunc(f.DBs, func(db *Database) bool { return db.Catalog.HasRegistry || db.HoldsIDs() })
	for _, t := range f.Having(table) {
		for i := range t.Columns {
			col := &t.Columns[i]
			declared := slices.ContainsFunc(f.Opts.IDs, func(c IDColumn) bool { return c.Table == table && c.Column == col.Name })
			if col.IsID && (uses || declared) && !slices.Contains(columns, col.Name) {
				columns = append(columns, col.Name)
			}
		}
	}
	return columns
}

// Opaque returns the opaque columns of a table, by name.
func (f *Resolved) Opaque(table string) []string {
	found := make(map[string]bool)
	for _, t := range f.Having(table) {
		for _, col := range t.Columns {
			if col.Opaque != "" {
				found[col.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Counter returns the counter of a table, that of the model or the first there
// is; nil if no world has one.
func (f *Resolved) Counter(table string) *catalog.AutoIncrement {
	_, model := f.ModelOf(table)
	if model.AutoIncrement != nil {
		return model.AutoIncrement
	}
	for _, t := range f.Having(table) {
		if t.AutoIncrement != nil {
			return t.AutoIncrement
		}
	}
	return nil
}

// setAside takes the histories of migrations out of the tables to merge. A table that
// is none in one of the databases is none in all.
func setAside(dbs []*Database) {
	none := make(map[string]bool)
	for _, db := range dbs {
		for name, t := range db.Tables {
			none[name] = none[name] || t.MigrationsOf() == nil
		}
	}
	for _, db := range dbs {
		db.Histories = make(map[string]*catalog.Table)
		for name, t := range db.Tables {
			if !none[name] {
				db.Histories[name] = t
				delete(db.Tables, name)
			}
		}
	}
}

// Model is the first world, which gives the schema and the collations, and keeps its keys and names.
func (f *Resolved) Model() *Database { return f.DBs[0] }

// OthersOf are the worlds whose keys and names may change: all but the first, in their order.
func OthersOf(f *Resolved) []*Database {
	return slices.DeleteFunc(slices.Clone(f.DBs), func(db *Database) bool { return db == f.Model() })
}

// Condition is the condition for the rows that are combined; nil for all of them.
func (c *Combined) Condition() *When {
	if c == nil {
		return nil
	}
	return c.When
}

// Opaque says why a column is opaque in the database, or returns "".
func (db *Database) Opaque(table, column string) string {
	if t := db.Tables[table]; t != nil {
		if col := t.Column(column); col != nil {
			return col.Opaque
		}
	}
	return ""
}

// NameOf is a type without its width.
func NameOf(columnType string) string {
	name, _, _ := strings.Cut(strings.ToLower(columnType), "(")
	return name
}

func Qualified(table string, columns []string) (names []string) {
	return slice.Map(columns, func(c string) string { return Place(table, c) })
}

// Place writes a column as declarations name it.
func Place(table, column string) string {
	quote := func(name string) string {
		if strings.ContainsAny(name, ".*{}`") {
			return catalog.SQLName(name)
		}
		return name
	}
	return quote(table) + "." + quote(column)
}
