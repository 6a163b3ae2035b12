package merge

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

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

// idFault is a way in which an ID, or what should be one, can be wrong.
type idFault int

const (
	faultUnlisted idFault = iota // the registry does not list its server
	faultAboveMark
	faultInvalid
	faultFuture
	idFaults // how many there are
)

// idColumn is a column of IDs, in the sources where its IDs were judged.
type idColumn struct {
	name    string
	sources []*idsRead
	samples [idFaults][]Sample
}

// idsRead is what was read of a column of IDs in one source.
type idsRead struct {
	db      *database
	column  string
	key     bool  // it is part of the key, and so counted in the summary
	read    int64 // values
	tallies tallies
	faults  [idFaults]faults
}

// idScan judges the IDs of one column while its stream is read.
type idScan struct {
	idsRead
	stream   *stream
	index    int   // in the Order of the scan, or in its Carry
	carried  bool  // it is in Carry
	digits   bool  // the IDs are written as text
	future   int64 // IDs later than this are from the future
	registry bool  // there is one to compare them with
	recent   [64]recentTally
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
		if value == nil { // a rule about keys reports it
			continue
		}
		s.read++
		if s.digits {
			var id gameid.ID
			if id.UnmarshalText(value) != nil {
				s.faults[faultInvalid].add(s.stream, row)
				continue
			}
			raw := id.Bytes()
			value = raw[:]
		}
		if len(value) != gameid.Size {
			s.faults[faultInvalid].add(s.stream, row)
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
		s.faults[faultInvalid].add(s.stream, row)
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
		s.faults[faultFuture].add(s.stream, row)
	}
	if !s.registry {
		return
	}
	if !t.listed {
		t.unlisted++
		s.faults[faultUnlisted].add(s.stream, row)
	} else if millis > t.mark {
		t.above++
		s.faults[faultAboveMark].add(s.stream, row)
	}
}

// judgeIDs makes the streams of a table's key judge the IDs in it, and bring
// along the IDs in other columns to judge them as well. It returns what will be
// found, column by column.
func (r *reader) judgeIDs(table string, streams []*stream) (scans []*idScan) {
	for _, name := range r.facts.idColumns(table) {
		for _, s := range streams {
			if scan := r.judge(s, name); scan != nil {
				scans = append(scans, scan)
			}
		}
	}
	return scans
}

// judge makes a stream judge the IDs of a column. It returns nil if the source
// has no such column, or none of IDs.
func (r *reader) judge(s *stream, column string) *idScan {
	db := s.db
	t := db.tables[s.scan.Table]
	col := t.column(column)
	if col == nil {
		return nil
	}
	scan := &idScan{
		idsRead:  idsRead{db: db, column: column, key: slices.Contains(t.Key(), column), tallies: newTallies(db)},
		stream:   s,
		digits:   col.Kind == KindText,
		future:   r.facts.future(db),
		registry: db.catalog.HasRegistry,
	}
	for i := range scan.faults {
		scan.faults[i].samples = r.facts.opts.Samples
	}
	ordered := slices.IndexFunc(s.scan.Order, func(o Order) bool { return o.Column == column })
	switch {
	case !col.IsID && ordered < 0:
		return nil
	case ordered >= 0 && !scan.digits:
		scan.index = ordered
	default:
		scan.carried = true
		scan.index = s.carry(column)
	}
	s.visit = append(s.visit, scan.visit)
	return scan
}

// byColumn fetches samples of the faults that were found, column by column.
func (r *reader) byColumn(ctx context.Context, table string, scans []*idScan) (columns []idColumn, err error) {
	for len(scans) > 0 {
		c := idColumn{name: scans[0].column}
		n := 0
		for n < len(scans) && scans[n].column == c.name { // they come column by column
			c.sources = append(c.sources, &scans[n].idsRead)
			n++
		}
		scans = scans[n:]
		for fault := range idFaults {
			var kept []conflict
			for _, s := range c.sources {
				kept = append(kept, s.faults[fault].kept...)
			}
			if c.samples[fault], err = r.samples(ctx, kept, table, []string{c.name}); err != nil {
				return nil, err
			}
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// idsAlone judges the IDs in a table that has no key to read them along with.
func (r *reader) idsAlone(ctx context.Context, table, code string) (*reading, error) {
	columns := r.facts.idColumns(table)
	var scans []*idScan
	found := new(reading)
	for db, t := range r.facts.having(table) {
		if !slices.ContainsFunc(columns, func(name string) bool { return t.column(name) != nil }) {
			continue
		}
		read, err := r.idsOf(ctx, db, table, code)
		if unsupported, ok := errors.AsType[*UnsupportedError](err); ok {
			found.gaps = append(found.gaps, Gap{db.name, unsupported.Error()})
		} else if err != nil {
			return nil, err
		}
		for _, scan := range read {
			if slices.Contains(columns, scan.column) {
				scans = append(scans, scan)
			}
		}
	}
	slices.SortStableFunc(scans, func(a, b *idScan) int { return strings.Compare(a.column, b.column) })
	var err error
	found.ids, err = r.byColumn(ctx, table, scans)
	return found, err
}

// idsOf judges the IDs of one source in such a table.
func (r *reader) idsOf(ctx context.Context, db *database, table, code string) (scans []*idScan, err error) {
	if r.shared != nil {
		return r.shared.idsOf(ctx, db, table, code)
	}
	t := db.tables[table]
	var columns []string
	for _, col := range t.Columns {
		if col.IsID {
			columns = append(columns, col.Name)
		}
	}
	if len(columns) == 0 {
		return nil, nil
	}
	carry := t.rowKey(columns[:1])
	s := r.stream(db, code, len(carry), Scan{Table: table, Order: []Order{{Column: columns[0]}}, Carry: slices.Clip(carry)})
	for _, name := range columns {
		scans = append(scans, r.judge(s, name))
	}
	if err := s.drain(ctx); err != nil {
		return nil, err
	}
	return scans, nil
}

// noteServers keeps of which servers the IDs are that were read along with a key.
func (f *facts) noteServers(k *keyReading) {
	for _, column := range k.ids {
		id := idOf(k.table, column.name)
		for _, read := range column.sources {
			if read.tallies.others.ids > 0 || read.faults[faultInvalid].rows > 0 {
				continue
			}
			if f.servers[id] == nil {
				f.servers[id] = make(map[*database]map[gameid.ServerID]bool)
			}
			servers := make(map[gameid.ServerID]bool)
			for s, t := range read.tallies.byServer {
				if t.ids > 0 {
					servers[s] = true
				}
			}
			f.servers[id][read.db] = servers
		}
	}
}
