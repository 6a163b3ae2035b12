package check

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"mergesafe/gameid"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// tally is what one world holds of one server's IDs. Times are milliseconds
// since the epoch of gameid.
type tally struct {
	IDs            int64
	Oldest, Newest int64
	Listed         bool
	mark           int64

	Unlisted, Above int64 // of ids, those that the rules object to
}

// tallies are the tallies of one world. Their number is bounded: garbage in
// an ID column looks like up to a million servers.
type tallies struct {
	ByServer map[gameid.ServerID]*tally
	Others   tally // of the servers that found no room
	unlisted int   // servers in byServer that the registry does not list
}

// maxUnlisted is how many servers that no registry lists are told apart.
const maxUnlisted = 1000

func newTallies(db *rules.Database) tallies {
	t := tallies{
		ByServer: make(map[gameid.ServerID]*tally),
		Others:   tally{Oldest: math.MaxInt64, Newest: -1, mark: math.MaxInt64},
	}
	for _, s := range db.Servers {
		t.ByServer[s.Server] = &tally{Oldest: math.MaxInt64, Newest: -1, Listed: true, mark: s.Reserved}
	}
	return t
}

func (t *tallies) of(s gameid.ServerID) *tally {
	if found := t.ByServer[s]; found != nil {
		return found
	}
	if t.unlisted == maxUnlisted {
		return &t.Others
	}
	t.unlisted++
	made := &tally{Oldest: math.MaxInt64, Newest: -1, mark: math.MaxInt64}
	t.ByServer[s] = made
	return made
}

// Add puts the tallies of one table to those of its source.
func (t *tallies) Add(table *tallies) {
	// In order, for there may not be room for all.
	for _, s := range slices.Sorted(maps.Keys(table.ByServer)) {
		t.of(s).add(table.ByServer[s])
	}
	t.Others.add(&table.Others)
}

func (t *tally) add(from *tally) {
	t.IDs += from.IDs
	t.Oldest = min(t.Oldest, from.Oldest)
	t.Newest = max(t.Newest, from.Newest)
}

// idFault is a way in which an ID, or what should be one, can be wrong.
type idFault int

const (
	FaultUnlisted idFault = iota // the registry does not list its server
	FaultAboveMark
	FaultInvalid
	FaultFuture
	idFaults // how many there are
)

// idColumn is a column of IDs, in the sources where its IDs were judged.
type idColumn struct {
	Name    string
	Worlds  []*idsRead
	Samples [idFaults][]verdict.Sample
}

// idsRead is what was read of a column of IDs in one world.
type idsRead struct {
	DB      *rules.Database
	column  string
	Key     bool    // it is part of the key, and so counted in the summary
	Read    int64   // values
	hashes  *hashes // of a column that a reference is about; nil of others
	tallies tallies
	Faults  [idFaults]Faults
}

