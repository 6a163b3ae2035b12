package merge

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"mergesafe/gameid"
)

// tally is what one source holds of one server's IDs. Times are milliseconds
// since the epoch of gameid.
type tally struct {
	ids            int64
	oldest, newest int64
	listed         bool
	mark           int64

	unlisted, above int64 // of ids, those that the rules object to
}

// tallies are the tallies of one source. Their number is bounded: garbage in
// an ID column looks like up to a million servers.
type tallies struct {
	byServer map[gameid.ServerID]*tally
	others   tally // of the servers that found no room
	unlisted int   // servers in byServer that the registry does not list
}

// maxUnlisted is how many servers that no registry lists are told apart.
const maxUnlisted = 1000

func newTallies(db *database) tallies {
	t := tallies{
		byServer: make(map[gameid.ServerID]*tally),
		others:   tally{oldest: math.MaxInt64, newest: -1, mark: math.MaxInt64},
	}
	for _, s := range db.servers {
		t.byServer[s.Server] = &tally{oldest: math.MaxInt64, newest: -1, listed: true, mark: s.Reserved}
	}
	return t
}

func (t *tallies) of(s gameid.ServerID) *tally {
	if found := t.byServer[s]; found != nil {
		return found
	}
	if t.unlisted == maxUnlisted {
		return &t.others
	}
	t.unlisted++
	made := &tally{oldest: math.MaxInt64, newest: -1, mark: math.MaxInt64}
	t.byServer[s] = made
	return made
}

// add puts the tallies of one table to those of its source.
func (t *tallies) add(table *tallies) {
	// In order, for there may not be room for all.
	for _, s := range slices.Sorted(maps.Keys(table.byServer)) {
		t.of(s).add(table.byServer[s])
	}
	t.others.add(&table.others)
}

func (t *tally) add(from *tally) {
	t.ids += from.ids
	t.oldest = min(t.oldest, from.oldest)
	t.newest = max(t.newest, from.newest)
}

// idScan judges the IDs of one column while its stream is read.
type idScan struct {
	stream   *stream
	column   string
	index    int   // in the Order of the scan, or in its Carry
	carried  bool  // it is in Carry
	key      bool  // it is part of the key, and so counted in the summary
	digits   bool  // the IDs are written as text
	future   int64 // IDs later than this are from the future
	registry bool  // there is one to hold them against

	read    int64 // values
	tallied bool  // tallies were added to those of the source
	tallies tallies
	recent  [64]recentTally

	invalid, fromFuture, unlisted, above faults
}

// recentTally saves looking up the tally of the same few servers again and
// again.
type recentTally struct {
	server gameid.ServerID
	tally  *tally
}

// visit judges every row of a batch. It runs before the rows are merged.
func (s *idScan) visit(b *Batch) {
	columns := b.Order
	if s.carried {
		columns = b.Carry
	}
	v := &columns[s.index]
	if v.Width == gameid.Size && v.Null == nil && !s.digits {
		data := v.Data
		for row := range b.Len {
			s.id(row, binary.BigEndian.Uint64(data))
			data = data[gameid.Size:]
		}
		s.read += int64(b.Len)
		return
	}
	for row := range b.Len {
		value := v.At(row)
		if value == nil { // in a key the key collision rule reports it
			continue
		}
		s.read++
		if s.digits {
			var id gameid.ID
			if id.UnmarshalText(value) != nil {
				s.invalid.add(s.stream, row)
				continue
			}
			raw := id.Bytes()
			value = raw[:]
		}
		if len(value) != gameid.Size {
			s.invalid.add(s.stream, row)
			continue
		}
		s.id(row, binary.BigEndian.Uint64(value))
	}
}

// id judges one ID by its first 8 bytes, which are all but its sequence.
func (s *idScan) id(row int, hi uint64) {
	server := gameid.ServerID(hi) & gameid.MaxServer
	millis := int64(hi >> gameid.ServerBits)
	if server == 0 {
		s.invalid.add(s.stream, row)
		return
	}
	r := &s.recent[server%gameid.ServerID(len(s.recent))]
	if r.server != server {
		*r = recentTally{server, s.tallies.of(server)}
	}
	t := r.tally
	t.ids++
	t.oldest = min(t.oldest, millis)
	t.newest = max(t.newest, millis)
	if millis > s.future {
		s.fromFuture.add(s.stream, row)
	}
	if !s.registry {
		return
	}
	if !t.listed {
		t.unlisted++
		s.unlisted.add(s.stream, row)
	} else if millis > t.mark {
		t.above++
		s.above.add(s.stream, row)
	}
}
