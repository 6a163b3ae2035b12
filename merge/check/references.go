package check

import (
	"context"
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// follower reads what a reference leads to.
type follower struct {
	*Reader
	ref          rules.Ref
	all          bool   // its rows that lead somewhere are read too, not only those that do not
	code, toCode string // of the rules for which it is read: its own rows, and what they refer to
}

// strayReading is what was read of the rows whose reference leads nowhere.
type strayReading struct {
	Worlds            []strayRows
	Dangling, Rebound []verdict.Sample
}

// strayRows are the rows of one world whose reference leads nowhere.
type strayRows struct {
	DB          *rules.Database
	Dangling    int64
	Rebound     stream.Repeats // of these, the ones whose value another source has; stream 0 is their own
	Gaps        []verdict.Gap  // why they were not read
	ReboundGaps []verdict.Gap  // and why others were not
}

// strays reads the rows of every source whose reference leads nowhere, and finds
// those that it would lead somewhere in another source.
func (f follower) strays(ctx context.Context) (*strayReading, error) {
	var all strayReading
	var dangling, rebound []stream.Conflict
	for db := range f.Facts.Having(f.ref.Table) { // another has no rows; schema-table reports it
		found, err := f.read(ctx, db)
		if err != nil {
			return nil, err
		}
		all.Worlds = append(all.Worlds, strayRows{db, found.dangling.Rows, found.rebound.Repeats, found.gaps, found.reboundGaps})
		dangling = append(dangling, found.dangling.Kept...)
		rebound = append(rebound, found.rebound.Kept...)
	}
	var err error
	if all.Dangling, err = f.Samples(ctx, dangling, f.ref.Table, f.ref.Columns); err != nil {
		return nil, err
	}
	all.Rebound, err = f.Samples(ctx, rebound, f.ref.Table, f.ref.Columns)
	return &all, err
}

// followedPass is one reading of a reference of one world.
type followedPass struct {
	dangling    Faults
	rebound     *stream.Collisions // stream 0 has the referring rows
	gaps        []verdict.Gap
	reboundGaps []verdict.Gap
}

// elsewhere returns what counts the rows of stream 0 with a value that another
// stream has too.
func elsewhere() *stream.Collisions {
	return &stream.Collisions{Samples: rules.Samples, Wanted: func(rows []int64) bool {
		return rows[0] > 0 && slices.Max(rows[1:]) > 0
	}}
}

// read reads a reference of one world.
func (f follower) read(ctx context.Context, db *rules.Database) (*followedPass, error) {
	var found *followedPass
	err := f.Retry(func(excluded exclusions) error {
		found = &followedPass{rebound: elsewhere()}
		if f.all {
			found.rebound.Samples *= 2 // some may turn out to be missing at home
		}
		if found.gaps = f.cannotFollow(db, excluded); found.gaps != nil {
			return nil
		}
		referring := f.referring(db)
		if strays, known := f.Facts.Rekeyed.strays(db, f.ref.Table, &f.ref); known && !f.all && referring.Unable == nil {
			found.dangling = strays
			return nil
		}
		if !f.all && f.allKnown(db) {
			return nil
		}
		leaves := Leaves(&f.ref, referring)
		found.rebound.Skip = func(p stream.Position) bool { return p.Stream == referring && leaves(p.Row) }
		if !f.all {
			referring.Visit = append(referring.Visit, func(b *catalog.Batch) {
				for row := range b.Len {
					if !leaves(row) {
						found.dangling.Add(referring, row)
					}
				}
			})
			if err := referring.Open(ctx); err != nil || referring.Done {
				referring.Close()
				return err
			}
		}
		streams, gaps := f.referred(db, excluded)
		found.reboundGaps = gaps
		if len(streams) == 0 {
			if f.all {
				return nil
			}
			// Read the rest all the same: it is to be counted.
			found.rebound.Wanted = func([]int64) bool { return false }
		}
		return found.rebound.Count(ctx, append([]*stream.Stream{referring}, streams...))
	})
	return found, err
}

// allKnown reports whether each ID that refers to something is one of those, as they were read with the keys.
func (f follower) allKnown(db *rules.Database) bool {
	if len(f.ref.Columns) != 1 || f.Facts.Rekeyed.moved(f.ref.Table, f.ref.Columns[0]) != nil {
		return false
	}
	from := f.Facts.IDs[rules.IDOf(f.ref.Table, f.ref.Columns[0])][db]
	to := f.Facts.IDs[rules.IDOf(f.ref.ToTable, f.ref.ToColumns[0])][db]
	return from != nil && to != nil && from.within(to)
}

// cannotFollow says why a reference of a world cannot be read; nil if it can.
func (f follower) cannotFollow(db *rules.Database, excluded exclusions) []verdict.Gap {
	reason := excluded[db]
	if reason == "" {
		reason = db.CannotRefer(f.ref.Table, f.ref.Reference)
	}
	if reason == "" { // a join of other types uses no index
		reason = incomparable(db.Tables[f.ref.Table], f.ref.Columns, db, db.Tables[f.ref.ToTable], f.ref.ToColumns)
	}
	if reason == "" {
		return nil
	}
	return []verdict.Gap{{World: db.Name, Reason: reason}}
}

// referring prepares to read the rows of a world in the order of what they
// refer to.
func (f follower) referring(db *rules.Database) *stream.Stream {
	t := db.Tables[f.ref.Table]
	_, model := f.Facts.ModelOf(f.ref.ToTable)
	orders := make([]catalog.Order, len(f.ref.Columns))
	for i, name := range f.ref.Columns {
		orders[i].Column = name
		if to := model.Column(f.ref.ToColumns[i]); to != nil && t.Column(name).Collation != "" {
			orders[i].Collation = to.Collation
		}
		// Rows that it is not about do not count, so that all others keep their order.
		if by := f.Facts.Rekeyed.Offset(db, f.ref.Table, f.ref.Columns[i]); by > 0 {
			orders[i].Shift = &keys.Shift{By: f.Facts.Rekeyed.Offset(db, f.ref.ToTable, f.ref.ToColumns[i])}
			orders[i].Shift.Match = f.Facts.Rekeyed.Matched(db, f.ref.Table, f.ref.Columns[i])
		}
	}
	carry := t.RowKey(f.ref.Columns)
	s := f.Stream(db, f.code, len(carry), catalog.Scan{Table: f.ref.Table, Order: orders, Carry: slices.Clip(carry), SkipNull: true})
	if !f.all {
		s.Scan.Dangling = &f.ref.Reference
		return s
	}
	for _, name := range f.ref.Columns {
		s.Carry(name)
	}
	return s
}

// referred prepares to read what the other sources have to refer to.
func (f follower) referred(db *rules.Database, excluded exclusions) (streams []*stream.Stream, gaps []verdict.Gap) {
	all, gaps := f.keyStreams(f.toCode, f.ref.ToTable, f.ref.ToColumns, excluded)
	for _, s := range all {
		if s.DB == db {
			continue
		}
		if reason := incomparable(db.Tables[f.ref.Table], f.ref.Columns, s.DB, s.DB.Tables[f.ref.ToTable], f.ref.ToColumns); reason != "" {
			gaps = append(gaps, verdict.Gap{World: db.Name, Reason: reason})
			continue
		}
		streams = append(streams, s)
	}
	return streams, gaps
}

// Leaves returns what tells of a row of the referring stream that it refers to
// nothing although it is not NULL, or is not one that the reference is about. It makes
// the stream carry the columns that this needs.
func Leaves(r *rules.Ref, s *stream.Stream) func(row int) bool {
	none, when := -1, -1
	if !r.None.Empty() && r.Cells == nil { // in cells, single keys are none
		none = s.Carry(r.Columns[0])
	}
	if r.When != nil {
		when = s.Carry(r.When.Column)
	}
	var except []func(row int) bool
	for _, c := range r.Except {
		at := s.Carry(c.Column)
		except = append(except, func(row int) bool { return c.Holds(s.CarriedAt(at, row)) })
	}
	return func(row int) bool {
		if slices.ContainsFunc(except, func(holds func(int) bool) bool { return holds(row) }) {
			return true
		}
		return none >= 0 && r.None.Has(s.CarriedAt(none, row)) || when >= 0 && !r.When.Holds(s.CarriedAt(when, row))
	}
}

// ambiguousReading is what was read of the rows that refer to a value which
// their own source has and another has too.
type ambiguousReading struct {
	Worlds  []ambiguousRows
	Samples []verdict.Sample
}

// ambiguousRows are such rows of one world.
type ambiguousRows struct {
	DB   *rules.Database
	Rows int64
	Gaps []verdict.Gap
}

// ambiguous reads the rows of every source that refer to a value which their own
// source has and another has too. stray is how many rows of each world find the
// value only in another one: these do not count.
func (f follower) ambiguous(ctx context.Context, stray map[*rules.Database]int64) (*ambiguousReading, error) {
	var all ambiguousReading
	var kept []stream.Conflict
	for db := range f.Facts.Having(f.ref.Table) {
		found, err := f.read(ctx, db)
		if err != nil {
			return nil, err
		}
		rows := ambiguousRows{DB: db, Gaps: append(found.gaps, found.reboundGaps...)}
		if len(found.rebound.Rows) > 0 { // something could be compared
			rows.Rows = max(0, found.rebound.Rows[0]-stray[db])
		}
		if rows.Rows > 0 {
			kept = append(kept, found.rebound.Kept...)
		}
		all.Worlds = append(all.Worlds, rows)
	}
	var err error
	all.Samples, err = f.ambiguousSamples(ctx, kept)
	return &all, err
}

// ambiguousSamples shows the referring row, the row it means, and those of the
// other databases that it could be taken to mean.
func (f follower) ambiguousSamples(ctx context.Context, conflicts []stream.Conflict) (all []verdict.Sample, err error) {
	if f.Facts.Opts.Unshown {
		return nil, nil
	}
	for _, c := range conflicts {
		if len(all) >= rules.Samples {
			break
		}
		child := c.Members[0]
		own := stream.Member{DB: child.DB, Table: f.ref.ToTable, Columns: f.ref.ToColumns, Names: len(f.ref.ToColumns)}
		for _, name := range f.ref.Columns {
			own.Values = append(own.Values, child.Values[slices.Index(child.Columns, name)])
		}
		if fields, err := Find(ctx, own); err != nil {
			return nil, err
		} else if fields == nil {
			continue // it is missing at home: reference-rebind shows that
		}
		// One referring row, its own, and the strangers.
		shown := stream.Conflict{Rows: c.Rows + 1, Members: []stream.Member{child, own}}
		for _, m := range c.Members[1:] {
			if m.Table != f.ref.Table || m.DB != child.DB {
				shown.Members = append(shown.Members, m)
			}
		}
		s, err := Sample(ctx, shown, f.ref.Table, f.ref.Columns)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// DanglingOf counts the rows of one world whose reference leads nowhere: those
// that say so by 0 or an empty value, and the others. It returns false if the
// source cannot tell.
func (r *Reader) DanglingOf(ctx context.Context, db *rules.Database, ref rules.Ref) (zero, others int64, ok bool, err error) {
	ref.None, _ = keys.ParseValues([]string{"0", ""})
	s := follower{Reader: r, ref: ref, code: verdict.CodeReferenceDangle}.referring(db)
	none := Leaves(&ref, s)
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for row := range b.Len {
			if none(row) {
				zero++
			} else {
				others++
			}
		}
	})
	unread, err := unreadable(s.Drain(ctx))
	return zero, others, unread == "", err
}

// reboundRows counts the rows of the source that refer to what only another
// source has.
func (s strayRows) reboundRows() int64 {
	if s.Rebound.Values == 0 {
		return 0
	}
	return s.Rebound.Rows[0]
}
