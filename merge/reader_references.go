package merge

import (
	"context"
	"errors"
	"slices"

	"mergesafe/merge/rekey"
)

// followed is a reference of a table, and the codes of the rules for which it
// is read: its own rows, and what they refer to.
type followed struct {
	reference
	table        string
	all          bool // its rows that lead somewhere are read too, not only those that do not
	code, toCode string
}

// follower reads what a reference leads to.
type follower struct {
	*reader
	ref followed
}

func (r *reader) follow(ref followed) follower { return follower{r, ref} }

// strayReading is what was read of the rows whose reference leads nowhere.
type strayReading struct {
	sources           []strayRows
	dangling, rebound []Sample
}

// strayRows are the rows of one source whose reference leads nowhere.
type strayRows struct {
	db          *database
	dangling    int64
	rebound     repeats // of these, the ones whose value another source has; stream 0 is their own
	gaps        []Gap   // why they were not read
	reboundGaps []Gap   // and why others were not
}

// strays reads the rows of every source whose reference leads nowhere, and finds
// those that it would lead somewhere in another source.
func (f follower) strays(ctx context.Context) (*strayReading, error) {
	var all strayReading
	var dangling, rebound []conflict
	for db := range f.facts.having(f.ref.table) { // another has no rows; schema-table reports it
		found, err := f.read(ctx, db)
		if err != nil {
			return nil, err
		}
		all.sources = append(all.sources, strayRows{db, found.dangling.rows, found.rebound.repeats, found.gaps, found.reboundGaps})
		dangling = append(dangling, found.dangling.kept...)
		rebound = append(rebound, found.rebound.kept...)
	}
	var err error
	if all.dangling, err = f.samples(ctx, dangling, f.ref.table, f.ref.Columns); err != nil {
		return nil, err
	}
	all.rebound, err = f.samples(ctx, rebound, f.ref.table, f.ref.Columns)
	return &all, err
}

// followedPass is one reading of a reference of one source.
type followedPass struct {
	dangling    faults
	rebound     *collisions // stream 0 has the referring rows
	gaps        []Gap
	reboundGaps []Gap
}

// elsewhere returns what counts the rows of stream 0 with a value that another
// stream has too.
func elsewhere(samples int) *collisions {
	return &collisions{samples: samples, wanted: func(rows []int64) bool {
		return rows[0] > 0 && slices.Max(rows[1:]) > 0
	}}
}

// read reads a reference of one source.
func (f follower) read(ctx context.Context, db *database) (*followedPass, error) {
	if f.shared != nil {
		return f.shared.follow(ctx, f.facts, db, f.ref)
	}
	found, _, err := f.pass(ctx, db, nil)
	return found, err
}

// pass does what read does, and also returns the sources that could not take
// part although they should. views, if not nil, may add views for the streams.
func (f follower) pass(ctx context.Context, db *database, views func([]*stream) []view) (*followedPass, exclusions, error) {
	var found *followedPass
	samples := f.facts.opts.Samples
	without, err := f.retry(func(excluded exclusions) error {
		found = &followedPass{dangling: faults{samples: samples}, rebound: elsewhere(samples)}
		if f.ref.all {
			found.rebound.samples *= 2 // some may turn out to be missing at home
		}
		if found.gaps = f.cannotFollow(db, excluded); found.gaps != nil {
			return nil
		}
		referring := f.referring(db)
		if !f.ref.all && referring.unable == nil && f.facts.rekeyed.leadsSomewhere(db, f.ref.table, &f.ref.reference) {
			return nil
		}
		leaves := f.ref.leaves(referring)
		found.rebound.ignore = func(p position) bool { return p.stream == referring && leaves(p.row) }
		if !f.ref.all {
			referring.visit = append(referring.visit, func(b *Batch) {
				for row := range b.Len {
					if !leaves(row) {
						found.dangling.add(referring, row)
					}
				}
			})
			if err := referring.open(ctx); err != nil || referring.done {
				referring.close()
				return err
			}
		}
		streams, gaps := f.referred(db, excluded)
		found.reboundGaps = gaps
		if len(streams) == 0 {
			if f.ref.all {
				return nil
			}
			// Read the rest all the same: it is to be counted.
			found.rebound.wanted = func([]int64) bool { return false }
		}
		all := append([]*stream{referring}, streams...)
		if views != nil {
			found.rebound.views = views(all)
		}
		return found.rebound.count(ctx, all)
	})
	return found, without, err
}

// cannotFollow says why a reference of a source cannot be read; nil if it can.
func (f follower) cannotFollow(db *database, excluded exclusions) []Gap {
	reason := excluded[db]
	if reason == "" {
		reason = db.cannotRefer(f.ref.table, f.ref.Reference)
	}
	if reason == "" { // a join of other types uses no index
		reason = incomparable(db.tables[f.ref.table], f.ref.Columns, db, db.tables[f.ref.ToTable], f.ref.ToColumns)
	}
	if reason == "" {
		return nil
	}
	return []Gap{{db.name, reason}}
}

