package merge

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"mergesafe/gameid"
)

// resolved is what the operator wants of some databases, and what these say of themselves:
// the declarations, resolved against the tables that there are.
type resolved struct {
	opts      Options
	declared  *declared              // of opts
	same      map[string]bool        // tables that are declared the same in every world
	combined  map[string]*Combined   // tables of which the rows with one key are combined
	skip      map[string]bool        // tables that stay behind
	reset     map[string]bool        // of these, the ones of which the target's rows are taken out too
	rows      map[string]RowsPolicy  // of these tables: what becomes of rows that refer there
	partly    map[string]TablePolicy // tables of which some rows stay behind
	renumbers map[string]*Renumber   // columns that get other values, by table
	severed   []*severed
	keeps     keptKeys      // keys of spaces that are the same in every world
	names     names         // of all tables and columns, before any was excluded
	worlds    []worldColumn // keys that carry the number of their world
	moving    *moving       // nil if no keys get new values
	dbs       []*database   // as given
	target    *database
	tables    []string // of all databases, sorted
}

// database is a source together with what it says of itself. Only a reader
// uses the source.
type database struct {
	source   Source
	name     string
	catalog  *Catalog
	tables   map[string]*Table
	servers  []Server // by number
	listed   map[gameid.ServerID]Server
	skipped  []Skipped
	excluded []string          // tables, by the operator
	behind   map[string]bool   // of these, those that are to stay behind
	apart    map[string]*Table // of these, the ones that could be read
	rows     map[string]int64  // by table, as counted

	// histories are the tables of tools for migrations, which are not merged.
	histories map[string]*Table
}

// unread says why the database does not read a table that it has, or returns "".
func (db *database) unread(table string) string {
	i := slices.IndexFunc(db.skipped, func(s Skipped) bool { return s.Table == table })
	if i < 0 {
		return ""
	}
	return "the table is not read: " + db.skipped[i].Reason
}

// columnsID identifies columns of a table, in their order.
type columnsID struct {
	table   string
	columns string // quoted one by one, so that no two lists are the same
}

func idOf(table string, columns ...string) columnsID {
	return columnsID{table, fmt.Sprintf("%q", columns)}
}

// resolveAll asks the sources for their catalogues and registries, and resolves the
// declarations against them. What it returns knows no numbers of rows yet.
func resolveAll(ctx context.Context, sources []Source, opts Options) (*resolved, error) {
	if len(sources) < 2 {
		return nil, fmt.Errorf("merge: %w: got %d, want at least 2", ErrSources, len(sources))
	}
	f := &resolved{opts: opts}
	byName := make(map[string]*database)
	for _, s := range sources {
		db := &database{source: s, name: s.Name(), tables: make(map[string]*Table), behind: make(map[string]bool), apart: make(map[string]*Table), rows: make(map[string]int64)}
		if byName[db.name] != nil {
			return nil, fmt.Errorf("merge: %w: two are named %q; a report could not tell them apart", ErrSources, db.name)
		}
		byName[db.name] = db
		f.dbs = append(f.dbs, db)
	}
	f.target = f.dbs[0]
	if opts.Target != "" {
		if f.target = byName[opts.Target]; f.target == nil {
			return nil, fmt.Errorf("merge: %w: the target %q is none of them", ErrSources, opts.Target)
		}
	}
	for _, db := range f.dbs {
		if err := db.describe(ctx); err != nil {
			return nil, err
		}
	}
	for _, db := range f.dbs {
		// Two engines do not agree on which texts are equal, so the target
		// cannot compare another engine's rows.
		if db.catalog.Engine != f.target.catalog.Engine {
			return nil, fmt.Errorf("merge: %w: %q is %s and %q is %s: copy one into a database of the other kind and check that",
				ErrSources, f.target.name, f.target.catalog.Engine, db.name, db.catalog.Engine)
		}
	}
	declared := opts // rules know by themselves what is gone
	opts = missing{namesOf(f.dbs), reviewedOf(opts)}.without(opts)
	f.opts = opts
	if err := resolve(opts, f.dbs); err != nil {
		return nil, err
	}
	var err error
	if f.declared, err = declare(declared, namesOf(f.dbs)); err != nil {
		return nil, err
	}
	f.names = namesOf(f.dbs)
	if err := keepAll(f); err != nil {
		return nil, err
	}
	if err := exclude(opts, f.dbs); err != nil {
		return nil, err
	}
	if err := setPolicies(f); err != nil {
		return nil, err
	}
	setAside(f.dbs)
	f.tables = tablesOf(f.dbs)
	if f.severed, err = severs(f); err != nil {
		return nil, err
	}
	if f.worlds, err = worldColumns(opts, f.names); err != nil {
		return nil, err
	}
	if f.moving, err = moves(f); err != nil {
		return nil, err
	}
	if err := checkNoNames(f); err != nil {
		return nil, err
	}
	if err := checkSettings(f); err != nil {
		return nil, err
	}
	if err := checkRenumbers(f); err != nil {
		return nil, err
	}
	return f, nil
}

// pair returns the facts about two of the databases.
func (f *resolved) pair(target, db *database) *resolved {
	pair := *f
	pair.dbs = []*database{target, db}
	pair.target, pair.tables = target, tablesOf(pair.dbs)
	pair.severed, pair.names, pair.moving = nil, nil, nil // of one target only
	return &pair
}

