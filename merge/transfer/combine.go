package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
)

// A table of the policy combine has one row for a key after the merge, whatever worlds had one.
// The first source of the plan that has a row with a key brings those of all: it is read, the
// rows of the other sources and of the target with its key are looked up, and what becomes of
// them is inserted, or written over the target's row. So a row of the target is written once,
// and it does not matter which source is interrupted.
//
// A row of the target that is written over is kept in a table of the merge's own until an undo
// puts it back; see [sqldb.KeptPrefix]. The rows of a batch, what is kept of the target's, and
// the checkpoint are one transaction. Sources are combined one after the other.

// Combine says how rows with the same key become one row of the target. Rows with a key of
// their own are copied.
type Combine struct {
	Columns []merge.CombinedColumn `json:"columns"` // that have a formula; the others are the same in all rows of a key
	When    *merge.When            `json:"when,omitempty"`

	// Matched says that rows of the same thing are matched, without a policy: they stay
	// as the first database has them; see [merge.Space.Match].
	Matched bool `json:"matched,omitempty"`

	Keys     int64 `json:"keys"`     // that have rows in several databases
	Combined int64 `json:"combined"` // rows of the sources that become part of another row
	Copied   int64 `json:"copied"`   // rows of the sources that are copied, or combined with others of sources
	Changed  int64 `json:"changed"`  // rows of the target that are written over

	// Was is the sum over these rows of the target before the merge, Result over their results,
	// and After over all rows of the table after the merge.
	Was    Sum `json:"was"`
	Result Sum `json:"result"`
	After  Sum `json:"after"`

	// Sums are those of the columns that are added up, over all rows of the table.
	Sums []CombinedSum `json:"sums,omitempty"`

	Kept string `json:"kept"` // the table that keeps the target's old rows
}

// CombinedSum is the sum of a column in all databases. The sum in the target after the merge
// is that of all databases before.
type CombinedSum struct {
	Column  string   `json:"column"`
	Target  string   `json:"target"`
	Sources []string `json:"sources"` // in their order
	After   string   `json:"after"`
}

// nameCombines names the tables that keep rows.
func (p *Plan) nameCombines() {
	n := len(p.Resets)
	for i := range p.Tables {
		if c := p.Tables[i].Combine; c != nil {
			n++
			c.Kept = fmt.Sprintf("%s%.8s_%d", sqldb.KeptPrefix, p.ID, n)
		}
	}
}

// withoutKept are the tables of a plan without the names that follow from its ID.
func withoutKept(tables []Table) []Table {
	tables = slices.Clone(tables)
	for i := range tables {
		if c := tables[i].Combine; c != nil {
			unnamed := *c
			unnamed.Kept = ""
			tables[i].Combine = &unnamed
		}
	}
	return tables
}

// validateCombines makes sure that the plan says of combined tables what it can.
func (p *Plan) validateCombines() error {
	named := *p
	named.Tables = withoutKept(p.Tables)
	named.nameCombines()
	for i := range p.Tables {
		t := &p.Tables[i]
		if t.Combine == nil {
			continue
		}
		unknown := func(column string) bool { return !slices.Contains(t.Columns, column) }
		if len(t.Key) == 0 || t.Combine.Kept != named.Tables[i].Combine.Kept || t.Combine.When != nil && unknown(t.Combine.When.Column) ||
			slices.ContainsFunc(t.Combine.Columns, func(c merge.CombinedColumn) bool {
				return unknown(c.Column) || !c.Formula.Known() || slices.Contains(t.Key, c.Column)
			}) {
			return fmt.Errorf("transfer: the plan contradicts itself in combining the rows of table %q", t.Name)
		}
	}
	return nil
}

// combines returns the numbers of the tables that are combined.
func (p *Plan) combines() (tables []int) {
	for i := range p.Tables {
		if p.Tables[i].Combine != nil {
			tables = append(tables, i)
		}
	}
	return tables
}

// writesOver reports whether own rows of the target are changed.
func (t *Table) writesOver() bool { return t.renamesOwn() || t.Combine != nil }

