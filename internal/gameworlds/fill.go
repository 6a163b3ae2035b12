package gameworlds

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
)

// Options says what a world is like. Typical gives them for a usual one.
type Options struct {
	Seed       uint64    // two worlds of one schema differ by it; the same options make the same rows
	Characters int       // rows of the table that has the size "characters"; a table of guilds has a 20th of them
	Items      int       // rows of the table that has the size "items"
	Deleted    float64   // share of the keys that were ever handed out and are gone
	Block      int       // keys were deleted in runs of this length; 0: one by one
	Dangling   float64   // share of the values of references that name a row which is gone; a foreign key never does
	Offset     int64     // added to all keys and all references to them, as if the world had been shifted by hand
	Forget     float64   // share of the columns that name keys without a foreign key to which Offset was not added
	Today      time.Time // players were active up to then
}

// Typical returns the options of a usual world: 2,000 characters, 20,000 items, keys from 1 on, a third
// of them deleted one by one, and two dangling references in a hundred.
func Typical(seed uint64) Options {
	return Options{
		Seed: seed, Characters: 2000, Items: 20_000, Deleted: 1. / 3, Dangling: 0.02,
		Today: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
	}
}

// World is what Fill wrote.
type World struct {
	Rows      map[string]int // by table
	Forgotten []Column       // columns whose keys kept their old numbers; sorted
}

// sessions are the settings in which tables are made, and then filled.
var sessions = map[sqldb.Dialect][2]string{
	sqldb.MySQL: {
		"SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = 0",
		"SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,STRICT_ALL_TABLES', autocommit = 0",
	},
	sqldb.SQLite: {"PRAGMA foreign_keys = 0", "BEGIN"},
}

// Fill makes the schema's tables in an empty database and writes a world into them. s.Refs has the
// true meaning of the columns. It fails if the list and the tables differ.
func (s *Schema) Fill(ctx context.Context, db *sql.DB, dialect sqldb.Dialect, opts Options) (world *World, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	// The session's settings are of no use to others: the connection is not given back.
	defer conn.Raw(func(any) error { return driver.ErrBadConn })
	if _, err := conn.ExecContext(ctx, sessions[dialect][0]); err != nil {
		return nil, err
	}
	if err := s.create(ctx, conn, dialect, false); err != nil {
		return nil, err
	}
	tables, err := readCatalog(ctx, conn, dialect)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(opts, s.Refs, tables)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, sessions[dialect][1]); err != nil {
		return nil, err
	}
	f := &filler{plan: p, conn: conn, dialect: dialect, written: make(map[Column]*population), world: &World{Rows: make(map[string]int)}}
	for _, name := range s.Refs.Tables {
		if err := f.table(ctx, name); err != nil {
			return nil, fmt.Errorf("table %q: %w", name, err)
		}
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		return nil, err
	}
	f.world.Forgotten = slices.SortedFunc(maps.Keys(p.forgotten), compareColumns)
	return f.world, s.create(ctx, conn, dialect, true)
}

// filler writes the rows of a world.
type filler struct {
	*plan
	conn    *sql.Conn
	dialect sqldb.Dialect
	written map[Column]*population // the numbers in columns that are referred to without being keys
	world   *World
}

// field makes the values of one column.
type field struct {
	column *column
	next   func(row []any) any // the row has the values of the fields before
}

// tries is how often a row that is there already is drawn anew.
const tries = 300

var errFull = errors.New("no further row fits into its unique indexes")

// table writes a table, and before it the tables that it needs.
func (f *filler) table(ctx context.Context, name string) error {
	if _, done := f.world.Rows[name]; done {
		return nil
	}
	f.world.Rows[name] = 0
	t := f.tables[name]
	for _, c := range t.columns {
		for _, m := range f.refs.Columns[c.Column] {
			if m.Kind == Reference && f.keys[m.To[0]] == nil && f.meaning(m.To[0], Natural) == nil {
				if err := f.table(ctx, m.To[0].Table); err != nil {
					return err
				}
			}
		}
	}
	seed := f.opts.Seed
	switch {
	case !f.ofTheWorld(t):
		if seed = 0; !t.empty { // the schema has the game's data
			return nil
		}
	case !f.hasKinds(t) && !t.empty:
		return nil
	case !t.empty:
		if _, err := f.conn.ExecContext(ctx, "DELETE FROM "+f.dialect.Quote(name)); err != nil {
			return err
		}
	}
	rng := random(seed, "rows", name)
	fields, err := f.fields(rng, t)
	if err != nil {
		return err
	}
	return f.rowsInto(ctx, t, fields)
}

