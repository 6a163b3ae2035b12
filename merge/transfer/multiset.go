package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
)

// A table without a key is a multiset: equal rows cannot be told apart, and need not
// be. Its rows come in no order in which a copy could be resumed, so those of one
// source are copied in one transaction, and removed in one. Sums prove it, as they do
// for every table.

// DefaultMaxKeyless is the default of [PlanOptions.MaxKeyless].
const DefaultMaxKeyless = 100_000

// multiset reports whether the table has no key.
func (l *layout) multiset() bool { return len(l.key) == 0 }

// identity is an expression that is the same for two rows exactly if all values are.
func (d dialect) identity(t *merge.Table) string {
	var parts []string
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Generated == "" {
			parts = append(parts, d.identityOf(c))
		}
	}
	if d.mysql() {
		// Of the hashes of values, since CONCAT returns NULL for what is too long.
		return "SHA2(CONCAT(" + strings.Join(parts, ", ',', ") + "), 256)"
	}
	// In groups: SQLite has tables of 2000 columns, and expressions of 1000 levels.
	var groups []string
	for some := range slices.Chunk(parts, 40) {
		groups = append(groups, "("+strings.Join(some, " || ',' || ")+")")
	}
	return strings.Join(groups, " || ',' || ")
}

func (d dialect) identityOf(c *merge.Column) string {
	name, declared := d.Quote(c.Name), strings.ToLower(c.Type)
	if !d.mysql() {
		// quote writes both zeros alike.
		negative := "typeof(" + name + ") = 'real' AND " + name + " = 0 AND atan2(" + name + ", -1) < 0"
		return "quote(" + name + ") || CASE WHEN " + negative + " THEN '-' ELSE '' END"
	}
	switch {
	case strings.HasPrefix(declared, "float"), strings.HasPrefix(declared, "double"):
		name = "CAST(" + name + " * 1e0 AS CHAR)" // alone, a FLOAT is printed in 6 digits; + 0e0 makes -0 0
	case strings.HasPrefix(declared, "bit"):
		name = "CAST(" + name + " + 0 AS CHAR)"
	case c.Collation != "" || c.Kind == merge.KindBytes:
	case c.Kind == merge.KindOther && declared != "json" && !strings.HasPrefix(declared, "set") && !strings.HasPrefix(declared, "inet") && declared != "uuid":
		// Shapes and vectors are bytes.
	default:
		name = "CAST(" + name + " AS CHAR)"
	}
	return "COALESCE(SHA2(" + name + ", 256), 'NULL')"
}

// multiset decides whether a table without a key can be copied, and refuses it if
// not.
func (p *planner) multiset(t *merge.Table) {
	refuse := func(s *source, format string, args ...any) {
		r := Refusal{Table: t.Name, Reason: fmt.Sprintf(format, args...)}
		if s != nil {
			r.Source = s.Name()
		}
		p.refuse(r)
	}
	most := p.opts.MaxKeyless
	if most == 0 {
		most = DefaultMaxKeyless
	}
	const otherwise = "give it a key of columns that differ between the worlds (a new column that counts from 1 in each would collide at once), exclude it"
	for _, s := range p.dbs[1:] {
		if n := p.rows[s.Name()][t.Name]; n > max(most, 0) {
			refuse(s, "it has no primary key and no UNIQUE key of NOT NULL columns, so its %d rows would have to be copied in one transaction, and at most %d are: %s, or raise -max-keyless", n, max(most, 0), otherwise)
		}
	}
	if n := len(t.Columns); n >= 2000 {
		refuse(nil, "it has no key and %d columns: SQLite returns at most 2000, and to identify a row takes one more: %s", n, otherwise)
	}
	for i := range p.dbs[0].catalog.Tables {
		other := &p.dbs[0].catalog.Tables[i]
		if slices.ContainsFunc(other.References, func(r merge.Reference) bool { return r.ToTable == t.Name }) {
			refuse(nil, "it has no key and %q refers to it, so a reference does not identify a row: %s", other.Name, otherwise)
		}
	}
	for _, s := range p.plan.Severed {
		if s.Table == t.Name && s.Rows == merge.RowsNone {
			refuse(nil, "it has no key, and references by %s are to be cleared, so an undo could not identify its rows: %s, or let them stay behind: rows = %q in the [[merge.table]] of %s", s.Column, otherwise, merge.RowsDrop, s.To)
		}
	}
	if p.plan.Rekey != nil && p.plan.Rekey.Moves() {
		for _, c := range p.plan.Rekey.Columns {
			col := column(t, c.Column)
			if c.Table == t.Name && (slices.ContainsFunc(c.Cases, func(of merge.RekeyedCase) bool { return of.When != nil || of.Format != "" }) || col != nil && col.Kind != merge.KindInteger) {
				refuse(nil, "it has no key, and only some values of %s get new ones, or they are texts, so an undo could not identify its rows: %s, or leave the rows of the sources behind: [[merge.table]] tables = [%q], policy = \"skip\"", c.Column, otherwise, t.Name)
			}
		}
	}
	if slices.ContainsFunc(p.opts.Names, func(n NamePolicy) bool { return n.Table == t.Name }) ||
		slices.ContainsFunc(p.opts.Copies, func(c NameCopy) bool { return c.Table == t.Name }) {
		refuse(nil, "it has no key, so its rows cannot be renamed: %s", otherwise)
	}
}

