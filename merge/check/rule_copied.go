package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// CopiedRule looks whether a world is a copy of another one. It reads the rows of tables whose own keys get new values;
// where keys stay, equal ones collide.
var CopiedRule = Rule{
	Codes: []string{verdict.CodeWorldCopied},
	Tasks: copiedTasks,
}

const (
	// fewestEqual is how many rows are equal in a copy, at least: a few rows are alike in all worlds of a game.
	fewestEqual = 50

	// mostShared is how many keys are enough to tell, of two worlds and one table, in the order of the key.
	mostShared = 10_000
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
	return []Task{{Code: verdict.CodeWorldCopied, Tables: tables, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
		result, err := judgeCopies(ctx, f, r, tables)
		if err != nil || len(result.Gaps) == 0 {
			return Outcome{}, err
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

// worldPair are the rows that two worlds have under one key.
type worldPair struct{ shared, equal int64 }

func (p worldPair) copied() bool { return p.equal >= fewestEqual && 2*p.equal > p.shared }

func judgeCopies(ctx context.Context, f *Facts, r *Reader, tables []string) (verdict.Result, error) {
	result := verdict.Result{Code: verdict.CodeWorldCopied, Message: "a world seems to be a copy of another one"}
	found := make(map[[2]*rules.Database]bool)
	for _, table := range tables {
		pairs, n, err := sharedRows(ctx, f, r, table)
		if err != nil {
			return result, err
		}
		result.Read += n
		for i, a := range f.DBs {
			for _, b := range f.DBs[i+1:] {
				two := [2]*rules.Database{a, b}
				if p := pairs[two]; p != nil && p.copied() && !found[two] {
					found[two] = true
					result.Gaps = append(result.Gaps, verdict.Gap{World: b.Name, Reason: fmt.Sprintf("it seems to be a copy of %s: of the %s of table %s that both have, %s",
						a.Name, printable.Count(p.shared, "key", "keys"), table, printable.Count(p.equal, "has an equal row", "have equal rows"))})
				}
			}
		}
	}
	return result, nil
}

// sharedRows compares the rows of a table that two worlds have under one key, as it is in both. Worlds whose keys cannot
// be sorted are left out: [verdict.CodeKeyCollision] says so.
func sharedRows(ctx context.Context, f *Facts, r *Reader, table string) (pairs map[[2]*rules.Database]*worldPair, n int64, err error) {
	owner, model := f.ModelOf(table)
	key := model.Key()
	if !moves(f, table, key[0]) {
		return nil, 0, nil
	}
	var streams []*stream.Stream
	err = r.Retry(func(excluded Exclusions) error {
		streams, pairs = nil, make(map[[2]*rules.Database]*worldPair)
		for db, t := range f.Having(table) {
			if db.Rows[table] >= fewestEqual && excluded[db] == "" && Incomparable(t, key, owner, model, key) == "" {
				s := &stream.Stream{DB: db, Scan: catalog.Scan{Table: table, Order: catalog.OrderBy(key, model), Carry: slice.Map(t.Columns, func(c catalog.Column) string { return c.Name })}}
				s.Progress = r.Progress.Of(s, verdict.CodeWorldCopied)
				streams = append(streams, s)
			}
		}
		if len(streams) < 2 {
			return nil
		}
		err := compareShared(ctx, streams, len(key), pairs)
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
	for _, s := range streams {
		n += s.Read
	}
	return pairs, n, err
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

// errEnough ends a pass that can tell.
var errEnough = errors.New("enough")

// compareShared counts for each two worlds the keys that both have, and those of them with equal rows.
func compareShared(ctx context.Context, streams []*stream.Stream, columns int, pairs map[[2]*rules.Database]*worldPair) error {
	type sharedRow struct {
		db     *rules.Database
		fields map[string][]byte
	}
	fieldsOf := func(at stream.Position) sharedRow {
		row := sharedRow{at.Stream.DB, make(map[string][]byte)}
		for i, name := range at.Stream.Scan.Carry {
			row.fields[name] = bytes.Clone(at.Stream.CarriedAt(i, at.Row))
		}
		return row
	}
	equal := func(a, b map[string][]byte) bool {
		for name, v := range a {
			w, has := b[name]
			if !has || !bytes.Equal(v, w) || (v == nil) != (w == nil) {
				return false
			}
		}
		return len(a) == len(b)
	}
	full, want := 0, len(streams)*(len(streams)-1)/2
	var group []sharedRow // those with the key at hand
	return stream.MergeEqual(ctx, streams, columns, func(before, at stream.Position, begins bool) error {
		if begins {
			group = []sharedRow{fieldsOf(before)}
		}
		row := fieldsOf(at)
		for _, other := range group {
			two := [2]*rules.Database{other.db, row.db}
			if pairs[two] == nil {
				pairs[two] = new(worldPair)
			}
			p := pairs[two]
			if p.shared == mostShared {
				continue
			}
			if p.shared++; equal(other.fields, row.fields) {
				p.equal++
			}
			if p.shared == mostShared {
				full++
			}
		}
		group = append(group, row)
		if full == want {
			return errEnough
		}
		return nil
	})
}