// rowsInto draws the rows of a table and writes them.
func (f *filler) rowsInto(ctx context.Context, t *table, fields []*field) error {
	var kept []*field // columns that others refer to
	for _, field := range fields {
		if f.isTarget(field.column.Column) {
			kept = append(kept, field)
		}
	}
	numbers := make(map[Column]map[int64]bool)
	taken := make([]map[string]bool, len(t.unique))
	for i := range taken {
		taken[i] = make(map[string]bool)
	}
	in := f.inserts(t.name, slice.Map(fields, func(of *field) string { return of.column.Name }))
	row := make([]any, len(t.columns))
	for range f.rowsOf(t.name) {
		if err := f.draw(t, fields, row, taken); errors.Is(err, errFull) {
			if f.hasKey(t) {
				return err // a key that others name must have its row
			}
			break
		}
		for _, field := range kept {
			c := field.column.Column
			if v, ok := row[field.column.place].(int64); ok {
				if numbers[c] == nil {
					numbers[c] = make(map[int64]bool)
				}
				numbers[c][v-f.shift(c)] = true
			}
		}
		for _, field := range fields {
			in.values = append(in.values, row[field.column.place])
		}
		if err := in.flush(ctx, fullStatement); err != nil {
			return err
		}
		f.world.Rows[t.name]++
	}
	for c, all := range numbers {
		f.written[c] = populationOf(random(f.opts.Seed, "written", c.String()), slices.Sorted(maps.Keys(all)), nil)
	}
	return in.flush(ctx, 1)
}

// inserter writes the rows of a table, many in a statement.
type inserter struct {
	conn      *sql.Conn
	into, row string
	columns   int
	values    []any
}

// fullStatement is how many values a statement has at least; SQLite takes 32,766 at most.
const fullStatement = 10_000

func (f *filler) inserts(table string, columns []string) *inserter {
	return &inserter{
		conn: f.conn, columns: len(columns), row: ",(" + strings.Repeat(",?", len(columns))[1:] + ")",
		into: "INSERT INTO " + f.dialect.Quote(table) + " (" + f.dialect.QuoteAll(columns) + ") VALUES ",
	}
}

// flush writes the rows that were added, if they have that many values.
func (in *inserter) flush(ctx context.Context, least int) error {
	if len(in.values) < least {
		return nil
	}
	_, err := in.conn.ExecContext(ctx, in.into+strings.Repeat(in.row, len(in.values)/in.columns)[1:], in.values...)
	in.values = in.values[:0]
	return err
}

// draw makes a row that fits into the unique indexes. The columns of a key or of numbers in order keep their values.
func (f *filler) draw(t *table, fields []*field, row []any, taken []map[string]bool) error {
	clear(row)
	for try := range tries {
		for _, field := range fields {
			if try == 0 || !f.counts(t, field.column) {
				row[field.column.place] = field.next(row)
			}
		}
		tuples := make([]string, len(t.unique))
		fits := true
		for i, index := range t.unique {
			tuples[i] = tuple(row, index)
			fits = fits && (tuples[i] == "" || !taken[i][tuples[i]])
		}
		if !fits {
			continue
		}
		for i, tuple := range tuples {
			taken[i][tuple] = true
		}
		return nil
	}
	return errFull
}

// tuple returns the values of a unique index as one text, "" if one is NULL: then the index takes the row in any case.
func tuple(row []any, index []int) string {
	var b strings.Builder
	for _, i := range index {
		if row[i] == nil {
			return ""
		}
		fmt.Fprintf(&b, "%q", strings.ToLower(strings.TrimRight(fmt.Sprint(row[i]), " ")))
	}
	return b.String()
}

func (f *filler) hasKey(t *table) bool {
	return slices.ContainsFunc(t.columns, func(c *column) bool { return f.meaning(c.Column, Key) != nil })
}

