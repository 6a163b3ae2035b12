package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// matrix reads for all pairs at once what each of them asks for: a pass over
// all sources answers the questions of every pair that compares in the same
// way.
type matrix struct {
	opts  Options
	dbs   []*database
	pairs []*checker

	// Of the task that is being done, by what is asked.
	readings map[string]*sharedReading
	ids      map[string]*sharedIDs
	found    map[string]*sharedStrays
}

// sharedReading is a reading of many sources, and how it looks to each pair.
type sharedReading struct {
	reading *reading
	without exclusions
	views   map[*checker]*reading
}

type sharedIDs struct {
	scans []*idScan
	err   error
}

type sharedStrays struct {
	strays  *strays
	without exclusions
	views   map[*checker]*collisions
}

// signature says how a pair compares the columns of a table. It is empty if
// the pair cannot.
func (c *checker) signature(table string, columns []string) string {
	_, model := c.model(table)
	if model == nil {
		return ""
	}
	var b strings.Builder
	for _, name := range columns {
		col := model.column(name)
		if col == nil {
			return ""
		}
		fmt.Fprintf(&b, "%q %q %q;", name, col.Collation, col.class())
	}
	return b.String()
}

// group makes a checker of all sources that occur in the pairs, which compares
// as p does.
func (m *matrix) group(p *checker, pairs []*checker, table string) *checker {
	g := &checker{opts: m.opts}
	g.target, _ = p.model(table)
	for _, db := range m.dbs {
		if slices.ContainsFunc(pairs, func(q *checker) bool { return slices.Contains(q.dbs, db) }) {
			g.dbs = append(g.dbs, db)
		}
	}
	return g
}

// alike returns the pairs that compare as p does.
func (m *matrix) alike(p *checker, table string, columns []string) (pairs []*checker) {
	want := p.signature(table, columns)
	for _, q := range m.pairs {
		if q == p || want != "" && q.signature(table, columns) == want {
			pairs = append(pairs, q)
		}
	}
	return pairs
}

func (m *matrix) read(ctx context.Context, p *checker, q question) (*reading, error) {
	asked := fmt.Sprintf("%q %q %v %s", q.code, q.table, q.account, p.signature(q.table, q.columns))
	shared := m.readings[asked]
	if shared == nil || shared.views[p] == nil {
		pairs := m.alike(p, q.table, q.columns)
		g := m.group(p, pairs, q.table)
		shared = new(sharedReading)
		var err error
		shared.reading, shared.without, err = g.readNow(ctx, q, func(r *reading) (views []view) {
			shared.views = make(map[*checker]*reading)
			for _, pair := range pairs {
				v := new(reading)
				v.found, v.shared = pair.counting(q)
				shared.views[pair] = v
				places := placesOf(pair, r.streams)
				views = append(views, view{streams: places, found: v.found})
				for _, i := range places {
					v.streams = append(v.streams, r.streams[i])
				}
			}
			return views
		})
		if err != nil {
			return nil, err
		}
		m.readings[asked] = shared
	}
	r := shared.views[p]
	_, r.gaps = p.keyStreams(q.code, q.table, q.columns, shared.without)
	ids := p.idColumns(q.table)
	for _, s := range shared.reading.scans {
		if slices.Contains(p.dbs, s.stream.db) && slices.Contains(ids, s.column) {
			r.scans = append(r.scans, s)
		}
	}
	slices.SortStableFunc(r.scans, func(a, b *idScan) int { return slices.Index(ids, a.column) - slices.Index(ids, b.column) })
	return r, nil
}

// placesOf returns which of the streams are those of a pair, in its order.
func placesOf(pair *checker, streams []*stream) (places []int) {
	for _, db := range pair.dbs {
		if i := slices.IndexFunc(streams, func(s *stream) bool { return s.db == db }); i >= 0 {
			places = append(places, i)
		}
	}
	return places
}

func (m *matrix) readIDs(ctx context.Context, p *checker, db *database, table string) ([]*idScan, error) {
	asked := fmt.Sprintf("%q %q", db.name, table)
	shared := m.ids[asked]
	if shared == nil {
		shared = new(sharedIDs)
		g := &checker{opts: m.opts, dbs: []*database{db}, target: db}
		shared.scans, shared.err = g.readIDsNow(ctx, db, table)
		var unsupported *UnsupportedError
		if shared.err != nil && !errors.As(shared.err, &unsupported) {
			return nil, shared.err
		}
		m.ids[asked] = shared
	}
	return shared.scans, shared.err
}

// followers returns the pairs that have a source and follow a reference from it
// as p does.
func (m *matrix) followers(p *checker, db *database, ref reference) (pairs []*checker) {
	for _, q := range m.alike(p, ref.ToTable, ref.ToColumns) {
		if slices.Contains(q.dbs, db) {
			pairs = append(pairs, q)
		}
	}
	return pairs
}

// follow answers p about a reference of one source. now is what reads.
func (m *matrix) follow(p *checker, db *database, ref reference, asked string, now func(g *checker, views func([]*stream) []view) (*strays, exclusions, error)) (*sharedStrays, error) {
	asked = fmt.Sprintf("%s %q %v %s", asked, db.name, ref, p.signature(ref.ToTable, ref.ToColumns))
	shared := m.found[asked]
	if shared != nil && shared.views[p] != nil {
		return shared, nil
	}
	shared = new(sharedStrays)
	pairs := m.followers(p, db, ref)
	place := func(streams []*stream) (views []view) {
		shared.views = make(map[*checker]*collisions)
		for _, pair := range pairs {
			found := pair.elsewhere()
			shared.views[pair] = found
			other := slices.IndexFunc(streams[1:], func(s *stream) bool { return slices.Contains(pair.dbs, s.db) })
			if other >= 0 {
				views = append(views, view{streams: []int{0, 1 + other}, found: found})
			}
		}
		return views
	}
	place([]*stream{nil}) // for want of any reading
	g := m.group(p, pairs, ref.ToTable)
	var err error
	if shared.strays, shared.without, err = now(g, place); err != nil {
		return nil, err
	}
	m.found[asked] = shared
	return shared, nil
}

func (m *matrix) strays(ctx context.Context, p *checker, db *database, table string, ref reference) (*strays, error) {
	shared, err := m.follow(p, db, ref, "strays "+table, func(g *checker, views func([]*stream) []view) (*strays, exclusions, error) {
		return g.straysNow(ctx, db, table, ref, views)
	})
	if err != nil {
		return nil, err
	}
	found := *shared.strays
	found.rebind = shared.views[p]
	found.rebindGaps = nil
	if found.gaps == nil && shared.strays.rebind.rows != nil { // others were read
		_, found.rebindGaps = p.referred(db, table, ref.Reference, shared.without)
	}
	return &found, nil
}

func (m *matrix) ambiguous(ctx context.Context, p *checker, db *database, table string, ref reference) (*collisions, []Gap, error) {
	shared, err := m.follow(p, db, ref, "ambiguous "+table, func(g *checker, views func([]*stream) []view) (*strays, exclusions, error) {
		found, gaps, without, err := g.ambiguousNow(ctx, db, table, ref, views)
		return &strays{rebind: found, gaps: gaps}, without, err
	})
	if err != nil {
		return nil, nil, err
	}
	if reason := shared.without[db]; reason != "" {
		return shared.views[p], []Gap{{db.name, reason}}, nil
	}
	if reason := db.cannotRefer(table, ref.Reference); reason != "" {
		return shared.views[p], []Gap{{db.name, reason}}, nil
	}
	_, gaps := p.referred(db, table, ref.Reference, shared.without)
	return shared.views[p], gaps, nil
}
