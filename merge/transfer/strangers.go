package transfer

import (
	"context"
	"slices"
	"strings"

	"mergesafe/merge"
)

// rowSamples are rows that a message names: all are counted, the first are named.
type rowSamples struct {
	rows int64
	keys []string // of the first ones; see [KeyText]
}

func (s *rowSamples) add(l *layout, row []any) {
	if s.rows++; len(s.keys) < maxSamples {
		s.keys = append(s.keys, l.keyText(row))
	}
}

func (s *rowSamples) String() string {
	text := "row " + strings.Join(s.keys, ", row ")
	if s.rows > int64(len(s.keys)) {
		text += ", and more"
	}
	return text
}

// keyText is the key of a row for people.
func (l *layout) keyText(row []any) string {
	values := l.keyOf(row)
	for i, v := range values {
		if v == nil {
			values[i] = "NULL"
		}
	}
	key, err := encodeKey(values)
	if err != nil {
		return "of a key that cannot be shown"
	}
	return KeyText(key)
}

// naming is how rows are read to be named: by their primary key, or by some other
// columns if the table has none.
func (r *run) naming(table string, otherwise []string) *layout {
	l := &layout{dialect: r.target.dialect(), table: table, columns: otherwise}
	if keyed := r.keys[table]; keyed != nil && !keyed.multiset() {
		l.columns = keyed.keyColumns()
	}
	for i, name := range l.columns {
		l.reads, l.key, l.text = append(l.reads, l.dialect.Quote(name)), append(l.key, i), append(l.text, false)
	}
	return l
}

// keysOnly is how only the keys of the rows are read.
func (l *layout) keysOnly() *layout {
	k := &layout{dialect: l.dialect, table: l.table, columns: l.keyColumns()}
	for i, at := range l.key {
		k.reads, k.text, k.big, k.key = append(k.reads, l.reads[at]), append(k.text, l.text[at]), append(k.big, l.big[at]), append(k.key, i)
		k.numbers = append(k.numbers, l.numbers[at])
	}
	return k
}

// strangers finds the rows of a table of the target that reference rows which the
// merge copied to another one, and did not come with the merge themselves.
func (u *undo) strangers(ctx, soft context.Context, table int, from string, by merge.Reference) (*rowSamples, error) {
	found, to := new(rowSamples), u.layouts[u.plan.Tables[table].Name]
	d := to.dialect
	ref := &layout{dialect: d, table: from, columns: by.Columns}
	var columns []int
	for i, name := range by.ToColumns {
		at := slices.Index(to.columns, name)
		if at < 0 {
			return found, nil
		}
		number := to.numbers[at]
		if number != nil && number.members != nil { // the other table may list its members in another order
			number = nil
		}
		ref.key, columns, ref.numbers = append(ref.key, i), append(columns, at), append(ref.numbers, number)
	}
	rows := u.naming(from, by.Columns)
	if u.plan.table(from) != nil {
		rows = u.layouts[from].keysOnly()
	}
	came, err := u.copiedTo(soft, from)
	if err != nil {
		return nil, err
	}
	if any, err := u.target.number(soft, "SELECT COUNT(*) FROM (SELECT 1 FROM "+d.Quote(from)+" LIMIT 1) AS t", false); err != nil || any == 0 {
		return found, err
	}
	size := d.most(len(columns))
	for i, src := range u.sources {
		copied, err := u.checkpointsOf(soft, StepCopy, table, i)
		if err != nil {
			return nil, err
		}
		change := u.changes.of(src.Name, to)
		for _, c := range copied {
			after := c.begin
			for left := c.rows; left > 0; {
				if err := u.between(ctx); err != nil {
					return nil, err
				}
				p, err := readPage(soft, u.sources[i], to, after, int(min(left, int64(size))), nil)
				if err != nil || len(p.rows) == 0 {
					return found, err
				}
				left -= int64(len(p.rows))
				after = to.keyOf(p.rows[len(p.rows)-1])
				if err := change.rows(p.rows); err != nil {
					return nil, err
				}
				if p.rows, err = u.fresh(soft, table, i, p.rows); err != nil {
					return nil, err
				}
				if len(p.rows) == 0 {
					continue
				}
				var args []any
				for _, row := range p.rows {
					key := make([]any, len(columns))
					for i, c := range columns {
						key[i] = row[c]
					}
					args = append(args, ref.bound(key)...)
				}
				query := rows.selectFrom() + " WHERE " + ref.equal(len(p.rows))
				if err := u.strange(soft, rows, query, len(p.rows) == size, args, nil, came, found); err != nil {
					return nil, err
				}
			}
		}
	}
	return found, nil
}

