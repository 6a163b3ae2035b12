package stream

import (
	"context"
	"runtime"
	"sync"

	"mergesafe/merge/rules"
)

// SideBySide lets read see each of the databases, several at a time: no source is used
// by two goroutines. The first error ends the context of the others, and is returned
// when all have ended.
func SideBySide(ctx context.Context, dbs []*rules.Database, read func(ctx context.Context, db *rules.Database) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	queue := make(chan *rules.Database, len(dbs))
	for _, db := range dbs {
		queue <- db
	}
	close(queue)
	var first error
	var once sync.Once
	var all sync.WaitGroup
	for range min(len(dbs), runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for db := range queue {
				if err := read(ctx, db); err != nil {
					once.Do(func() { first = err })
					cancel()
					return
				}
			}
		})
	}
	all.Wait()
	return first
}