// counts reports whether a column takes its numbers in order, each once: a key, or the game's data with a row for each.
func (f *filler) counts(t *table, c *column) bool {
	return f.meaning(c.Column, Key) != nil || f.meaning(c.Column, Natural) != nil && slices.Contains(t.single(), c)
}

func (f *filler) isTarget(c Column) bool {
	if f.keys[c] != nil || f.meaning(c, Natural) != nil {
		return false
	}
	for _, meanings := range f.refs.Columns {
		for _, m := range meanings {
			if m.Kind == Reference && m.To[0] == c {
				return true
			}
		}
	}
	return false
}

// fields returns what makes the values of a table's columns, those first on which others depend.
func (f *filler) fields(rng *rand.Rand, t *table) (fields []*field, err error) {
	cases := make(map[string][]string) // of a column that others depend on, its values
	for _, c := range t.columns {
		for _, m := range f.refs.Columns[c.Column] {
			if m.When != nil {
				on, err := t.column(m.When.Column)
				if err != nil {
					return nil, err
				}
				for _, v := range m.When.Is {
					if !slices.Contains(cases[on.Name], v) {
						cases[on.Name] = append(cases[on.Name], v)
					}
				}
			}
		}
	}
	for _, c := range t.columns {
		if values := cases[c.Name]; values != nil && !c.generated {
			fields = append(fields, &field{c, discriminator(rng, c, values)})
		}
	}
	for _, c := range t.columns {
		if c.generated || cases[c.Name] != nil {
			continue
		}
		next, err := f.next(rng, t, c)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", c.Name, err)
		}
		fields = append(fields, &field{c, next})
	}
	return fields, nil
}

// own returns the key of the table itself if a cell names it: that of its own row. The key
// stands before the cell. Nil if it names others.
func (f *filler) own(t *table, c *column, m Meaning) *column {
	if m.Kind != Cell || m.As == nil || m.To[0].Table != t.name {
		return nil
	}
	key, err := t.column(m.To[0].Name)
	if err != nil || key.place > c.place {
		return nil
	}
	return key
}

// discriminator makes the values on which the meaning of others depends: mostly the first.
func discriminator(rng *rand.Rand, c *column, values []string) func([]any) any {
	return func([]any) any {
		v := values[0]
		if rng.Float64() < 0.5 {
			v = values[rng.IntN(len(values))]
		}
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && !c.text() {
			return n
		}
		return v
	}
}

// next returns what makes the values of a column.
func (f *filler) next(rng *rand.Rand, t *table, c *column) (func([]any) any, error) {
	meanings := f.refs.Columns[c.Column]
	if len(meanings) == 0 {
		meanings = []Meaning{{Kind: Plain}}
	}
	type source struct {
		when *When
		on   int
		next func(row []any) any
	}
	var sources []source
	for _, m := range meanings {
		next, err := f.source(rng, t, c, m)
		if err != nil {
			return nil, err
		}
		with := withNone(rng, c, m, next)
		s := source{when: m.When, next: func([]any) any { return with() }}
		if own := f.own(t, c, m); own != nil {
			s.next = func(row []any) any { return m.As.write(rng, func() int64 { return row[own.place].(int64) }) }
		}
		if m.When != nil {
			on, err := t.column(m.When.Column)
			if err != nil {
				return nil, err
			}
			s.on = on.place
		}
		sources = append(sources, s)
	}
	return func(row []any) any {
		var fit []source
		for _, s := range sources {
			if s.when == nil || slices.Contains(s.when.Is, fmt.Sprint(row[s.on])) {
				fit = append(fit, s)
			}
		}
		switch len(fit) {
		case 0:
			return nothing(c)
		case 1:
			return fit[0].next(row)
		default:
			return fit[rng.IntN(len(fit))].next(row)
		}
	}, nil
}

// nothing is a column's value where it has none.
func nothing(c *column) any {
	switch {
	case c.nullable:
		return nil
	case c.text():
		return ""
	default:
		return int64(0)
	}
}