// referring prepares to read the rows of a source in the order of what they
// refer to.
func (f follower) referring(db *database) *stream {
	t := db.tables[f.ref.table]
	_, model := f.facts.model(f.ref.ToTable)
	orders := make([]Order, len(f.ref.Columns))
	for i, name := range f.ref.Columns {
		orders[i].Column = name
		if to := model.column(f.ref.ToColumns[i]); to != nil && t.column(name).Collation != "" {
			orders[i].Collation = to.Collation
		}
	}
	for i := range orders {
		// Rows that it is not about do not count, so that all others keep their order.
		if by := f.facts.rekeyed.offset(db, f.ref.table, f.ref.Columns[i]); by > 0 {
			orders[i].Shift = &rekey.Shift{By: f.facts.rekeyed.offset(db, f.ref.ToTable, f.ref.ToColumns[i])}
			orders[i].Shift.Match = f.facts.rekeyed.matched(db, f.ref.table, f.ref.Columns[i])
		}
	}
	carry := t.rowKey(f.ref.Columns)
	s := f.stream(db, f.ref.code, len(carry), Scan{Table: f.ref.table, Order: orders, Carry: slices.Clip(carry), SkipNull: true})
	if !f.ref.all {
		s.scan.Dangling = &f.ref.Reference
		return s
	}
	for _, name := range f.ref.Columns {
		s.carry(name)
	}
	return s
}

// referred prepares to read what the other sources have to refer to.
func (f follower) referred(db *database, excluded exclusions) (streams []*stream, gaps []Gap) {
	all, gaps := f.keyStreams(f.ref.toCode, f.ref.ToTable, f.ref.ToColumns, excluded)
	for _, s := range all {
		if s.db == db {
			continue
		}
		if reason := incomparable(db.tables[f.ref.table], f.ref.Columns, s.db, s.db.tables[f.ref.ToTable], f.ref.ToColumns); reason != "" {
			gaps = append(gaps, Gap{db.name, reason})
			continue
		}
		streams = append(streams, s)
	}
	return streams, gaps
}

// leaves returns what tells of a row of the referring stream that it refers to
// nothing although it is not NULL, or is not one that the reference is about. It makes
// the stream carry the columns that this needs.
func (r *reference) leaves(s *stream) func(row int) bool {
	none, when := -1, -1
	if !r.none.Empty() && r.cells == nil { // in cells, single keys are none
		none = s.carry(r.Columns[0])
	}
	if r.when != nil {
		when = s.carry(r.when.Column)
	}
	var except []func(row int) bool
	for _, c := range r.except {
		at := s.carry(c.Column)
		except = append(except, func(row int) bool { return c.Holds(s.carriedAt(at, row)) })
	}
	return func(row int) bool {
		if slices.ContainsFunc(except, func(holds func(int) bool) bool { return holds(row) }) {
			return true
		}
		return none >= 0 && r.none.Has(s.carriedAt(none, row)) || when >= 0 && !r.when.Holds(s.carriedAt(when, row))
	}
}

// ambiguousReading is what was read of the rows that refer to a value which
// their own source has and another has too.
type ambiguousReading struct {
	sources []ambiguousRows
	samples []Sample
}

// ambiguousRows are such rows of one source.
type ambiguousRows struct {
	db   *database
	rows int64
	gaps []Gap
}

// ambiguous reads the rows of every source that refer to a value which their own
// source has and another has too. stray is how many rows of each source find the
// value only in another one: these do not count.
func (f follower) ambiguous(ctx context.Context, stray map[*database]int64) (*ambiguousReading, error) {
	var all ambiguousReading
	var kept []conflict
	for db := range f.facts.having(f.ref.table) {
		found, err := f.read(ctx, db)
		if err != nil {
			return nil, err
		}
		rows := ambiguousRows{db: db, gaps: append(found.gaps, found.reboundGaps...)}
		if len(found.rebound.rows) > 0 { // something could be compared
			rows.rows = max(0, found.rebound.rows[0]-stray[db])
		}
		if rows.rows > 0 {
			kept = append(kept, found.rebound.kept...)
		}
		all.sources = append(all.sources, rows)
	}
	var err error
	all.samples, err = f.ambiguousSamples(ctx, kept)
	return &all, err
}

// ambiguousSamples shows the referring row, the row it means, and those of the
// other databases that it could be taken to mean.
func (f follower) ambiguousSamples(ctx context.Context, conflicts []conflict) (all []Sample, err error) {
	for _, c := range conflicts {
		if len(all) >= f.facts.opts.Samples {
			break
		}
		child := c.members[0]
		own := member{db: child.db, table: f.ref.ToTable, columns: f.ref.ToColumns, names: len(f.ref.ToColumns)}
		for _, name := range f.ref.Columns {
			own.values = append(own.values, child.values[slices.Index(child.columns, name)])
		}
		if fields, err := own.find(ctx); err != nil {
			return nil, err
		} else if fields == nil {
			continue // it is missing at home: reference-rebind shows that
		}
		// One referring row, its own, and the strangers.
		shown := conflict{rows: c.rows + 1, members: []member{child, own}}
		for _, m := range c.members[1:] {
			if m.table != f.ref.table || m.db != child.db {
				shown.members = append(shown.members, m)
			}
		}
		s, err := sample(ctx, shown, f.ref.table, f.ref.Columns)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// danglingOf counts the rows of one source whose reference leads nowhere: those
// that say so by 0 or an empty value, and the others. It returns false if the
// source cannot tell.
func (f follower) danglingOf(ctx context.Context, db *database) (zero, others int64, ok bool, err error) {
	f.ref.none, _ = rekey.ParseValues(true, nil)
	s := f.referring(db)
	none := f.ref.leaves(s)
	s.visit = append(s.visit, func(b *Batch) {
		for row := range b.Len {
			if none(row) {
				zero++
			} else {
				others++
			}
		}
	})
	err = s.drain(ctx)
	if _, unsupported := errors.AsType[*UnsupportedError](err); unsupported {
		return 0, 0, false, nil
	}
	return zero, others, true, err
}
