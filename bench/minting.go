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
	libraries, err := peers()
	if err != nil {
		return nil, nil, err
	}
	written, err := texts(ctx)
	if err != nil {
		return nil, nil, err
	}
	own, closeAll, err := ours(ctx, cores)
	if err != nil {
		return nil, nil, err
	}
	list = append(baselines(cores), own...)
	for _, p := range libraries {
		one := candidate{section: oneGoroutine, name: p.name, note: p.note, peer: true, run: p.run, before: p.before, n: p.n}
		all := one
		all.section, all.name, all.note, all.workers = allCores, onAll(p.name), "", cores
		list = append(list, one, all)
	}
	return append(list, written...), closeAll, nil
}

// mintingAndText measures all that is compared with C.
func mintingAndText(ctx context.Context, o options) (sections []section, err error) {
	all, closeAll, err := candidates(ctx, o.cores)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	var list []candidate
	for _, c := range all {
		if o.wants(c.section, c.name) {
			list = append(list, c)
		}
	}
	if len(list) == 0 && !o.wants(oneGoroutine, baselineC) {
		return nil, nil
	}
	o.log("minting and text: %d ways, %d rounds", len(list), o.pace.rounds)
	found, err := measure(ctx, o.pace, reference(), list)
	if err != nil {
		return nil, err
	}

	list = append([]candidate{reference()}, list...)
	for _, s := range []section{
		{title: oneGoroutine, intro: "Nanoseconds for one ID; the ratio is to C. A library that waits or spins at its cap is measured with that."},
		{title: allCores, intro: fmt.Sprintf("Nanoseconds of the wall clock for one ID that any of %d goroutines made; the ratio is to C on one goroutine.", o.cores)},
		{title: writingText, intro: "Into a buffer that is there already where the library can do that; the ratio is to C."},
		{title: readingText, intro: "With bad text refused; the ratio is to C."},
	} {
		var part []candidate
		for _, c := range list {
			if c.section == s.title {
				part = append(part, c)
			}
		}
		s.rows = rows(part, found, false)
		sections = append(sections, s)
	}
	if r, measured := allocationRow(list, found); measured {
		sections = append(sections, section{title: "Allocations", rows: []row{r}})
	}
	return sections, nil
}
