package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"mergesafe/internal/nearest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/sqlsource"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/throttle"
)

// findTarget returns the name of the place that -target means, "" if it is
// not given.
func findTarget(target string, places []databases.Place) (string, error) {
	if target == "" {
		return "", nil
	}
	var names []string
	for _, p := range places {
		if target == p.Name || target == p.Arg {
			return p.Name, nil
		}
		names = append(names, p.Name)
	}
	return "", cli.Usage("-target %s is none of the databases%s: want one of %s", sqldb.Redact(target), nearest.Hint(target, names), strings.Join(names, ", "))
}

// open opens all places, to be read as the settings say. rests is told when the
// reading of one has to wait because of its server's load. closeAll closes those
// that were opened, also if there is an error. For a matrix, a place that cannot be
// opened is a source that cannot be read.
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
		options := sqlsource.Options{NoSnapshot: !s.snapshot}
		if s.throttle != (throttle.Throttle{}) {
			options.Pause = s.throttle.Pauser(
				func(ctx context.Context) (int, error) { return source.Load(ctx) },
				func(threads int) { rests(p.Name, threads) })
		}
		source, err = sqlsource.OpenWith(ctx, p.Name, p.DSN.Reveal(), options)
		if err != nil && s.matrix && ctx.Err() == nil {
			sources = append(sources, check.Unreachable(p.Name, err))
			continue
		}
		if err != nil {
			return nil, closeAll, fmt.Errorf("%s: %w", p.Name, err)
		}
		opened = append(opened, source)
		sources = append(sources, source)
	}
	return sources, closeAll, nil
}
