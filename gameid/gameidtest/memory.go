// Package gameidtest helps to test code that mints IDs: a registry in memory,
// a clock that the test sets, and the test that every registry must pass.
package gameidtest

import (
	"context"
	"sync"
	"time"

	"mergesafe/gameid"
)

// Memory is a [gameid.Reserver] in memory: its rows end with the
// process, so IDs made with it must not be stored. Any number of goroutines may use it.
type Memory struct {
	// Now is the registry's clock; nil means time.Now. Set it before use.
	Now func() time.Time

	mu   sync.Mutex
	rows map[gameid.ServerID]gameid.Record
}

// NewMemory returns a registry without rows.
func NewMemory() *Memory { return &Memory{rows: make(map[gameid.ServerID]gameid.Record)} }

func (m *Memory) now() time.Time {
	if m.Now != nil {
		return m.Now()
	}
	return time.Now()
}

// Load implements [gameid.Reserver].
func (m *Memory) Load(ctx context.Context, server gameid.ServerID) (gameid.Record, error) {
	if err := ctx.Err(); err != nil {
		return gameid.Record{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	rec := m.rows[server]
	rec.Now = m.now()
	return rec, nil
}

// CompareAndSet implements [gameid.Reserver].
func (m *Memory) CompareAndSet(ctx context.Context, server gameid.ServerID, row gameid.Record, c gameid.Claim) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.rows[server]
	if was.Epoch != row.Epoch || was.Holder.Token != row.Holder.Token {
		return false, nil
	}
	m.rows[server] = gameid.Record{
		Epoch:      was.Epoch + 1,
		Reserved:   c.Reserved,
		Window:     max(was.Window, c.Window),
		Holder:     c.Holder,
		LeaseUntil: m.now().Add(c.Lease),
	}
	return true, nil
}

// Set replaces a row, as an operator or a restored backup would.
func (m *Memory) Set(server gameid.ServerID, rec gameid.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows[server] = rec
}