// notCombined are the parts of tables that are copied row by row.
func (p *Plan) notCombined(parts []part) []part {
	return slices.DeleteFunc(parts, func(of part) bool { return p.Tables[of.table].Combine != nil })
}

// combiner finds the rows of one table that are to be combined, in all databases.
type combiner struct {
	plan     *Plan
	of       *Combine
	changes  *changes
	sources  []*connection
	l        *layout
	formulas []merge.Formula // by column of the layout
	when     int             // the column of the condition, or -1
}

func newCombiner(p *Plan, t *Table, changes *changes, sources []*connection, l *layout) *combiner {
	c := &combiner{plan: p, of: t.Combine, changes: changes, sources: sources, l: l, when: -1}
	combined := merge.Combined{Columns: t.Combine.Columns}
	for _, name := range l.columns {
		c.formulas = append(c.formulas, combined.Formula(name))
	}
	if t.Combine.When != nil {
		c.when = slices.Index(l.columns, t.Combine.When.Column)
	}
	return c
}

func (r *run) combiner(table int) *combiner {
	t := &r.plan.Tables[table]
	return newCombiner(r.plan, t, r.changes, r.sources, r.layouts[t.Name])
}

// groups returns the rows that come with those of a source, and that no earlier source brings.
// own finds the rows of the target with their keys. It changes the rows on their way.
func (c *combiner) groups(ctx context.Context, source int, rows [][]any, own func(ctx context.Context, rows [][]any) ([][]any, error)) ([]*group, error) {
	if err := c.changes.of(c.sources[source].Name, c.l).rows(rows); err != nil {
		return nil, err
	}
	for i := range source {
		there, err := c.ofSource(ctx, i, rows)
		if err != nil {
			return nil, err
		}
		var rest [][]any
		for k, row := range rows {
			if there[k] == nil {
				rest = append(rest, row)
			}
		}
		rows = rest
	}
	owns, err := own(ctx, rows)
	if err != nil {
		return nil, err
	}
	all := make([]*group, len(rows))
	for k, row := range rows {
		all[k] = &group{own: owns[k], came: [][]any{row}}
	}
	for i := source + 1; i < len(c.sources); i++ {
		there, err := c.ofSource(ctx, i, rows)
		if err != nil {
			return nil, err
		}
		for k := range rows {
			if there[k] != nil {
				all[k].came = append(all[k].came, there[k])
			}
		}
	}
	return all, nil
}

// ofSource returns the rows of a source that come with the keys of these, as they come; nil
// for one that it does not have.
func (c *combiner) ofSource(ctx context.Context, source int, rows [][]any) ([][]any, error) {
	src, there := c.sources[source], make([][]any, len(rows))
	keys := make([][]any, len(rows))
	for i, row := range rows {
		keys[i] = c.l.keyOf(row)
	}
	olds, at, err := c.changes.before(c.plan, source, c.l.keysOnly(), keys)
	if err != nil || len(olds) == 0 {
		return there, err
	}
	wanted := make([][]any, len(olds))
	for i, old := range olds {
		wanted[i] = make([]any, len(c.l.columns))
		for k, column := range c.l.key {
			wanted[i][column] = old[k]
		}
	}
	query := func(n int) string {
		return c.l.selectFrom() + where("("+c.l.equal(n)+")", src.comes(c.l.table))
	}
	found, err := lookUp(ctx, src, c.l, query, wanted)
	if err != nil {
		return nil, err
	}
	change := c.changes.of(src.Name, c.l)
	for i, row := range found {
		if row == nil {
			continue
		}
		if _, err := change.row(row); err != nil {
			return nil, err
		}
		if slices.EqualFunc(c.l.keyOf(row), keys[at[i]], same) {
			there[at[i]] = row
		}
	}
	return there, nil
}

