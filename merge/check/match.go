package check

import (
	"fmt"
	"slices"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// maxMatched is how many keys of one world may be matched: each is recorded in the plan.
const maxMatched = 1_000_000

// matchedRow is a row of one of several databases that are the same thing.
type matchedRow struct {
	DB  int // number of its world, in their order
	Key keys.Integer
}

// matchedRows are the rows of a space that are the same thing.
type matchedRows struct {
	Groups [][]matchedRow // each in the order of the databases
	Twice  []string       // natural keys that a database has more than once, and which; the first ones
	Many   int64          // how many there are
	Gaps   []verdict.Gap  // why they could not be read
}

// Pairs returns what becomes of the matched keys of each world: they become that of the first world with the same
// thing. offset is what is added to the keys of one.
func (m *matchedRows) Pairs(worlds int, offset func(world int) uint64) ([]*keys.Pairs, error) {
	all := make([][]keys.Pair, worlds)
	for _, group := range m.Groups {
		home, ok := group[0].Key.Add(offset(group[0].DB))
		if !ok {
			return nil, fmt.Errorf("the key %s plus %d is larger than any column can hold", group[0].Key, offset(group[0].DB))
		}
		for _, row := range group[1:] {
			all[row.DB] = append(all[row.DB], keys.Pair{Old: row.Key, New: home})
		}
	}
	found := make([]*keys.Pairs, worlds)
	for i := range all {
		if len(all[i]) == 0 {
			continue
		}
		var err error
		if found[i], err = keys.NewPairs(all[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// shiftOf is what becomes of the keys of a space of a database, but for values that stay.
func (k *Rekeyed) shiftOf(space *rules.KeySpace, db *rules.Database, stay keys.Values) *keys.Shift {
	return &keys.Shift{By: k.Of[space][db], Stay: stay, Match: k.Pairs[space][db]}
}

// movesIn reports whether any key of a space of a database gets a new value.
func (k *Rekeyed) movesIn(space *rules.KeySpace, db *rules.Database) bool {
	return k.Of[space][db] > 0 || k.Pairs[space][db].Len() > 0
}

// matchesBy reports whether the rows of a table that have values of some columns more than once are those that were matched by
// these: then each value has one key.
func (k *Rekeyed) matchesBy(table string, key, columns []string, found stream.Repeats) bool {
	if k == nil {
		return false
	}
	for s, m := range k.Read.matched {
		if s.By.Table == table && slices.Equal(s.By.Columns, columns) && slices.Equal(key, []string{s.By.Key}) {
			rows := int64(0)
			for _, group := range m.Groups {
				rows += int64(len(group))
			}
			return int64(len(m.Groups)) == found.Values && rows == found.AllRows()
		}
	}
	return false
}

// Matched are the pairs of the keys that a column of a database has, or refers to in all rows.
func (k *Rekeyed) Matched(db *rules.Database, table, column string) *keys.Pairs {
	m := k.moved(table, column)
	if m == nil {
		return nil
	}
	return k.Pairs[m.Cases[0].Space][db]
}

// matchesAny reports whether keys of a space are matched, of any database.
func (k *Rekeyed) matchesAny(space *rules.KeySpace) bool {
	for _, pairs := range k.Pairs[space] {
		if pairs.Len() > 0 {
			return true
		}
	}
	return false
}
