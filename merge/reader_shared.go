package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// sharedReader reads for all pairs of a matrix at once what each of them asks
// for: a pass over all sources answers the questions of every pair that compares
// in the same way.
type sharedReader struct {
	opts     Options
	dbs      []*database
	pairs    []*facts
	progress *progress

	kept memory // see reader

	// Of the task that is being done.
	now      memory
	passes   map[passAsked]*sharedPass
	ids      map[sampledTable]*sharedIDs
	followed map[followedAsked]*sharedFollowed
	failing  map[failingAsked]Failing
}

// passAsked is a question as all pairs ask it that compare alike.
type passAsked struct {
	code, table string
	most        int64
	as          signature
}

// sharedPass is a pass over many sources, and how it looks to each pair.
type sharedPass struct {
	pass    *pass
	without exclusions
	views   map[*facts]*pass
}

type sharedIDs struct {
	scans []*idScan
	err   error
}

// followedAsked is a reference of a source as all pairs ask about it that
// compare alike.
type followedAsked struct {
	code     string
	db       *database
	from, to columnsID
	about    string // the rows that it is about; see reference.identity
	as       signature
}

type sharedFollowed struct {
	pass    *followedPass
	without exclusions
	views   map[*facts]*collisions
}

// forget makes room for the next task.
func (s *sharedReader) forget() {
	s.now = make(memory)
	s.passes, s.ids, s.followed = make(map[passAsked]*sharedPass), make(map[sampledTable]*sharedIDs), make(map[followedAsked]*sharedFollowed)
	s.failing = make(map[failingAsked]Failing)
}

// signature says how columns of a table are compared. It is empty if they
// cannot be.
type signature string

func (f *facts) signature(table string, columns []string) signature {
	_, model := f.model(table)
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
	return signature(b.String())
}

// group makes a reader of all sources that occur in the pairs, which compares
// as one pair does.
func (s *sharedReader) group(as *facts, pairs []*facts, table string) *reader {
	g := &facts{resolved: &resolved{opts: s.opts, declared: as.declared}}
	g.target, _ = as.model(table)
	for _, db := range s.dbs {
		if slices.ContainsFunc(pairs, func(p *facts) bool { return slices.Contains(p.dbs, db) }) {
			g.dbs = append(g.dbs, db)
		}
	}
	return newReader(g, s.progress)
}

// alike returns the pairs that compare as one of them does.
func (s *sharedReader) alike(as *facts, table string, columns []string) (pairs []*facts) {
	want := as.signature(table, columns)
	for _, p := range s.pairs {
		if p == as || want != "" && p.signature(table, columns) == want {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// pass answers a pair.
func (s *sharedReader) pass(ctx context.Context, f *facts, q question) (*pass, error) {
	asked := passAsked{q.code, q.table, q.most, f.signature(q.table, q.columns)}
	shared := s.passes[asked]
	if shared == nil || shared.views[f] == nil {
		pairs := s.alike(f, q.table, q.columns)
		shared = new(sharedPass)
		var err error
		shared.pass, shared.without, err = s.group(f, pairs, q.table).pass(ctx, q, func(p *pass) (views []view) {
			shared.views = make(map[*facts]*pass)
			for _, pair := range pairs {
				v := new(pass)
				v.found, v.crowds = q.counting(pair.opts.Samples)
				shared.views[pair] = v
				places := placesOf(pair, p.streams)
				views = append(views, view{streams: places, found: v.found})
				for _, i := range places {
					v.streams = append(v.streams, p.streams[i])
				}
			}
			return views
		})
		if err != nil {
			return nil, err
		}
		s.passes[asked] = shared
	}
	p := shared.views[f]
	_, p.gaps = newReader(f, s.progress).keyStreams(q.code, q.table, q.columns, shared.without)
	ids := f.idColumns(q.table)
	for _, scan := range shared.pass.ids {
		if slices.Contains(f.dbs, scan.db) && slices.Contains(ids, scan.column) {
			p.ids = append(p.ids, scan)
		}
	}
	slices.SortStableFunc(p.ids, func(a, b *idScan) int { return slices.Index(ids, a.column) - slices.Index(ids, b.column) })
	return p, nil
}

// placesOf returns which of the streams are those of a pair, in its order.
func placesOf(pair *facts, streams []*stream) (places []int) {
	for _, db := range pair.dbs {
		if i := slices.IndexFunc(streams, func(s *stream) bool { return s.db == db }); i >= 0 {
			places = append(places, i)
		}
	}
	return places
}

// idsOf answers any pair.
func (s *sharedReader) idsOf(ctx context.Context, db *database, table, code string) ([]*idScan, error) {
	asked := sampledTable{db, table}
	shared := s.ids[asked]
	if shared == nil {
		shared = new(sharedIDs)
		alone := &facts{resolved: &resolved{opts: s.opts, dbs: []*database{db}, target: db}}
		shared.scans, shared.err = newReader(alone, s.progress).idsOf(ctx, db, table, code)
		if _, unsupported := errors.AsType[*UnsupportedError](shared.err); shared.err != nil && !unsupported {
			return nil, shared.err
		}
		s.ids[asked] = shared
	}
	return shared.scans, shared.err
}

// follow answers a pair about a reference of one source.
func (s *sharedReader) follow(ctx context.Context, f *facts, db *database, ref followed) (*followedPass, error) {
	asked := followedAsked{ref.code, db, idOf(ref.table, ref.Columns...), idOf(ref.ToTable, ref.ToColumns...), ref.identity(), f.signature(ref.ToTable, ref.ToColumns)}
	shared := s.followed[asked]
	if shared == nil || shared.views[f] == nil {
		var err error
		if shared, err = s.followNow(ctx, f, db, ref); err != nil {
			return nil, err
		}
		s.followed[asked] = shared
	}
	found := *shared.pass
	found.rebound, found.reboundGaps = shared.views[f], nil
	if found.gaps == nil && (ref.all || shared.pass.rebound.rows != nil) { // others were read
		_, found.reboundGaps = newReader(f, s.progress).follow(ref).referred(db, shared.without)
	}
	return &found, nil
}

// followNow reads for all pairs that have the source and compare as one does.
func (s *sharedReader) followNow(ctx context.Context, f *facts, db *database, ref followed) (*sharedFollowed, error) {
	shared := new(sharedFollowed)
	pairs := slices.DeleteFunc(s.alike(f, ref.ToTable, ref.ToColumns), func(p *facts) bool { return !slices.Contains(p.dbs, db) })
	place := func(streams []*stream) (views []view) {
		shared.views = make(map[*facts]*collisions)
		for _, pair := range pairs {
			found := elsewhere(pair.opts.Samples)
			shared.views[pair] = found
			other := slices.IndexFunc(streams[1:], func(s *stream) bool { return slices.Contains(pair.dbs, s.db) })
			if other >= 0 {
				views = append(views, view{streams: []int{0, 1 + other}, found: found})
			}
		}
		return views
	}
	place([]*stream{nil}) // in case nothing is read
	var err error
	shared.pass, shared.without, err = s.group(f, pairs, ref.ToTable).follow(ref).pass(ctx, db, place)
	return shared, err
}