// lookUp returns the rows with the keys of these; nil for one that is not there. query is for
// so many keys. A row of which the database says that it has such a key, and that writes it in
// another way, is an error: to which of two it would belong is not to be guessed.
func lookUp(ctx context.Context, on *connection, l *layout, query func(n int) string, rows [][]any) ([][]any, error) {
	found, most := make([][]any, len(rows)), l.dialect.most(len(l.key))
	for begin := 0; begin < len(rows); begin += most {
		some := rows[begin:min(begin+most, len(rows))]
		places, err := l.places(some)
		if err != nil {
			return nil, err
		}
		err = on.rows(ctx, query(len(some)), len(some) == most, l.boundOf(some), func(row []any) (bool, error) {
			row = slices.Clone(row)
			l.tidy(row)
			i, ok, err := places.of(row)
			if err == nil && !ok {
				err = &combineError{"", fmt.Sprintf("the key of row %s of %q is written differently in another database, although the two compare as equal: write both in the same way", l.keyText(row), on.Name)}
			}
			if err == nil {
				found[begin+i] = row
			}
			return true, err
		})
		if err != nil {
			return nil, fmt.Errorf("reading table %q of %q: %w", l.table, on.Name, err)
		}
	}
	return found, nil
}

// combineTables brings the rows of the tables that are combined.
func (r *run) combineTables(ctx context.Context) error {
	for _, table := range r.plan.combines() {
		t := &r.plan.Tables[table]
		err := r.retry(ctx, fmt.Sprintf("making the table for the old rows of table %q", t.Name), func(soft context.Context) error {
			return r.during(soft, StateCopying, func() error {
				_, err := r.target.exec(soft, "create", r.createKept(t.Name, t.Combine.Kept), false)
				return err
			})
		})
		if err != nil {
			return err
		}
		for source := range r.plan.Sources {
			if err := r.combineSource(ctx, table, source); err != nil {
				return err
			}
		}
	}
	return nil
}

// combineSource brings the rows of one source, and with them those of others that have their
// keys.
func (r *run) combineSource(ctx context.Context, table, source int) error {
	t, src, c := &r.plan.Tables[table], r.sources[source], r.combiner(table)
	return r.retryCounted(ctx, fmt.Sprintf("combining table %q of %q", t.Name, src.Name), func(soft context.Context) error {
		before, err := r.checkpointOf(soft, StepCopy, part{table: table, source: source})
		if err != nil {
			return err
		}
		r.resumed(StepCopy, src.Name, t.Name, before.rows)
		if before.finished {
			return nil
		}
		want := expected{rows: t.Sources[source].Rows, sum: t.Sources[source].Sum}
		err = r.batches(ctx, soft, src, c.l, before, want, func(rows [][]any) (int64, error) {
			n := int64(len(rows))
			return n, r.combineRows(soft, c, source, rows)
		})
		if why, is := errors.AsType[*combineError](err); is { // the plan was told something else
			err = &ChangedError{Database: r.target.Name, Table: t.Name, Reason: fmt.Sprintf("table %q: %v", t.Name, why)}
		}
		return err
	})
}

// combineRows writes what becomes of some rows of a source.
func (r *run) combineRows(ctx context.Context, c *combiner, source int, rows [][]any) error {
	groups, err := c.groups(ctx, source, rows, func(ctx context.Context, rows [][]any) ([][]any, error) {
		return lookUp(ctx, r.target, c.l, func(n int) string { return c.l.lock("("+c.l.equal(n)+")", "") }, rows)
	})
	if err != nil {
		return err
	}
	var fresh, changed [][]any
	for _, g := range groups {
		row, err := c.result(g)
		if err != nil {
			return fmt.Errorf("row %s: %w", c.l.keyText(g.came[0]), err)
		}
		if g.own == nil {
			fresh = append(fresh, row)
		} else {
			changed = append(changed, row)
		}
	}
	if err := r.keep(ctx, c, changed); err != nil {
		return err
	}
	query, args := c.writeOver()
	for _, row := range changed {
		if query == "" {
			break
		}
		if _, err := r.target.exec(ctx, "combine", query, true, append(args(row), c.l.bound(c.l.keyOf(row))...)...); err != nil {
			return fmt.Errorf("row %s: %w", c.l.keyText(row), err)
		}
	}
	return r.insert(ctx, c.l, fresh)
}

