package merge

import "mergesafe/merge/rekey"

// The keys of spaces and what refers to them are read before all else, so that offsets
// can be chosen. What follows from that is not read again.

// knownKeys returns the keys in a column of a database if they were read for a space and
// are those of all its rows, one by one; otherwise nil.
func (k *rekeyed) knownKeys(db *database, table, column string) *rekey.Set {
	if k == nil || k.read == nil {
		return nil
	}
	m := k.moving.columns[columnName{table, column}]
	if m == nil || !m.key || !m.cases[0].space.kept.Empty() {
		return nil
	}
	set := k.read.keys[m.columnName][db]
	if set == nil || set.Sparse || set.Len() != db.rows[table] {
		return nil
	}
	return set
}

// keysApart answers a question about the key of a table from the keys of a space, if these
// show that no value is there twice: each source has as many keys as rows, and the
// ranges of the new ones do not meet. Otherwise it returns nil.
func keysApart(r *reader, q question) *reading {
	looksAround := len(r.facts.idColumns(q.table)) > 0 || r.facts.opts.Samples > 0 && len(r.facts.opaque(q.table)) > 0
	if r.shared != nil || len(q.columns) != 1 || looksAround {
		return nil
	}
	streams, gaps := r.keyStreams(q.code, q.table, q.columns, nil)
	a := &reading{gaps: gaps, repeats: repeats{rows: make([]int64, len(streams))}}
	var taken []rekey.Range
	for _, s := range streams {
		set := r.facts.rekeyed.knownKeys(s.db, q.table, q.columns[0])
		if set == nil || r.facts.rekeyed.matched(s.db, q.table, q.columns[0]).Len() > 0 || s.unable != nil || s.names != 1 || s.scan.Carry[0] != q.columns[0] {
			return nil
		}
		keys := set.Range()
		moved, ok := keys.Shift(r.facts.rekeyed.offset(s.db, q.table, q.columns[0]))
		if !ok {
			return nil
		}
		for _, other := range taken {
			if moved.Meets(other) {
				return nil
			}
		}
		taken = append(taken, moved)
		p := part{db: s.db, read: set.Len()}
		if keys.Any {
			p.ends = keyRange{[][]byte{[]byte(keys.Low.String())}, [][]byte{[]byte(keys.High.String())}}
		}
		a.parts = append(a.parts, p)
	}
	return a
}

// leadsSomewhere reports whether every row of a database with a reference was seen to
// lead to a row, or to nobody, when the keys were read.
func (k *rekeyed) leadsSomewhere(db *database, table string, ref *reference) bool {
	if k == nil || k.read == nil || len(ref.Columns) != 1 || ref.space != "" || len(ref.or) > 0 {
		return false
	}
	m := k.moving.columns[columnName{table, ref.Columns[0]}]
	if m == nil || m.key || len(m.cases) != 1 || !m.cases[0].ref.same(ref) {
		return false
	}
	to := columnName{ref.ToTable, ref.ToColumns[0]}
	space, read := m.cases[0].space, k.read.rows[m][db]
	if len(space.keys) != 1 || space.keys[0] != to || len(read) != 1 {
		return false
	}
	return read[0].Dangling == 0 && read[0].foreign == 0
}