// multiset reports whether a table of the plan has no key.
func (p *Plan) multiset(table string) bool {
	t := p.table(table)
	return t != nil && len(t.Key) == 0
}

// every calls take with every row of a table, in no order. take may keep the row.
func every(ctx context.Context, on *connection, l *layout, take func(row []any) error) error {
	err := on.rows(ctx, l.selectFrom()+where(on.comes(l.table)), true, nil, func(row []any) (bool, error) {
		row = slices.Clone(row)
		l.tidy(row)
		return true, take(row)
	})
	if err != nil {
		return fmt.Errorf("reading table %q of %q: %w", l.table, on.Name, err)
	}
	return nil
}

// moved is the table of rows that meet a condition, with the keys that moves say, of which
// every value moves but for those that stay.
func (l *layout) moved(moves []move, condition string) string {
	table := l.dialect.Quote(l.table)
	if len(moves) == 0 && condition == "" {
		return table
	}
	columns := make([]string, len(l.columns))
	for i, name := range l.columns {
		columns[i] = l.dialect.Quote(name)
	}
	for _, m := range moves {
		name := columns[m.column]
		columns[m.column] = m.cases[0].shift.SQL(name) + " AS " + name
	}
	return "(SELECT " + strings.Join(columns, ", ") + " FROM " + table + where(condition) + ") AS " + table
}

// contentsOfMultiset is contents for a table without a key.
func contentsOfMultiset(ctx context.Context, on *connection, l *layout, change changer, between func(rows int) error) (Content, error) {
	var c Content
	var h hasher
	const often = 2000
	err := every(ctx, on, l, func(row []any) error {
		sum, err := h.row(row)
		if err != nil {
			return err
		}
		c.Rows++
		c.Sum = c.Sum.Add(sum)
		changed, err := change.row(row)
		if err == nil && changed {
			sum, err = h.row(row)
		}
		if err != nil {
			return err
		}
		c.After = c.After.Add(sum)
		if c.Rows%often == 0 {
			return between(often)
		}
		return nil
	})
	if err == nil {
		err = between(int(c.Rows % often))
	}
	return c, err
}