// copiedTo is how far a table was copied, of each source; nothing for one that is not.
func (u *undo) copiedTo(ctx context.Context, table string) ([][]*checkpoint, error) {
	copied := make([][]*checkpoint, len(u.sources))
	at := slices.IndexFunc(u.plan.Tables, func(t Table) bool { return t.Name == table })
	for i := 0; i < len(copied) && at >= 0; i++ {
		var err error
		if copied[i], err = u.checkpointsOf(ctx, StepCopy, at, i); err != nil {
			return nil, err
		}
	}
	return copied, nil
}

// strange adds the rows of a query on the target that did not come with the merge. key, if
// not nil, returns what of a row is its key; nil for a row that does not count.
func (u *undo) strange(ctx context.Context, l *layout, query string, keep bool, args []any, key func(row []any) []any, copied [][]*checkpoint, found *rowSamples) error {
	var page [][]any
	check := func() error {
		came, err := u.came(ctx, l, page, copied)
		for i, row := range page {
			if err == nil && !came[i] {
				found.add(l, row)
			}
		}
		page = page[:0]
		return err
	}
	most := l.dialect.most(len(l.key))
	err := u.target.rows(ctx, query, keep, args, func(row []any) (bool, error) {
		if key != nil {
			if row = key(row); row == nil {
				return true, nil
			}
		}
		row = slices.Clone(row)
		l.tidy(row)
		if page = append(page, row); len(page) < most {
			return true, nil
		}
		return true, check()
	})
	if err != nil {
		return err
	}
	return check()
}

// came tells which rows of the target have the key of a row that was copied there,
// by the checkpoints of each source; none for a table that is not copied.
func (u *undo) came(ctx context.Context, l *layout, rows [][]any, copied [][]*checkpoint) ([]bool, error) {
	came := make([]bool, len(rows))
	if len(rows) == 0 {
		return came, nil
	}
	for i, src := range u.sources {
		condition, args := l.copied(copied[i])
		if condition == "" {
			continue
		}
		olds, at, err := u.changes.before(u.plan, i, l, rows)
		if err != nil {
			return nil, err
		}
		if len(olds) == 0 {
			continue
		}
		there, err := find(ctx, src, l, l.selectFrom()+where("("+l.equal(len(olds))+")", "("+condition+")", src.comes(l.table)), olds, args...)
		if err != nil {
			return nil, err
		}
		for i, row := range there {
			came[at[i]] = came[at[i]] || row != nil
		}
	}
	return came, nil
}

// copied is the condition for the rows of a source that were copied, by its
// checkpoints, with its arguments; empty if there are none.
func (l *layout) copied(all []*checkpoint) (condition string, args []any) {
	var ways []string
	for i := 0; i < len(all); i++ {
		begin, end := all[i].begin, all[i].after
		if all[i].rows == 0 {
			continue
		}
		for ; all[i].finished && i+1 < len(all) && all[i+1].rows > 0; i++ {
			end = all[i+1].after
		}
		way, until := l.after(end)
		if way = "NOT (" + way + ")"; begin != nil {
			from, more := l.after(begin)
			way, args = from+" AND "+way, append(args, more...)
		}
		ways, args = append(ways, way), append(args, until...)
	}
	return strings.Join(ways, " OR "), args
}