// keep notes the rows of the target with the keys of these as they are.
func (r *run) keep(ctx context.Context, c *combiner, rows [][]any) error {
	kept := c.l.of(c.of.Kept)
	for some := range slices.Chunk(rows, c.l.dialect.most(len(c.l.key))) {
		query := kept.insertFrom("INSERT", c.l.table) + " WHERE " + c.l.equal(len(some))
		n, err := r.target.exec(ctx, "keep", query, false, c.l.boundOf(some)...)
		if err == nil && n != int64(len(some)) {
			err = fmt.Errorf("table %q: %d rows were to be kept, and there were %d: another process writes to it", c.l.table, len(some), n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeOver is the statement that gives a row of the target its new values, and what its
// arguments are before the key; "" if no row changes. A column that stays is named, too: else
// the database would set some by itself (ON UPDATE).
func (c *combiner) writeOver() (query string, args func(row []any) []any) {
	var set []string
	var columns []int
	for i, name := range c.l.columns {
		quoted := c.l.dialect.Quote(name)
		switch op := c.formulas[i].Op; {
		case slices.Contains(c.l.key, i):
		case op == merge.FormulaSame || op == merge.FormulaTarget:
			set = append(set, quoted+" = "+quoted)
		default:
			set, columns = append(set, quoted+" = ?"), append(columns, i)
		}
	}
	if len(columns) == 0 {
		return "", nil
	}
	return "UPDATE " + c.l.dialect.Quote(c.l.table) + " SET " + strings.Join(set, ", ") + " WHERE " + c.l.equal(1), func(row []any) []any {
		values := make([]any, 0, len(columns)+len(c.l.key))
		for _, i := range columns {
			values = append(values, row[i])
		}
		return values
	}
}

// writes reports whether rows of the target are changed, and not only kept to be compared.
func (c *combiner) writes() bool {
	query, _ := c.writeOver()
	return query != ""
}

// checkKept makes sure that the rows of the target that were combined were those of the plan.
func (r *run) checkKept(ctx context.Context) error {
	for _, table := range r.plan.combines() {
		t := &r.plan.Tables[table]
		kept, err := r.kept(ctx, t)
		if err != nil {
			return err
		}
		if kept.Rows != t.Combine.Changed || kept.Sum != t.Combine.Was {
			return &ChangedError{Database: r.target.Name, Table: t.Name, Rows: kept.Rows, Want: t.Combine.Changed,
				Reason: fmt.Sprintf("%s of table %q %s combined with others that came, want %d as planned", countRows(kept.Rows), t.Name, map[bool]string{true: "was", false: "were"}[kept.Rows == 1], t.Combine.Changed)}
		}
	}
	return nil
}

// kept sums up the rows that are kept of a table.
func (r *run) kept(ctx context.Context, t *Table) (Content, error) {
	return contents(ctx, r.target, r.layouts[t.Name].of(t.Combine.Kept), all, nil, nil, func(int) error { return r.between(ctx) })
}

// planned reports whether a table of the target has as many rows as it should when so many rows
// of the sources were dealt with, and how many that are, at most.
func (t *Table) planned(rows, done int64) (ok bool, want int64) {
	if t.Combine == nil {
		return rows == t.Target.Rows+done, t.Target.Rows + done
	}
	want = t.Target.Rows + t.Combine.Copied
	if done == t.Rows() {
		return rows == want, want
	}
	return t.Target.Rows <= rows && rows <= want, want
}

// keptBefore refuses a target that has a table where one is to be made.
func (f *flight) keptBefore(ctx context.Context) error {
	there, err := f.manifest.tables(ctx)
	for _, table := range f.plan.combines() {
		if t := &f.plan.Tables[table]; !f.begun && slices.Contains(there, t.Combine.Kept) {
			f.refuse(f.target.Name, t.Name, "there is a table %q already, and the merge needs that name to keep rows: drop it if no merge needs it, or rename it", t.Combine.Kept)
		}
	}
	return err
}
