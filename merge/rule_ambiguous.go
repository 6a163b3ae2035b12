package merge

import (
	"context"
	"slices"

	"mergesafe/internal/printable"
)

const noneAmbiguous = "no reference leads to a key that another database has too"

// checkAmbiguous counts the rows that refer to a value which their own database
// has and another has too: whatever becomes of the two rows in the merge, these
// must be made to follow the right one.
//
// Where no value of the referred key is in two databases there can be none, and
// nothing need be read. stray is how many rows of each source find the value
// only in another database; they are the business of reference-rebind.
func (c *checker) checkAmbiguous(ctx context.Context, table string, ref reference, stray map[*database]int64) error {
	result := Result{Code: CodeReferenceAmbiguous, Table: table, Subject: ref.subject()}
	var kept []run
	var details []string
	for _, db := range c.dbs {
		if db.tables[table] == nil {
			continue
		}
		found, gaps, err := c.ambiguous(ctx, db, table, ref)
		if err != nil {
			return err
		}
		result.Read += db.rows[table]
		result.Gaps = append(result.Gaps, gaps...)
		if len(found.rows) == 0 {
			continue // nothing could be compared
		}
		if n := found.rows[0] - stray[db]; n > 0 {
			result.Count += n
			kept = append(kept, found.kept...)
			details = append(details, db.name+": "+printable.Number(n))
		}
	}
	result.Rows = result.Count
	result.Message = noneAmbiguous
	if result.Count > 0 {
		result.Message = printable.Count(result.Count, "row refers", "rows refer") + " to a key that another database has too: " + few(details)
		var err error
		if result.Samples, err = c.ambiguousSamples(ctx, kept, table, ref); err != nil {
			return err
		}
	}
	c.add(result)
	return nil
}

// planAmbiguous plans checkAmbiguous if there is something to read.
func (c *checker) planAmbiguous(table string, ref reference, stray map[*database]int64) {
	if !c.wants(CodeReferenceAmbiguous, table, ref.subject()) {
		return
	}
	if c.unambiguous(ref) {
		result := Result{Code: CodeReferenceAmbiguous, Table: table, Subject: ref.subject()}
		for _, db := range c.dbs {
			result.Read += db.rows[table]
		}
		result.Message = noneAmbiguous
		c.add(result)
		return
	}
	// The rows of every source are held against the keys of all others.
	tables := append([]string{table}, slices.Repeat([]string{ref.ToTable}, len(c.dbs)-1)...)
	c.plan(task{CodeReferenceAmbiguous + " " + table + " " + ref.subject(), tables, func(ctx context.Context) error { return c.checkAmbiguous(ctx, table, ref, stray) }})
}

// unambiguous reports whether no value that a reference leads to is in two
// databases, as was found before. That holds for what refers to it only where
// all databases compare it alike.
func (c *checker) unambiguous(ref reference) bool {
	_, model := c.model(ref.ToTable)
	for _, db := range c.dbs {
		t := db.tables[ref.ToTable]
		for _, name := range ref.ToColumns {
			if t != nil && (t.column(name) == nil || model.column(name) == nil || t.column(name).Collation != model.column(name).Collation) {
				return false
			}
		}
	}
	return c.disjoint[keyName(ref.ToTable, ref.ToColumns)]
}

// ambiguous counts the rows of one source that refer to what another has.
func (c *checker) ambiguous(ctx context.Context, db *database, table string, ref reference) (*collisions, []Gap, error) {
	if c.matrix != nil {
		return c.matrix.ambiguous(ctx, c, db, table, ref)
	}
	found, gaps, _, err := c.ambiguousNow(ctx, db, table, ref, nil)
	return found, gaps, err
}

// ambiguousNow is ambiguous as straysNow is strays.
func (c *checker) ambiguousNow(ctx context.Context, db *database, table string, ref reference, views func([]*stream) []view) (found *collisions, gaps []Gap, without exclusions, err error) {
	_, err = c.retry(func(excluded exclusions) ([]Gap, error) {
		without = excluded
		found = c.elsewhere()
		found.samples *= 2 // some may turn out to be missing at home
		reason := excluded[db]
		if reason == "" {
			reason = db.cannotRefer(table, ref.Reference)
		}
		if reason != "" {
			gaps = []Gap{{db.name, reason}}
			return nil, nil
		}
		referring := c.referring(db, table, ref.Reference)
		referring.code = CodeReferenceAmbiguous
		referring.scan.Dangling = nil
		for _, name := range ref.Columns {
			referring.carry(name)
		}
		none := ref.none(referring)
		found.ignore = func(p position) bool { return p.stream == referring && none(p.row) }
		var streams []*stream
		if streams, gaps = c.referred(db, table, ref.Reference, excluded); len(streams) == 0 {
			return nil, nil
		}
		for _, s := range streams {
			s.code = CodeReferenceAmbiguous
		}
		all := append([]*stream{referring}, streams...)
		if views != nil {
			found.views = views(all)
		}
		return nil, found.count(ctx, all)
	})
	return found, gaps, without, err
}

// ambiguousSamples shows the referring row, the row it means, and those of the
// other databases that it could be taken to mean.
func (c *checker) ambiguousSamples(ctx context.Context, runs []run, table string, ref reference) (all []Sample, err error) {
	for _, r := range runs {
		if len(all) >= c.opts.Samples {
			break
		}
		child := r.members[0]
		own := member{db: child.db, table: ref.ToTable, columns: ref.ToColumns, names: len(ref.ToColumns)}
		for _, name := range ref.Columns {
			own.values = append(own.values, child.values[slices.Index(child.columns, name)])
		}
		if fields, err := own.find(ctx); err != nil {
			return nil, err
		} else if fields == nil {
			continue // it is missing at home: reference-rebind shows that
		}
		// One referring row, its own, and the strangers.
		shown := run{rows: r.rows + 1, members: []member{child, own}}
		for _, m := range r.members[1:] {
			if m.table != table || m.db != child.db {
				shown.members = append(shown.members, m)
			}
		}
		s, err := sample(ctx, shown, table, ref.Columns)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