// copyMultiset copies all rows of a source to a table without a key, in one
// transaction.
func (r *run) copyMultiset(ctx, soft context.Context, src *connection, l *layout, before *checkpoint, want Content) error {
	change := r.changes.of(src.Name, l)
	if err := r.between(ctx); err != nil {
		return err
	}
	const atOnce = 1000
	now := *before
	now.saved, now.finished = true, true
	err := r.target.tx(soft, func() error {
		var rows [][]any
		flush := func() error {
			err := r.insert(soft, l, rows)
			rows = rows[:0]
			return err
		}
		var h hasher
		bytes := 0
		err := every(soft, src, l, func(row []any) error {
			sum, err := h.row(row)
			if err != nil {
				return err
			}
			now.rows, now.sum = now.rows+1, now.sum.Add(sum)
			if _, err := change.row(row); err != nil {
				return err
			}
			rows, bytes = append(rows, row), bytes+rowSize(row)
			if len(rows) < atOnce && bytes < pageBytes {
				return nil
			}
			bytes = 0
			return flush()
		})
		if err == nil {
			err = flush()
		}
		if err == nil && (now.rows != want.Rows || now.sum != want.Sum) {
			err = &ChangedError{Database: src.Name, Table: l.table, Rows: now.rows, Want: want.Rows}
		}
		if err != nil {
			return err
		}
		return r.manifest.save(soft, before, &now)
	})
	return r.didMultiset(soft, src, l, before, &now, now.rows, err)
}

// didMultiset notes what a transaction did, or why it failed.
func (r *run) didMultiset(ctx context.Context, src *connection, l *layout, before, now *checkpoint, written int64, err error) error {
	if _, changed := errors.AsType[*ChangedError](err); changed {
		return err
	}
	if err != nil {
		return r.notWritten(ctx, before, err)
	}
	r.committed++
	r.reached(now, written)
	r.progress(now.step, src.Name, l.table, int(now.rows))
	return nil
}

