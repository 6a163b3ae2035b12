package merge

import (
	"context"
	"errors"
	"strings"
)

// run is a conflict: rows that are in each other's way, or one row that is
// wrong by itself.
type run struct {
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
	rows int64
	kept []run
}

func (f *faults) add(s *stream, row int) {
	f.rows++
	if len(f.kept) < s.checker.opts.Samples {
		f.kept = append(f.kept, run{rows: 1, members: []member{s.member(row)}})
	}
}

// sample fetches the rows of a conflict. The pass that found them must be
// over. key names the columns of the first row that are in question, and table
// the table that the result is about.
func sample(ctx context.Context, r run, table string, key []string) (Sample, error) {
	s := Sample{Omitted: r.rows - int64(len(r.members))}
	for i, m := range r.members {
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
func (c *checker) samples(ctx context.Context, runs []run, table string, key []string) (all []Sample, err error) {
	for _, r := range runs[:max(0, min(len(runs), c.opts.Samples))] {
		s, err := sample(ctx, r, table, key)
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
	if err == nil && fields == nil && m.db.catalog.NoSnapshot {
		// It was deleted meanwhile. Its key is all that is known.
		for i, name := range m.columns[:m.names] {
			v := m.values[i]
			fields = append(fields, Field{Column: name, Value: m.db.tables[m.table].column(name).show(v), Null: v == nil})
		}
		return fields, nil
	}
	if err == nil && fields == nil {
		err = &ReadError{
			Source: m.db.name, Table: m.table, Doing: "a row",
			Err: errors.New("a row that was just streamed is not there: the reads do not belong to one moment"),
		}
	}
	return fields, err
}

// find is fetch for a row that need not be there.
func (m member) find(ctx context.Context) ([]Field, error) {
	fields, err := m.db.Row(ctx, m.table, m.columns[:m.names], m.values[:m.names])
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
			value := f.text()
			if len(key) > 1 {
				value = name + "=" + value
			}
			parts = append(parts, value)
		}
	}
	return strings.Join(parts, ", ")
}