// tablesOf returns the tables of all databases, sorted.
func tablesOf(dbs []*database) []string {
	all := make(map[string]bool)
	for _, db := range dbs {
		for name := range db.tables {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// describe reads the catalogue and the registry.
func (db *database) describe(ctx context.Context) error {
	fail := func(doing string, err error) error {
		return &ReadError{Source: db.name, Doing: doing, Err: err}
	}
	if err := ctx.Err(); err != nil {
		return fail("the catalogue", err)
	}
	var err error
	if db.catalog, err = db.source.Catalog(ctx); err != nil {
		return fail("the catalogue", err)
	}
	for i := range db.catalog.Tables {
		t := &db.catalog.Tables[i]
		if db.tables[t.Name] != nil {
			return fail("the catalogue", fmt.Errorf("it lists table %q twice", t.Name))
		}
		db.tables[t.Name] = t
	}
	db.skipped = db.catalog.Skipped
	if !db.catalog.HasRegistry {
		return nil
	}
	if db.servers, err = db.source.Servers(ctx); err != nil {
		return fail("the registry", err)
	}
	db.servers = slices.Clone(db.servers)
	slices.SortFunc(db.servers, func(a, b Server) int { return cmp.Compare(a.Server, b.Server) })
	db.listed = make(map[gameid.ServerID]Server)
	for _, s := range db.servers {
		if err := s.Server.Validate(); err != nil {
			return fail("the registry", err)
		}
		if _, twice := db.listed[s.Server]; twice {
			return fail("the registry", fmt.Errorf("it lists server %s twice", s.Server))
		}
		if s.Reserved < 0 || s.Reserved > gameid.MaxMillis {
			return fail("the registry", fmt.Errorf("the mark of server %s is %d ms, want 0 to %d", s.Server, s.Reserved, gameid.MaxMillis))
		}
		db.listed[s.Server] = s
	}
	return nil
}

// having gives the databases that have a table, with what each says of it.
func (f *resolved) having(table string) iter.Seq2[*database, *Table] {
	return func(yield func(*database, *Table) bool) {
		for _, db := range f.dbs {
			if t := db.tables[table]; t != nil && !yield(db, t) {
				return
			}
		}
	}
}

// model returns the definition of a table that the others are compared with:
// the target's, or the first there is.
func (f *resolved) model(table string) (*database, *Table) {
	if t := f.target.tables[table]; t != nil {
		return f.target, t
	}
	for db, t := range f.having(table) {
		return db, t
	}
	return nil, nil
}

// wants reports whether a result is to be part of the report. An empty subject
// stands for all of a table's.
func (f *resolved) wants(code, table, subject string) bool {
	if len(f.opts.Only) == 0 {
		return true
	}
	return slices.ContainsFunc(f.opts.Only, func(s Selection) bool { return s.matches(code, table, subject) })
}

// wantsAny is wants for several codes.
func (f *resolved) wantsAny(table, subject string, codes ...string) bool {
	return slices.ContainsFunc(codes, func(code string) bool { return f.wants(code, table, subject) })
}

// wantsTable reports whether any result about a table is wanted.
func (f *resolved) wantsTable(table string) bool {
	return len(f.opts.Only) == 0 || slices.ContainsFunc(f.opts.Only, func(s Selection) bool { return s.Table == "" || s.Table == table })
}

// now is what the IDs of a database are compared with; zero if there is no
// clock.
func (f *resolved) now(db *database) time.Time {
	if !f.opts.Now.IsZero() {
		return f.opts.Now
	}
	return db.catalog.Now
}

// future returns the last millisecond that is not from the future.
func (f *resolved) future(db *database) int64 {
	now := f.now(db)
	if now.IsZero() {
		return math.MaxInt64
	}
	return now.Add(f.opts.Slack).UnixMilli() - gameid.EpochMillis
}

// holdsIDs reports whether any primary key has a column of IDs.
func (db *database) holdsIDs() bool {
	for _, t := range db.tables {
		for _, name := range t.Primary {
			if col := t.column(name); col != nil && col.IsID {
				return true
			}
		}
	}
	return false
}

// idColumns returns the columns of a table that hold IDs in any source. In a
// game that shows no other sign of gameid, 10 bytes are only 10 bytes; then
// they are the columns that the operator declares.
func (f *resolved) idColumns(table string) (columns []string) {
	uses := slices.ContainsFunc(f.dbs, func(db *database) bool { return db.catalog.HasRegistry || db.holdsIDs() })
	for _, t := range f.having(table) {
		for i := range t.Columns {
			col := &t.Columns[i]
			declared := slices.Contains(f.opts.IDs, IDColumn{table, col.Name})
			if col.IsID && (uses || declared) && !slices.Contains(columns, col.Name) {
				columns = append(columns, col.Name)
			}
		}
	}
	return columns
}

// opaque returns the opaque columns of a table, by name.
func (f *resolved) opaque(table string) []string {
	found := make(map[string]bool)
	for _, t := range f.having(table) {
		for _, col := range t.Columns {
			if col.Opaque != "" {
				found[col.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// counter returns the counter of a table, that of the model or the first there
// is; nil if no source has one.
func (f *resolved) counter(table string) *AutoIncrement {
	_, model := f.model(table)
	if model.AutoIncrement != nil {
		return model.AutoIncrement
	}
	for _, t := range f.having(table) {
		if t.AutoIncrement != nil {
			return t.AutoIncrement
		}
	}
	return nil
}
