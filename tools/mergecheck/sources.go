package main

import (
	"context"
	"fmt"
	"sync"

	"mergesafe/merge/catalog"
	"mergesafe/merge/world"
	"mergesafe/tools/internal/databases"
)

// open opens all places, to be read as the settings say. rests is told when the
// reading of one has to wait because of its server's load. closeAll closes those
// that were opened, also if there is an error.
func open(ctx context.Context, s settings, rests func(source string, threads int)) (sources []catalog.Source, closeAll func(), err error) {
	var opened []*world.Source
	closeAll = func() {
		// All at once: each waits a moment for a server that does not answer.
		var closing sync.WaitGroup
		for _, s := range opened {
			closing.Go(func() { s.Close() }) // nothing was written that could be lost
		}
		closing.Wait()
	}
	for _, p := range s.places {
		var source *world.Source // set before anybody pauses
		var options world.Options
		if s.throttle != (databases.Throttle{}) {
			options.Pause = s.throttle.Pauser(
				func(ctx context.Context) (int, error) { return source.Load(ctx) },
				func(threads int) { rests(p.Name, threads) })
		}
		source, err = world.OpenWith(ctx, p.Name, p.DSN.Reveal(), options)
		if err != nil {
			return nil, closeAll, fmt.Errorf("%s: %w", p.Name, err)
		}
		opened = append(opened, source)
		sources = append(sources, source)
	}
	return sources, closeAll, nil
}
