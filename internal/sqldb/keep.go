package sqldb

import (
	"context"
	"sync"
)

// kept are the pools of one command that read servers, by their DSN. A command asks each of its databases many
// things, in many places; a connection for each costs ten questions.
type kept struct {
	mu    sync.Mutex
	pools map[string]*keptPool
}

type keptPool struct {
	mu sync.Mutex // is held while it connects
	db *DB        // nil until it did
}

type keptKey struct{}

// Keep returns a context in which [Dial] opens a server that is only read once: the same pool is returned each time,
// and stays open until done is called. Its connections may have been used, by whoever gave them back. A context of
// which that is true already is returned as it is.
//
// A file of SQLite is opened each time: it may have been replaced.
func Keep(ctx context.Context) (_ context.Context, done func()) {
	if _, already := ctx.Value(keptKey{}).(*kept); already {
		return ctx, func() {}
	}
	k := &kept{pools: make(map[string]*keptPool)}
	return context.WithValue(ctx, keptKey{}, k), k.close
}

// dial opens a database unless it is open.
func (k *kept) dial(ctx context.Context, dsn string) (*DB, error) {
	p := k.pool(dsn)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.db != nil {
		return p.db, nil
	}
	db, err := dial(ctx, dsn, ReadOnly, true)
	if err != nil {
		return nil, err
	}
	db.kept = true
	db.pool.SetMaxOpenConns(0) // who works on a table waits for none that works on another
	p.db = db
	return db, nil
}

func (k *kept) pool(dsn string) *keptPool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pools[dsn] == nil {
		k.pools[dsn] = new(keptPool)
	}
	return k.pools[dsn]
}

func (k *kept) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.pools {
		p.mu.Lock()
		if p.db != nil {
			p.db.pool.Close()
		}
		p.mu.Unlock()
	}
}