// withNone returns next with a share of the values that name nothing, NULL among them where the column takes it.
func withNone(rng *rand.Rand, c *column, m Meaning, next func() any) func() any {
	var none []func() any
	limits, integer := c.limits()
	for _, r := range m.None {
		if !integer || r.Max < limits.Min || r.Min > limits.Max {
			continue
		}
		none = append(none, func() any {
			switch {
			case r.Max == math.MaxInt64 && limits.Max == math.MaxInt64:
				return max(r.Min, 0x1F10<<48|rng.Int64N(100_000))
			case r.Max == math.MaxInt64:
				return min(r.Min+rng.Int64N(100_000), limits.Max)
			case r.Min == math.MinInt64:
				return min(r.Max, limits.Max) - rng.Int64N(10)
			}
			return r.Min
		})
	}
	if c.nullable && m.When == nil {
		none = append(none, func() any { return nil })
	}
	if len(none) == 0 {
		return next
	}
	share := pick([]float64{0.1, 0.3, 0.6, 0.9}, "none", c.String())
	return func() any {
		if rng.Float64() < share {
			return none[rng.IntN(len(none))]()
		}
		return next()
	}
}

// source returns what makes the values of a column in the rows where it has a meaning.
func (f *filler) source(rng *rand.Rand, t *table, c *column, m Meaning) (func() any, error) {
	inIndex := slices.ContainsFunc(t.unique, func(index []int) bool { return slices.Contains(index, c.place) })
	shift := f.shift(c.Column)
	number := func(v int64) any {
		if c.text() {
			return strconv.FormatInt(v, 10)
		}
		return v
	}
	switch m.Kind {
	case Key:
		return inOrder(f.keys[c.Column].alive, shift, number), nil
	case Natural:
		numbers := naturals(c)
		if f.counts(t, c) {
			return inOrder(numbers, 0, number), nil
		}
		return func() any { return number(numbers[rng.IntN(len(numbers))]) }, nil
	case Account:
		named := f.accounts.named(rng, inIndex)
		return func() any { return number(named()) }, nil
	case Thing:
		things := f.things[strings.ToLower(c.Name)].named(rng, inIndex)
		return func() any { return number(things() + shift) }, nil
	case Name:
		return chosenName(rng, c), nil
	case Reference:
		return f.reference(rng, t, c, m, inIndex, number)
	case Cell:
		if len(m.To) == 0 {
			named := f.accounts.named(rng, false)
			return func() any { return cell(rng, c, named()) }, nil
		}
		to, err := f.populationOf(rng, m.To[0], f.written)
		if err != nil {
			return nil, err
		}
		named, other := to.named(rng, false), f.plain(rng, c, false)
		if m.As != nil {
			dead := f.opts.Dangling
			return func() any {
				return m.As.write(rng, func() int64 {
					switch share := rng.Float64(); {
					case share < dead:
						return to.dead[rng.IntN(len(to.dead))] + shift
					case len(m.None) > 0 && c.text() && share > 0.9:
						return m.None[0].Min
					}
					return named() + shift
				})
			}, nil
		}
		return func() any {
			if c.text() && rng.Float64() < 0.4 {
				return other()
			}
			return cell(rng, c, named()+shift)
		}, nil
	}
	if m.As != nil {
		return func() any { return m.As.write(rng, nil) }, nil
	}
	return f.plain(rng, c, inIndex), nil
}

// reference returns what makes the values of a reference.
func (f *filler) reference(rng *rand.Rand, t *table, c *column, m Meaning, evenly bool, number func(int64) any) (func() any, error) {
	to, err := f.populationOf(rng, m.To[0], f.written)
	if err != nil {
		return nil, err
	}
	if len(to.alive) == 0 {
		return nil, fmt.Errorf("%s, which it refers to, has no rows", m.To[0])
	}
	named, shift, dangling := to.named(rng, evenly), f.shift(c.Column), f.opts.Dangling
	if slices.Contains(t.single(), c) {
		named = to.each(rng)
	}
	switch {
	case f.meaning(m.To[0], Natural) != nil:
		shift, dangling = 0, 0
	case t.declared[c.Name]:
		dangling = 0
	}
	return func() any {
		if rng.Float64() < dangling {
			return number(to.dead[rng.IntN(len(to.dead))] + shift)
		}
		return number(named() + shift)
	}, nil
}

// inOrder returns numbers one after the other.
func inOrder(numbers []int64, shift int64, number func(int64) any) func() any {
	i := -1
	return func() any {
		i++
		return number(numbers[i%len(numbers)] + shift)
	}
}
