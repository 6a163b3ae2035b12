package merge

import (
	"context"
	"errors"

	"mergesafe/merge/rekey"
)

// readNames reads the names of a renamed column that several rows have, in all
// databases that are read together.
func (r openReader) readNames(ctx context.Context, c candidate) error {
	keys := r.undeclaredKeys()
	if keys.sets[c] != nil {
		return nil
	}
	sets, room := make(map[*database]*keySet), new(int64)
	*room = maxHashes
	var streams []*stream
	for _, db := range r.group() {
		sets[db] = &keySet{integers: new(rekey.Set), hashes: newHashes(room), words: newHashes(room), twice: newHashes(room), twiceWords: newHashes(room)}
		if t := db.tables[c.table]; t == nil || t.column(c.column) == nil {
			continue
		}
		streams = append(streams, r.stream(db, r.code, 1, Scan{
			Table: c.table, Order: []Order{{Column: c.column, Collation: c.collation}}, Carry: []string{c.column}, SkipNull: true,
		}))
	}
	none, err := NoNames(r.facts.opts, c.table, c.column)
	if err != nil {
		return err
	}
	seen := make(map[*database]int) // rows of the current name
	take := func(p position) {
		if none.Has(p.stream.carriedAt(0, p.row)) {
			return
		}
		set, form, word := sets[p.stream.db], p.stream.order(0, p.row), folded(p.stream.carriedAt(0, p.row))
		set.hashes.add(form)
		set.words.add(word)
		if seen[p.stream.db]++; seen[p.stream.db] > 1 {
			set.twice.add(form)
			set.twiceWords.add(word)
		}
	}
	err = mergeEqual(ctx, streams, 1, func(before, row position, begins bool) error {
		if begins {
			clear(seen)
			take(before)
		}
		take(row)
		return nil
	})
	gap := ""
	if unsupported, ok := errors.AsType[*UnsupportedError](err); ok {
		gap, err = "the names to be changed are not known: "+unsupported.Error(), nil
	}
	if err != nil {
		return err
	}
	for _, set := range sets {
		for _, h := range []*hashes{set.hashes, set.words, set.twice, set.twiceWords} {
			if h.finish(); h.sparse {
				gap = "there are too many names to be changed to look them up"
			}
		}
	}
	for _, set := range sets {
		set.gap = gap
	}
	keys.sets[c] = sets
	return nil
}
