package check

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// copiedRule looks whether a world is a copy of another one. It compares the rows of tables whose own keys get new values,
// as they are sampled when their keys are read; where keys stay, equal ones collide.
var copiedRule = Rule{
	Codes: []string{verdict.CodeWorldCopied},
	Tasks: copiedTasks,
}

const (
	// fewestEqual is how many rows are equal in a copy, at least: a few rows are alike in all worlds of a game.
	fewestEqual = 50

	// mostSampled is how many rows of a table are compared, at most.
	mostSampled = 8192
)

func copiedTasks(f *Facts) []Task {
	var tables []string
	for _, table := range f.Tables {
		if mayBeCopied(f, table) {
			tables = append(tables, table)
		}
	}
	if len(tables) == 0 {
		return nil
	}
	return []Task{{Code: verdict.CodeWorldCopied, Run: func(context.Context, *Reader) (Outcome, error) {
		result := judgeCopies(f, tables)
		if len(result.Gaps) == 0 {
			return Outcome{}, nil
		}
		return Found(result), nil
	}}}
}

// mayBeCopied reports whether rows of a table are copied, and its key is a key of a space, which gets new values. Rows
// that are the same in all worlds tell nothing, and rows that are combined or matched may well be equal. So may rows that
// only refer to others: hero 7 has spell 133 in every world.
func mayBeCopied(f *Facts, table string) bool {
	_, model := f.ModelOf(table)
	if f.Moving == nil || f.Same[table] || f.Reset[table] || f.Combined[table] != nil {
		return false
	}
	key := model.Key()
	if len(key) != 1 || len(model.Columns) == 1 {
		return false
	}
	m := f.Moving.Columns[rules.ColumnName{Table: table, Column: key[0]}]
	return m != nil && m.Key && !slices.ContainsFunc(m.Cases, func(c rules.MovedCase) bool { return c.Space.By != nil })
}

func judgeCopies(f *Facts, tables []string) verdict.Result {
	result := verdict.Result{Code: verdict.CodeWorldCopied, Message: "a world seems to be a copy of another one"}
	found := make(map[[2]*rules.Database]bool)
	for _, table := range tables {
		_, model := f.ModelOf(table)
		if !moves(f, table, model.Key()[0]) {
			continue
		}
		for i, a := range f.DBs {
			for _, b := range f.DBs[i+1:] {
				two := [2]*rules.Database{a, b}
				shared, equal := f.Rekeyed.Read.in[a].samples[table].shared(f.Rekeyed.Read.in[b].samples[table])
				if result.Read += shared; found[two] || equal < fewestEqual || 2*equal <= shared {
					continue
				}
				found[two] = true
				result.Gaps = append(result.Gaps, verdict.Gap{World: b.Name, Reason: fmt.Sprintf("it seems to be a copy of %s: both have %s in table %s, of which %s",
					a.Name, printable.Count(shared, "compared key", "compared keys"), table, printable.Count(equal, "has an equal row", "have equal rows"))})
			}
		}
	}
	return result
}

// moves reports whether keys of a table get other values in a world. Without that they are all apart, or collide.
func moves(f *Facts, table, column string) bool {
	for db := range f.Having(table) {
		if shift, unable := f.Rekeyed.Shift(db, table, column); unable != nil || shift != nil {
			return true
		}
	}
	return false
}

// rowSample is a sample of the rows of a table of a world: all, or those of every second key, every fourth and so on, as
// many as there is room for. Keys are chosen by their hash, so that two worlds choose the same ones.
type rowSample struct {
	halved int // how often
	rows   []sampledRow
}

type sampledRow struct {
	key  uint64
	hash uint32 // of all columns
}

// takes reports whether a row is in the sample.
func (s *rowSample) takes(key uint64) bool {
	const mix = 0x9e37_79b9_7f4a_7c15
	return key*mix>>(64-s.halved) == 0
}

func (s *rowSample) add(row sampledRow) {
	for s.rows = append(s.rows, row); len(s.rows) > mostSampled; {
		s.halved++
		s.rows = slices.DeleteFunc(s.rows, func(row sampledRow) bool { return !s.takes(row.key) })
	}
}

// shared counts the keys of two samples that both have, and those of them with equal rows.
func (s *rowSample) shared(other *rowSample) (shared, equal int64) {
	if s == nil || other == nil {
		return 0, 0
	}
	hashes := make(map[uint64]uint32, len(s.rows))
	for _, row := range s.rows {
		hashes[row.key] = row.hash
	}
	for _, row := range other.rows {
		if hash, both := hashes[row.key]; both {
			if shared++; hash == row.hash {
				equal++
			}
		}
	}
	return shared, equal
}

// addSample makes a stream take a sample of the rows of a table.
func (r *spaceReader) addSample(s *stream.Stream, key string) {
	sample := new(rowSample)
	r.found.in[s.DB].samples[s.Scan.Table] = sample
	names := slices.Sorted(slices.Values(slice.Map(s.DB.Tables[s.Scan.Table].Columns, func(c catalog.Column) string { return c.Name })))
	at, columns := s.Carry(key), slice.Map(names, s.Carry)
	var row []byte
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for i := range b.Len {
			n, ok := b.Carry[at].Integer(i)
			if !ok || n.Negative || !sample.takes(n.Bits) {
				continue
			}
			row = row[:0]
			for k, c := range columns {
				row = appendValue(append(row, names[k]...), b.Carry[c].At(i))
			}
			sample.add(sampledRow{n.Bits, uint32(hashOf(row))})
		}
	})
}
