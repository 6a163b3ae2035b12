package read

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/stream"
)

// SharedReader reads for all pairs of a matrix at once what each of them asks
// for: a pass over all worlds answers the questions of every pair that compares
// in the same way.
type SharedReader struct {
	All      *Facts // of all worlds
	Pairs    []*Facts
	Progress *stream.Progress

	Kept Memory // see reader

	// Of the task that is being done.
	Now      Memory
	passes   map[passAsked]*sharedPass
	ids      map[SampledTable]*sharedIDs
	followed map[followedAsked]*sharedFollowed
	failing  map[failingAsked]catalog.Failing
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
	without Exclusions
	views   map[*Facts]*pass
}

type sharedIDs struct {
	scans []*idScan
	err   error
}

// followedAsked is a reference of a world as all pairs ask about it that
// compare alike.
type followedAsked struct {
	code     string
	db       *declare.Database
	from, to declare.ColumnsID
	about    string // the rows that it is about; see reference.identity
	as       signature
}

type sharedFollowed struct {
	pass    *followedPass
	without Exclusions
	views   map[*Facts]*stream.Collisions
}

// Forget makes room for the next task.
func (s *SharedReader) Forget() {
	s.Now = make(Memory)
	s.passes, s.ids, s.followed = make(map[passAsked]*sharedPass), make(map[SampledTable]*sharedIDs), make(map[followedAsked]*sharedFollowed)
	s.failing = make(map[failingAsked]catalog.Failing)
}

// signature says how columns of a table are compared. It is empty if they
// cannot be.
type signature string

func (f *Facts) signature(table string, columns []string) signature {
	_, model := f.ModelOf(table)
	if model == nil {
		return ""
	}
	var b strings.Builder
	for _, name := range columns {
		col := model.Column(name)
		if col == nil {
			return ""
		}
		fmt.Fprintf(&b, "%q %q %q;", name, col.Collation, col.Class())
	}
	return signature(b.String())
}

// group makes a reader of all worlds that occur in the pairs, which compares
// as one pair does.
func (s *SharedReader) group(as *Facts, pairs []*Facts, table string) *Reader {
	model, _ := as.ModelOf(table)
	dbs := slices.DeleteFunc(slices.Clone(s.All.DBs), func(db *declare.Database) bool {
		return !slices.ContainsFunc(pairs, func(p *Facts) bool { return slices.Contains(p.DBs, db) })
	})
	return NewReader(s.All.Among(model, dbs...), s.Progress)
}

// alike returns the pairs that compare as one of them does.
func (s *SharedReader) alike(as *Facts, table string, columns []string) (pairs []*Facts) {
	want := as.signature(table, columns)
	for _, p := range s.Pairs {
		if p == as || want != "" && p.signature(table, columns) == want {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// pass answers a pair.
func (s *SharedReader) pass(ctx context.Context, f *Facts, q Question) (*pass, error) {
	asked := passAsked{q.Code, q.Table, q.Most, f.signature(q.Table, q.Columns)}
	shared := s.passes[asked]
	if shared == nil || shared.views[f] == nil {
		pairs := s.alike(f, q.Table, q.Columns)
		shared = new(sharedPass)
		var err error
		shared.pass, shared.without, err = s.group(f, pairs, q.Table).pass(ctx, q, func(p *pass) (views []stream.View) {
			shared.views = make(map[*Facts]*pass)
			for _, pair := range pairs {
				v := new(pass)
				v.found, v.crowds = q.counting(pair.Opts.Samples)
				shared.views[pair] = v
				places := placesOf(pair, p.streams)
				views = append(views, stream.View{Streams: places, Found: v.found})
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
	_, p.gaps = NewReader(f, s.Progress).KeyStreams(q.Code, q.Table, q.Columns, shared.without)
	ids := f.IDColumns(q.Table)
	for _, scan := range shared.pass.ids {
		if slices.Contains(f.DBs, scan.DB) && slices.Contains(ids, scan.column) {
			p.ids = append(p.ids, scan)
		}
	}
	slices.SortStableFunc(p.ids, func(a, b *idScan) int { return slices.Index(ids, a.column) - slices.Index(ids, b.column) })
	return p, nil
}

// placesOf returns which of the streams are those of a pair, in its order.
func placesOf(pair *Facts, streams []*stream.Stream) (places []int) {
	for _, db := range pair.DBs {
		if i := slices.IndexFunc(streams, func(s *stream.Stream) bool { return s.DB == db }); i >= 0 {
			places = append(places, i)
		}
	}
	return places
}

// idsOf answers any pair.
func (s *SharedReader) idsOf(ctx context.Context, db *declare.Database, table, code string) ([]*idScan, error) {
	asked := SampledTable{db, table}
	shared := s.ids[asked]
	if shared == nil {
		shared = new(sharedIDs)
		shared.scans, shared.err = NewReader(s.All.Among(db, db), s.Progress).idsOf(ctx, db, table, code)
		if _, unsupported := errors.AsType[*catalog.UnsupportedError](shared.err); shared.err != nil && !unsupported {
			return nil, shared.err
		}
		s.ids[asked] = shared
	}
	return shared.scans, shared.err
}

// follow answers a pair about a reference of one world.
func (s *SharedReader) follow(ctx context.Context, f *Facts, db *declare.Database, ref Followed) (*followedPass, error) {
	asked := followedAsked{ref.Code, db, declare.IDOf(ref.Table, ref.Columns...), declare.IDOf(ref.ToTable, ref.ToColumns...), ref.Identity(), f.signature(ref.ToTable, ref.ToColumns)}
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
	if found.gaps == nil && (ref.All || shared.pass.rebound.Rows != nil) { // others were read
		_, found.reboundGaps = NewReader(f, s.Progress).Follow(ref).referred(db, shared.without)
	}
	return &found, nil
}

// followNow reads for all pairs that have the source and compare as one does.
func (s *SharedReader) followNow(ctx context.Context, f *Facts, db *declare.Database, ref Followed) (*sharedFollowed, error) {
	shared := new(sharedFollowed)
	pairs := slices.DeleteFunc(s.alike(f, ref.ToTable, ref.ToColumns), func(p *Facts) bool { return !slices.Contains(p.DBs, db) })
	place := func(streams []*stream.Stream) (views []stream.View) {
		shared.views = make(map[*Facts]*stream.Collisions)
		for _, pair := range pairs {
			found := elsewhere(pair.Opts.Samples)
			shared.views[pair] = found
			other := slices.IndexFunc(streams[1:], func(s *stream.Stream) bool { return slices.Contains(pair.DBs, s.DB) })
			if other >= 0 {
				views = append(views, stream.View{Streams: []int{0, 1 + other}, Found: found})
			}
		}
		return views
	}
	place([]*stream.Stream{nil}) // in case nothing is read
	var err error
	shared.pass, shared.without, err = s.group(f, pairs, ref.ToTable).Follow(ref).pass(ctx, db, place)
	return shared, err
}
