package check

import (
	"context"
	"errors"
	"math/bits"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// Faults counts rows that are wrong by themselves, and keeps the first.
type Faults struct {
	Rows int64
	Kept []stream.Conflict
}

func (f *Faults) Add(s *stream.Stream, row int) {
	f.Rows++
	if len(f.Kept) < rules.Samples {
		f.Kept = append(f.Kept, stream.Conflict{Rows: 1, Members: []stream.Member{s.Member(row)}})
	}
}

// Sample fetches the rows of a conflict. The pass that found them must be
// over. key names the columns of the first row that are in question, and table
// the table that the result is about.
func Sample(ctx context.Context, c stream.Conflict, table string, key []string) (verdict.Sample, error) {
	s := verdict.Sample{Omitted: c.Rows - int64(len(c.Members))}
	for i, m := range c.Members {
		fields, err := fetch(ctx, m)
		if err != nil {
			return verdict.Sample{}, err
		}
		if i == 0 {
			s.Key = keyText(fields, key)
		}
		row := verdict.SampleRow{World: m.DB.Name, Fields: fields}
		if m.Table != table {
			row.Table = m.Table
		}
		s.Rows = append(s.Rows, row)
	}
	return s, nil
}

// Samples fetches the rows of the first conflicts.
func (r *Reader) Samples(ctx context.Context, conflicts []stream.Conflict, table string, key []string) (all []verdict.Sample, err error) {
	if r.Facts.Opts.Unshown {
		return nil, nil
	}
	for _, c := range conflicts[:min(len(conflicts), rules.Samples)] {
		s, err := Sample(ctx, c, table, key)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// fetch returns the row for people.
func fetch(ctx context.Context, m stream.Member) ([]catalog.Field, error) {
	fields, err := Find(ctx, m)
	if err == nil && fields == nil && (m.DB.Tables[m.Table].Outside != "") {
		// It was deleted meanwhile. Only its key is known.
		for i, name := range m.Columns[:m.Names] {
			v := m.Values[i]
			fields = append(fields, catalog.Field{Column: name, Value: Show(m.DB.Tables[m.Table].Column(name), v), Null: v == nil})
		}
		return fields, nil
	}
	if err == nil && fields == nil {
		err = &catalog.ReadError{
			World: m.DB.Name, Table: m.Table, Doing: "a row",
			Err: errors.New("a row that was just read is missing: the table changed between two reads"),
		}
	}
	return fields, err
}

// Find is fetch for a row that need not be there.
func Find(ctx context.Context, m stream.Member) ([]catalog.Field, error) {
	fields, err := m.DB.Opened.Row(ctx, m.Table, m.Columns[:m.Names], m.Values[:m.Names])
	if err != nil {
		return nil, &catalog.ReadError{World: m.DB.Name, Table: m.Table, Doing: "a row", Err: err}
	}
	return fields, nil
}

// keyText writes the value of a key for people: "Ana", "guild=…, player=…".
func keyText(fields []catalog.Field, key []string) string {
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

// sampledTable is a table of one world.
type sampledTable struct {
	DB    *rules.Database
	Table string
}

// sampler returns what keeps a few rows of a stream to look into: some of the
// first, and ever fewer of those that follow.
func (r *Reader) sampler(s *stream.Stream) func(*catalog.Batch) {
	const first = 8
	at := sampledTable{s.DB, s.Scan.Table}
	r.sampled[at] = nil // of a pass that had to begin again
	batch := uint(0)
	return func(b *catalog.Batch) {
		batch++
		rows := 0
		switch {
		case batch == 1:
			rows = min(first, b.Len)
		case bits.OnesCount(batch) == 1:
			rows = 1
		}
		for row := range rows {
			r.sampled[at] = append(r.sampled[at], s.Member(row*b.Len/rows))
		}
	}
}

// LookInto returns the values of a column in the sampled rows of the worlds
// where it is opaque, as text for people, without those that are NULL or empty.
func (r *Reader) LookInto(ctx context.Context, table, column string) (map[*rules.Database][]string, error) {
	values := make(map[*rules.Database][]string)
	for _, db := range r.Facts.DBs {
		if db.Opaque(table, column) == "" {
			continue
		}
		for _, m := range r.sampled[sampledTable{db, table}] {
			fields, err := Find(ctx, m)
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
