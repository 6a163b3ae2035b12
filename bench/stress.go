package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"mergesafe/gameid"
)

// The stress: so many goroutines mint so many IDs between them, all at once.
const (
	stressGoroutines = 64
	stressIDs        = 3_000_000
)

// mintings fills dst with the keys of new IDs. It is called from all
// goroutines, with a number of their own.
type mintings func(goroutine int, dst []key) error

// collect lets all goroutines mint n IDs into keys, which it returns in one
// piece for each goroutine.
func collect(keys []key, mint mintings) ([][]key, error) {
	pieces := make([][]key, 0, stressGoroutines)
	for piece := range slices.Chunk(keys, (len(keys)+stressGoroutines-1)/stressGoroutines) {
		pieces = append(pieces, piece)
	}
	errs := make([]error, len(pieces))
	gate := make(chan struct{})
	var done sync.WaitGroup
	for i, piece := range pieces {
		done.Go(func() {
			<-gate
			errs[i] = mint(i, piece)
		})
	}
	close(gate)
	done.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return pieces, nil
}

// inspect returns how many goroutines saw an ID that was not greater than
// their own last one, and how many IDs were issued before. It sorts the keys.
func inspect(keys []key, pieces [][]key) (unordered, duplicates int) {
	for _, piece := range pieces {
		for i := 1; i < len(piece); i++ {
			if piece[i].compare(piece[i-1]) <= 0 {
				unordered++
				break
			}
		}
	}
	slices.SortFunc(keys, key.compare)
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] {
			duplicates++
		}
	}
	return unordered, duplicates
}

// stress runs every generator, ours several times. It returns a *wrong if one
// of ours breaks its promise.
func stress(ctx context.Context, o options) (section, error) {
	s := section{
		title: fmt.Sprintf("Duplicates: %d goroutines, %s IDs a run", stressGoroutines, count(stressIDs)),
		intro: "Order is whether every goroutine saw its IDs rise.",
	}
	keys := make([]key, stressIDs)
	var broken []error
	for _, own := range []struct {
		name string
		mint func(*gameid.Node) mintings
	}{
		{"mergesafe Next", mintNext},
		{"mergesafe Fill of 64", mintFill},
		{"mergesafe Next and Fill of all sizes, two kinds", mintMixed},
	} {
		if !o.wants(s.title, own.name) {
			continue
		}
		o.log("stress: %s", own.name)
		node, err := openNode(ctx, gameid.Options{})
		if err != nil {
			return s, err
		}
		r, err := stressOurs(ctx, own.name, o.stressRuns, keys, own.mint(node))
		node.Close()
		if w := (*wrong)(nil); errors.As(err, &w) {
			broken = append(broken, err)
		} else if err != nil {
			return s, err
		}
		s.rows = append(s.rows, r)
	}
	for _, p := range peers() {
		if !o.wants(s.title, p.name) {
			continue
		}
		o.log("stress: %s", p.name)
		g, err := p.open()
		if err == nil && g.before != nil {
			err = g.before()
		}
		if err != nil {
			return s, fmt.Errorf("%s: %w", p.name, err)
		}
		r := row{what: p.name}
		n := stressIDs
		if p.most > 0 {
			n = p.most
			r.what += fmt.Sprintf(", %s IDs", count(n))
		}
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		pieces, err := collect(keys[:n], func(_ int, dst []key) (err error) {
			for i := range dst {
				if dst[i], err = g.next(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return s, fmt.Errorf("%s: %w", p.name, err)
		}
		unordered, duplicates := inspect(keys[:n], pieces)
		r.measured, r.note = duplicatesText(duplicates), order(unordered, 1)
		if !p.ordered {
			r.note += ", which it does not promise"
		}
		s.rows = append(s.rows, r)
	}
	return s, errors.Join(broken...)
}

// stressOurs returns a *wrong if the generator breaks its promise.
func stressOurs(ctx context.Context, name string, runs int, keys []key, mint mintings) (row, error) {
	unordered, duplicates := 0, 0
	for range runs {
		if ctx.Err() != nil {
			return row{}, context.Cause(ctx)
		}
		pieces, err := collect(keys, mint)
		if err != nil {
			return row{}, fmt.Errorf("%s: %w", name, err)
		}
		u, d := inspect(keys, pieces)
		unordered, duplicates = unordered+u, duplicates+d
	}
	ok := unordered == 0 && duplicates == 0
	r := row{
		what: name, measured: duplicatesText(duplicates), note: order(unordered, runs),
		goal: "0, in order", holds: verdict(ok),
	}
	if runs > 1 {
		r.what += fmt.Sprintf(", %d runs", runs)
	}
	if !ok {
		return r, &wrong{fmt.Sprintf("%s: %s, %s", name, r.measured, r.note)}
	}
	return r, nil
}

func duplicatesText(n int) string {
	if n == 1 {
		return "1 duplicate"
	}
	return count(n) + " duplicates"
}

func order(unordered, runs int) string {
	if unordered == 0 {
		return "in order"
	}
	return fmt.Sprintf("out of order in %d of %d goroutines", unordered, runs*stressGoroutines)
}

func keyOfID(id gameid.ID) key {
	b := id.Bytes()
	return keyOf(b[:])
}

func mintNext(node *gameid.Node) mintings {
	g := gameid.NewGenerator[player](node)
	return func(_ int, dst []key) error {
		for i := range dst {
			id, err := g.Next()
			if err != nil {
				return err
			}
			dst[i] = keyOfID(id.ID())
		}
		return nil
	}
}

func mintFill(node *gameid.Node) mintings {
	g := gameid.NewGenerator[player](node)
	return func(_ int, dst []key) error {
		var buf [64]gameid.Of[player]
		for len(dst) > 0 {
			ids := buf[:min(len(dst), len(buf))]
			if err := g.Fill(ids); err != nil {
				return err
			}
			for i, id := range ids {
				dst[i] = keyOfID(id.ID())
			}
			dst = dst[len(ids):]
		}
		return nil
	}
}

// mintMixed mints players and items, one and up to 300 at a time, in turn.
func mintMixed(node *gameid.Node) mintings {
	players, items := gameid.NewGenerator[player](node), gameid.NewGenerator[item](node)
	return func(goroutine int, dst []key) error {
		var buf [300]gameid.Of[item]
		for size := goroutine; len(dst) > 0; size = (size + 37) % len(buf) {
			id, err := players.Next()
			if err != nil {
				return err
			}
			dst[0], dst = keyOfID(id.ID()), dst[1:]
			ids := buf[:min(len(dst), size)]
			if err := items.Fill(ids); err != nil {
				return err
			}
			for i, id := range ids {
				dst[i] = keyOfID(id.ID())
			}
			dst = dst[len(ids):]
		}
		return nil
	}
}
