package merge

import (
	"context"
	"errors"
	"math/bits"
	"strings"
)

// conflict is rows that conflict with each other, or one row that is wrong by
// itself.
type conflict struct {
	rows    int64
	members []member // those to show
}

// member is a row that can be fetched after the pass.
type member struct {
	db      *database
	table   string
	columns []string
	values  [][]byte
	names   int // columns that name it, for Source.Row; others may follow
}

func (s *stream) member(row int) member {
	return member{s.db, s.scan.Table, s.scan.Carry, s.carried(row), s.names}
}

// faults counts rows that are wrong by themselves, and keeps the first.
type faults struct {
	rows    int64
	samples int // how many to keep
	kept    []conflict
}

func (f *faults) add(s *stream, row int) {
	f.rows++
	if len(f.kept) < f.samples {
		f.kept = append(f.kept, conflict{rows: 1, members: []member{s.member(row)}})
	}
}

// sample fetches the rows of a conflict. The pass that found them must be
// over. key names the columns of the first row that are in question, and table
// the table that the result is about.
func sample(ctx context.Context, c conflict, table string, key []string) (Sample, error) {
	s := Sample{Omitted: c.rows - int64(len(c.members))}
	for i, m := range c.members {
		fields, err := m.fetch(ctx)
		if err != nil {
			return Sample{}, err
		}
		if i == 0 {
			s.Key = keyText(fields, key)
		}
		row := SampleRow{Source: m.db.name, Fields: fields}
		if m.table != table {
			row.Table = m.table
		}
		s.Rows = append(s.Rows, row)
	}
	return s, nil
}

// samples fetches the rows of the first conflicts.
func (r *reader) samples(ctx context.Context, conflicts []conflict, table string, key []string) (all []Sample, err error) {
	for _, c := range conflicts[:max(0, min(len(conflicts), r.facts.opts.Samples))] {
		s, err := sample(ctx, c, table, key)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// fetch returns the row for people.
func (m member) fetch(ctx context.Context) ([]Field, error) {
	fields, err := m.find(ctx)
	if err == nil && fields == nil && (m.db.catalog.NoSnapshot || m.db.tables[m.table].Outside != "") {
		// It was deleted meanwhile. Only its key is known.
		for i, name := range m.columns[:m.names] {
			v := m.values[i]
			fields = append(fields, Field{Column: name, Value: m.db.tables[m.table].column(name).show(v), Null: v == nil})
		}
		return fields, nil
	}
	if err == nil && fields == nil {
		err = &ReadError{
			Source: m.db.name, Table: m.table, Doing: "a row",
			Err: errors.New("a row that was just read is missing: the reads are not of one moment"),
		}
	}
	return fields, err
}

// find is fetch for a row that need not be there.
func (m member) find(ctx context.Context) ([]Field, error) {
	fields, err := m.db.source.Row(ctx, m.table, m.columns[:m.names], m.values[:m.names])
	if err != nil {
		return nil, &ReadError{Source: m.db.name, Table: m.table, Doing: "a row", Err: err}
	}
	return fields, nil
}

// keyText writes the value of a key for people: "Ana", "guild=…, player=…".
func keyText(fields []Field, key []string) string {
	var parts []string
	for _, name := range key {
		for _, f := range fields {
			if f.Column != name {
				continue
			}
			value := f.String()
			if len(key) > 1 {
				value = name + "=" + value
			}
			parts = append(parts, value)
		}
	}
	return strings.Join(parts, ", ")
}

// sampledTable is a table of one source.
type sampledTable struct {
	db    *database
	table string
}

// sampler returns what keeps a few rows of a stream to look into: some of the
// first, and ever fewer of those that follow.
func (r *reader) sampler(s *stream) func(*Batch) {
	const first = 8
	at := sampledTable{s.db, s.scan.Table}
	r.sampled[at] = nil // of a pass that had to begin again
	batch := uint(0)
	return func(b *Batch) {
		batch++
		rows := 0
		switch {
		case batch == 1:
			rows = min(first, b.Len)
		case bits.OnesCount(batch) == 1:
			rows = 1
		}
		for row := range rows {
			r.sampled[at] = append(r.sampled[at], s.member(row*b.Len/rows))
		}
	}
}

// lookInto returns the values of a column in the sampled rows of the sources
// where it is opaque, as text for people, without those that are NULL or empty.
func (r *reader) lookInto(ctx context.Context, table, column string) (map[*database][]string, error) {
	values := make(map[*database][]string)
	for _, db := range r.facts.dbs {
		if db.opaque(table, column) == "" {
			continue
		}
		for _, m := range r.sampled[sampledTable{db, table}] {
			fields, err := m.find(ctx)
			if err != nil {
				return nil, err
			}
			for _, f := range fields {
				if f.Column == column && !f.Null && f.Value != "" {
					values[db] = append(values[db], f.Value)
				}
			}
		}
	}
	return values, nil
}
