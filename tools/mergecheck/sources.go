package main

import (
	"context"
	"fmt"
	"sync"

	"mergesafe/merge/catalog"
	"mergesafe/merge/sqlsource"
	"mergesafe/tools/internal/throttle"
)

// open opens all places, to be read as the settings say. rests is told when the
// reading of one has to wait because of its server's load. closeAll closes those
// that were opened, also if there is an error.
func open(ctx context.Context, s settings, rests func(source string, threads int)) (sources []catalog.Source, closeAll func(), err error) {
	var opened []*sqlsource.Source
	closeAll = func() {
		// All at once: each waits a moment for a server that does not answer.
		var closing sync.WaitGroup
		for _, s := range opened {
			closing.Go(func() { s.Close() }) // nothing was written that could be lost
		}
		closing.Wait()
	}
	for _, p := range s.places {
		var source *sqlsource.Source // set before anybody pauses
		var options sqlsource.Options
		if s.throttle != (throttle.Throttle{}) {
			options.Pause = s.throttle.Pauser(
				func(ctx context.Context) (int, error) { return source.Load(ctx) },
				func(threads int) { rests(p.Name, threads) })
		}
		source, err = sqlsource.OpenWith(ctx, p.Name, p.DSN.Reveal(), options)
		if err != nil {
			return nil, closeAll, fmt.Errorf("%s: %w", p.Name, err)
		}
		opened = append(opened, source)
		sources = append(sources, source)
	}
	return sources, closeAll, nil
}
