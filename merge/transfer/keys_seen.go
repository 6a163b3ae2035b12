package transfer

import (
	"sync"

	"mergesafe/merge/rekey"
)

// seenKeys are the keys of the sources that come by while rows are copied, so that they
// are not read once more. Workers share them.
type seenKeys struct {
	mu   sync.Mutex
	sets map[seenColumn]*rekey.Set
}

type seenColumn struct {
	source        int // of the plan
	table, column string
}

func newSeenKeys() *seenKeys { return &seenKeys{sets: make(map[seenColumn]*rekey.Set)} }

// add takes the keys in rows of a source that are about to be copied.
func (s *seenKeys) add(p *Plan, source int, l *layout, rows [][]any) {
	if p.Rekey == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range p.Rekey.Columns {
		if !c.Key || c.Table != l.table {
			continue
		}
		at := seenColumn{source, c.Table, c.Column}
		if s.sets[at] == nil {
			s.sets[at] = &rekey.Set{Exact: true}
		}
		for i, name := range l.columns {
			if name != c.Column {
				continue
			}
			for _, row := range rows {
				n, ok := asInteger(row[i])
				if !ok {
					n, ok = rekey.ParseInteger(printed(row[i]))
				}
				if ok {
					s.sets[at].Add(n)
				}
			}
		}
	}
}

// forget drops the keys of a table of a source. After an error nobody knows which of
// them were written.
func (s *seenKeys) forget(source int, table string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := range s.sets {
		if at.source == source && at.table == table {
			delete(s.sets, at)
		}
	}
}

// all returns the keys in a column of a source if each of so many rows was seen, with a
// key of its own; otherwise nil.
func (s *seenKeys) all(source int, table, column string, rows int64) *rekey.Set {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.sets[seenColumn{source, table, column}]
	if set == nil {
		return nil
	}
	if set.Finish(); set.Len() != rows {
		return nil
	}
	return set
}
