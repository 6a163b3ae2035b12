package record

import (
	"sync"

	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// SeenKeys are the keys of the sources that come by while rows are copied, so that they
// are not read once more. Workers share them.
type SeenKeys struct {
	mu   sync.Mutex
	sets map[seenColumn]*keys.Set
}

type seenColumn struct {
	source        int // of the plan
	table, column string
}

func NewSeenKeys() *SeenKeys { return &SeenKeys{sets: make(map[seenColumn]*keys.Set)} }

// Add takes the keys in rows of a source that are about to be copied.
func (s *SeenKeys) Add(p *plan.Plan, source int, l *world.Layout, rows [][]any) {
	if p.Rekey == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range p.Rekey.Columns {
		if !c.Key || c.Table != l.Table {
			continue
		}
		at := seenColumn{source, c.Table, c.Column}
		if s.sets[at] == nil {
			s.sets[at] = &keys.Set{Exact: true}
		}
		for i, name := range l.Columns {
			if name != c.Column {
				continue
			}
			for _, row := range rows {
				n, ok := world.AsInteger(row[i])
				if !ok {
					n, ok = keys.ParseInteger(world.Printed(row[i]))
				}
				if ok {
					s.sets[at].Add(n)
				}
			}
		}
	}
}

// Forget drops the keys of a table of a source. After an error nobody knows which of
// them were written.
func (s *SeenKeys) Forget(source int, table string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := range s.sets {
		if at.source == source && at.table == table {
			delete(s.sets, at)
		}
	}
}

// All returns the keys in a column of a source if each of so many rows was seen, with a
// key of its own; otherwise nil.
func (s *SeenKeys) All(source int, table, column string, rows int64) *keys.Set {
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
