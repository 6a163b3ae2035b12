package main

import (
	"context"
	"fmt"
)

// The sections of what is compared with C.
const (
	oneGoroutine = "Minting, one goroutine"
	allCores     = "Minting, all cores"
	writingText  = "Writing text"
	readingText  = "Reading"
)

// onAll is the name of a candidate that runs on all cores.
func onAll(name string) string { return name + ", all cores" }

// candidates lists all that is compared with C, but C itself.
func candidates(ctx context.Context, cores int) (list []candidate, closeAll func(), err error) {
	own, closeOwn, err := ours(ctx, cores)
	if err != nil {
		return nil, nil, err
	}
	paused, closePaused, err := bursts(ctx)
	if err != nil {
		closeOwn()
		return nil, nil, err
	}
	closeAll = func() { closeOwn(); closePaused() }
	list = append(append(baselines(cores), own...), paused...)
	for _, p := range peers() {
		g, err := p.open()
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("%s: %w", p.name, err)
		}
		one := candidate{section: oneGoroutine, name: p.name, note: p.note, peer: true, run: g.run, before: g.before, n: p.n}
		all := one
		all.section, all.name, all.note, all.workers = allCores, onAll(p.name), "", cores
		list = append(list, one, all)
	}
	written, err := texts(ctx)
	if err != nil {
		closeAll()
		return nil, nil, err
	}
	return append(list, written...), closeAll, nil
}

// mintingAndText measures all that is compared with C.
func mintingAndText(ctx context.Context, o options) ([]section, error) {
	list, closeAll, err := candidates(ctx, o.cores)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	list = o.filter(list)
	if len(list) == 0 && !o.wants(oneGoroutine, baselineC) {
		return nil, nil
	}
	o.log("minting and text: %d ways, %d rounds", len(list), o.pace.rounds)
	found, err := measure(ctx, o.pace, reference(), list)
	if err != nil {
		return nil, err
	}

	list = append([]candidate{reference()}, list...)
	intro := map[string]string{
		oneGoroutine: "Nanoseconds for one ID; the ratio is to C. A library that waits or spins at its cap is measured with that.",
		allCores:     fmt.Sprintf("Nanoseconds of the wall clock for one ID that any of %d goroutines made; the ratio is to C on one goroutine.", o.cores),
		writingText:  "Into a buffer that is there already where the library can do that; the ratio is to C.",
		readingText:  "With bad text refused; the ratio is to C.",
	}
	var sections []section
	for _, title := range []string{oneGoroutine, allCores, writingText, readingText} {
		s := section{title: title, intro: intro[title]}
		var part []candidate
		for _, c := range list {
			if c.section == title {
				part = append(part, c)
			}
		}
		s.rows = rows(part, found, goals(), false)
		sections = append(sections, s)
	}
	if r, measured := allocationRow(found); measured {
		sections = append(sections, section{title: "Allocations", rows: []row{r}})
	}
	return sections, nil
}