// idScan judges the IDs of one column while its stream is read.
type idScan struct {
	idsRead
	stream   *stream.Stream
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
func (s *idScan) visit(b *catalog.Batch) {
	columns := b.Order
	if s.carried {
		columns = b.Carry
	}
	v := &columns[s.index]
	if s.hashes != nil {
		for row := range b.Len {
			if value := v.At(row); value != nil {
				s.hashes.Add(value)
			}
		}
	}
	if v.Width == gameid.Size && v.Null == nil && !s.digits {
		data := v.Data
		for row := range b.Len {
			s.id(row, binary.BigEndian.Uint64(data))
			data = data[gameid.Size:]
		}
		s.Read += int64(b.Len)
		return
	}
	for row := range b.Len {
		value := v.At(row)
		if value == nil { // a rule about keys reports it
			continue
		}
		s.Read++
		if s.digits {
			var id gameid.ID
			if id.UnmarshalText(value) != nil {
				s.Faults[FaultInvalid].Add(s.stream, row)
				continue
			}
			raw := id.Bytes()
			value = raw[:]
		}
		if len(value) != gameid.Size {
			s.Faults[FaultInvalid].Add(s.stream, row)
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
		s.Faults[FaultInvalid].Add(s.stream, row)
		return
	}
	r := &s.recent[server%gameid.ServerID(len(s.recent))]
	if r.server != server {
		*r = recentTally{server, s.tallies.of(server)}
	}
	t := r.tally
	t.IDs++
	t.Oldest = min(t.Oldest, millis)
	t.Newest = max(t.Newest, millis)
	if millis > s.future {
		s.Faults[FaultFuture].Add(s.stream, row)
	}
	if !s.registry {
		return
	}
	if !t.Listed {
		t.Unlisted++
		s.Faults[FaultUnlisted].Add(s.stream, row)
	} else if millis > t.mark {
		t.Above++
		s.Faults[FaultAboveMark].Add(s.stream, row)
	}
}

// judgeIDs makes the streams of a table's key judge the IDs in it, and bring
// along the IDs in other columns to judge them as well. It returns what will be
// found, column by column.
func (r *Reader) judgeIDs(table string, streams []*stream.Stream) (scans []*idScan) {
	for _, name := range r.Facts.IDColumns(table) {
		for _, s := range streams {
			if scan := r.Facts.judge(s, name); scan != nil {
				if !scan.digits && r.inReference(rules.ColumnName{Table: table, Column: name}) {
					scan.hashes = newHashes(&OpenReader{Reader: r}.UndeclaredKeys().Room)
				}
				scans = append(scans, scan)
			}
		}
	}
	return scans
}

// inReference reports whether a column refers to another one by itself, or is referred to.
func (r *Reader) inReference(at rules.ColumnName) bool {
	type asked struct{}
	if r.Kept[asked{}] == nil {
		in := make(map[rules.ColumnName]bool)
		for _, table := range r.Facts.Tables {
			for _, ref := range r.Facts.References(table) {
				if len(ref.Columns) == 1 {
					in[rules.ColumnName{Table: table, Column: ref.Columns[0]}], in[targetOf(&ref)] = true, true
				}
			}
		}
		r.Kept[asked{}] = in
	}
	return r.Kept[asked{}].(map[rules.ColumnName]bool)[at]
}

// judge makes a stream judge the IDs of a column. It returns nil if the source
// has no such column, or none of IDs.
func (f *Facts) judge(s *stream.Stream, column string) *idScan {
	db := s.DB
	t := db.Tables[s.Scan.Table]
	col := t.Column(column)
	if col == nil {
		return nil
	}
	scan := &idScan{
		idsRead:  idsRead{DB: db, column: column, Key: slices.Contains(t.Key(), column), tallies: newTallies(db)},
		stream:   s,
		digits:   col.Kind == catalog.KindText,
		future:   f.Future(db),
		registry: db.Catalog.HasRegistry,
	}
	ordered := slices.IndexFunc(s.Scan.Order, func(o catalog.Order) bool { return o.Column == column })
	switch {
	case !col.IsID && ordered < 0:
		return nil
	case ordered >= 0 && !scan.digits:
		scan.index = ordered
	default:
		scan.carried = true
		scan.index = s.Carry(column)
	}
	s.Visit = append(s.Visit, scan.visit)
	return scan
}

// byColumn fetches samples of the faults that were found, column by column.
func (r *Reader) byColumn(ctx context.Context, table string, scans []*idScan) (columns []idColumn, err error) {
	for name, of := range slice.Groups(scans, func(s *idScan) string { return s.column }) {
		c := idColumn{Name: name, Worlds: slice.Map(of, func(s *idScan) *idsRead { return &s.idsRead })}
		for fault := range idFaults {
			var kept []stream.Conflict
			for _, s := range c.Worlds {
				kept = append(kept, s.Faults[fault].Kept...)
			}
			if c.Samples[fault], err = r.Samples(ctx, kept, table, []string{c.Name}); err != nil {
				return nil, err
			}
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// idsAlone judges the IDs in a table that has no key to read them along with.
func (r *Reader) idsAlone(ctx context.Context, table string) (*Reading, error) {
	columns := r.Facts.IDColumns(table)
	var scans []*idScan
	found := new(Reading)
	for db, t := range r.Facts.Having(table) {
		if !slices.ContainsFunc(columns, func(name string) bool { return t.Column(name) != nil }) {
			continue
		}
		read, err := r.idsOf(ctx, db, table)
		if unsupported, ok := errors.AsType[*catalog.UnsupportedError](err); ok {
			found.Gaps = append(found.Gaps, verdict.Gap{World: db.Name, Reason: unsupported.Error()})
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
	found.IDs, err = r.byColumn(ctx, table, scans)
	return found, err
}

// idsOf judges the IDs of one world in such a table.
func (r *Reader) idsOf(ctx context.Context, db *rules.Database, table string) (scans []*idScan, err error) {
	t := db.Tables[table]
	var columns []string
	for _, col := range t.Columns {
		if col.IsID {
			columns = append(columns, col.Name)
		}
	}
	if len(columns) == 0 {
		return nil, nil
	}
	carry := t.RowKey(columns[:1])
	s := r.Stream(db, verdict.CodeIDInvalid, len(carry), catalog.Scan{Table: table, Order: []catalog.Order{{Column: columns[0]}}, Carry: slices.Clip(carry)})
	scans = slice.Map(columns, func(name string) *idScan { return r.Facts.judge(s, name) })
	if err := s.Drain(ctx); err != nil {
		return nil, err
	}
	return scans, nil
}

// noteIDs keeps of which servers the IDs are that were read along with a key, and those of references themselves.
func (f *Facts) noteIDs(k *keyReading) {
	for _, column := range k.IDs {
		id := rules.IDOf(k.Table, column.Name)
		for _, read := range column.Worlds {
			if read.hashes != nil {
				if read.hashes.Finish(); f.IDs[id] == nil {
					f.IDs[id] = make(map[*rules.Database]*hashes)
				}
				f.IDs[id][read.DB] = read.hashes
			}
			if read.tallies.Others.IDs > 0 || read.Faults[FaultInvalid].Rows > 0 {
				continue
			}
			if f.Servers[id] == nil {
				f.Servers[id] = make(map[*rules.Database]map[gameid.ServerID]bool)
			}
			servers := make(map[gameid.ServerID]bool)
			for s, t := range read.tallies.ByServer {
				if t.IDs > 0 {
					servers[s] = true
				}
			}
			f.Servers[id][read.DB] = servers
		}
	}
}