// identities counts the rows of a table by their identity, with the keys that moves say;
// of those that are wanted only, unless wanted is nil.
func identities(ctx context.Context, on *connection, l *layout, moves []move, wanted map[string]int64) (map[string]int64, error) {
	found := make(map[string]int64)
	err := on.rows(ctx, "SELECT "+l.identity+" FROM "+l.moved(moves, on.comes(l.table)), true, nil, func(row []any) (bool, error) {
		if row[0] == nil {
			return false, errors.New("the database cannot identify a row: a value is larger than max_allowed_packet")
		}
		is := text(row[0])
		if _, want := wanted[is]; want || wanted == nil {
			found[is]++
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading table %q of %q: %w", l.table, on.Name, err)
	}
	return found, nil
}

// copiedFrom counts by identity the rows of a source that were copied to a table
// without a key, which must be as they were then.
func (r *run) copiedFrom(ctx context.Context, src *connection, l *layout, copied *checkpoint) (map[string]int64, error) {
	came, err := identities(ctx, src, l, r.changes.moves(src.Name, l), nil)
	if err != nil {
		return nil, err
	}
	// The sum comes last, so that the rows counted were those of the plan.
	now, err := contentsOfMultiset(ctx, src, l, nil, func(int) error { return nil })
	if err == nil && (now.Rows != copied.rows || now.Sum != copied.sum || total64(came) != copied.rows) {
		err = &ChangedError{Database: src.Name, Table: l.table, Rows: now.Rows, Want: copied.rows, Undo: true}
	}
	return came, err
}

func total64(all map[string]int64) (n int64) {
	for _, rows := range all {
		n += rows
	}
	return n
}

// gone counts the rows that came to a table without a key and are not there, as they
// were copied: one of several equal rows is as good as another.
func (r *run) gone(ctx context.Context, table int) (n int64, err error) {
	l := r.layouts[r.plan.Tables[table].Name]
	came := make(map[string]int64)
	for i, src := range r.sources {
		copied, err := r.checkpointOf(ctx, StepCopy, part{table: table, source: i})
		if err != nil {
			return 0, err
		}
		if copied.rows == 0 {
			continue
		}
		of, err := r.copiedFrom(ctx, src, l, copied)
		if err != nil {
			return 0, err
		}
		for is, rows := range of {
			came[is] += rows
		}
	}
	there, err := identities(ctx, r.target, l, nil, came)
	if err != nil {
		return 0, err
	}
	for is, rows := range came {
		n += max(0, rows-there[is])
	}
	return n, nil
}

// removeMultiset removes from a table without a key as many rows of each identity as
// came from a source, in one transaction: all of them, and then puts those back that
// are more than came. To remove one by one would read the table for each.
func (u *undo) removeMultiset(ctx, soft context.Context, w *run, p part, copied, before *checkpoint) error {
	src, l := w.sources[p.source], w.layouts[w.plan.Tables[p.table].Name]
	if err := w.between(ctx); err != nil {
		return err
	}
	came, err := w.copiedFrom(soft, src, l, copied)
	if err != nil {
		return err
	}
	others, err := w.earlierAnd(soft, p, came)
	if err != nil {
		return err
	}
	now := *before
	now.saved, now.finished, now.rows, now.sum = true, true, copied.rows, copied.sum
	removed, want := int64(0), int64(0)
	kept := make(map[string]int64)
	err = w.target.tx(soft, func() error {
		there, err := identities(soft, w.target, l, nil, came)
		if err != nil {
			return err
		}
		var all []any
		for is, n := range there {
			all, want = append(all, is), want+n
			if n > came[is] {
				kept[is] = n - came[is]
			}
		}
		for is, rows := range came {
			if n := there[is]; n < rows && !u.force {
				return fmt.Errorf("table %q: %d rows that came from %q are gone or were changed while the undo ran; stop the process that writes there, then force the undo or correct the rows", l.table, rows-n, src.Name)
			}
		}
		const atOnce = 10_000 // each statement reads the whole table
		for part := range slices.Chunk(all, atOnce) {
			n, err := w.target.exec(soft, "delete", l.removeAll(len(part)), false, part...)
			if err != nil {
				return err
			}
			removed += n
		}
		if removed != want {
			return fmt.Errorf("table %q: %d rows were removed, want %d: another process changed it", l.table, removed, want)
		}
		if err := w.putBack(soft, src, l, kept); err != nil {
			return err
		}
		gone := total64(came)
		for is, n := range there {
			gone -= min(n, came[is])
		}
		equal, err := identities(soft, w.target, l, nil, others)
		if err != nil {
			return err
		}
		now.after = []any{gone, total64(equal)}
		return w.manifest.save(soft, before, &now)
	})
	return w.didMultiset(soft, src, l, before, &now, removed-total64(kept), err)
}

// earlierAnd adds the rows that came from the sources before a part to those of the part, which came.
func (r *run) earlierAnd(ctx context.Context, p part, came map[string]int64) (map[string]int64, error) {
	all := maps.Clone(came)
	for i, src := range r.sources[:p.source] {
		copied, err := r.checkpointOf(ctx, StepCopy, part{table: p.table, source: i})
		if err != nil {
			return nil, err
		}
		if copied.rows == 0 {
			continue
		}
		of, err := r.copiedFrom(ctx, src, r.layouts[r.plan.Tables[p.table].Name], copied)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, of) // only which rows these are matters
	}
	return all, nil
}

// putBack inserts rows of these identities, as a source has them, as often as it says.
func (r *run) putBack(ctx context.Context, src *connection, l *layout, kept map[string]int64) error {
	if len(kept) == 0 {
		return nil
	}
	var rows [][]any
	left := maps.Clone(kept)
	query := "SELECT " + l.identity + ", " + strings.Join(l.reads, ", ") + " FROM " + l.moved(r.changes.moves(src.Name, l), src.comes(l.table))
	err := src.rows(ctx, query, false, nil, func(row []any) (bool, error) {
		if n := left[text(row[0])]; n > 0 {
			delete(left, text(row[0]))
			one := slices.Clone(row[1:])
			l.tidy(one)
			for range n {
				rows = append(rows, one)
			}
		}
		return len(left) > 0, nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("reading table %q of %q: %w", l.table, src.Name, err)
	case len(left) > 0:
		return fmt.Errorf("table %q of %q: rows that were just read are gone: another process writes to it", l.table, src.Name)
	}
	return r.insert(ctx, l, rows)
}

// removeAll is the statement that removes the rows of n identities.
func (l *layout) removeAll(n int) string {
	return "DELETE FROM " + l.dialect.Quote(l.table) + " WHERE " + l.identity + " IN (" + sqldb.Marks(n) + ")"
}
