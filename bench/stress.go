package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

// generator is what the stress asks for IDs: a peer, or one of ours, of which
// nothing but the name is a peer's.
type generator struct {
	peer
	ours func(*gameid.Node) mintings // nil for a peer
}

// stress runs every generator, ours several times. It returns a *wrong if one
// of ours breaks its promise.
func stress(ctx context.Context, o options) ([]section, error) {
	list := []generator{
		{peer{name: "mergesafe Next"}, mintNext},
		{peer{name: "mergesafe Fill of 64"}, mintFill},
		{peer{name: "mergesafe Next and Fill of all sizes, two kinds"}, mintMixed},
	}
	libraries, err := peers()
	if err != nil {
		return nil, err
	}
	for _, p := range libraries {
		list = append(list, generator{peer: p})
	}
	title := fmt.Sprintf("Duplicates: %d goroutines, %s IDs a run", stressGoroutines, count(stressIDs))
	return o.measureSection(title, "Order is whether every goroutine saw its IDs rise.", nil, func(m *measuring) {
		keys := make([]key, stressIDs)
		var broken []error
		for _, g := range list {
			if !m.wants(g.name) {
				continue
			}
			o.log("stress: %s", g.name)
			r, err := g.stress(ctx, o.stressRuns, keys)
			if _, ok := errors.AsType[*wrong](err); ok {
				broken = append(broken, err)
			} else {
				m.must(err)
			}
			m.add(r)
		}
		m.must(errors.Join(broken...))
	})
}

// stress returns a *wrong if a generator of ours breaks its promise.
func (g generator) stress(ctx context.Context, runs int, keys []key) (row, error) {
	r := row{what: g.name}
	mint := mintings(g.mint)
	if g.ours == nil {
		runs = 1
	} else {
		node, err := openNode(ctx, gameid.Options{})
		if err != nil {
			return r, err
		}
		defer node.Close()
		mint = g.ours(node)
	}
	if runs > 1 {
		r.what += fmt.Sprintf(", %d runs", runs)
	}
	if g.most > 0 {
		keys = keys[:g.most]
		r.what += fmt.Sprintf(", %s IDs", count(g.most))
	}
	if g.before != nil {
		if err := g.before(); err != nil {
			return r, err
		}
	}
	unordered, duplicates, err := repeat(ctx, runs, keys, mint)
	if err != nil {
		return r, fmt.Errorf("%s: %w", g.name, err)
	}
	r.measured, r.note = duplicatesText(duplicates), order(unordered, runs)
	switch ok := unordered == 0 && duplicates == 0; {
	case g.ours != nil:
		r.goal, r.holds = "0, in order", verdict(ok)
		if !ok {
			return r, &wrong{fmt.Sprintf("%s: %s, %s", g.name, r.measured, r.note)}
		}
	case !g.ordered:
		r.note += ", which it does not promise"
	}
	return r, nil
}

// repeat lets all goroutines mint into the keys, several times, and adds up
// what inspect finds.
func repeat(ctx context.Context, runs int, keys []key, mint mintings) (unordered, duplicates int, err error) {
	pieces := slices.Collect(slices.Chunk(keys, (len(keys)+stressGoroutines-1)/stressGoroutines))
	for range runs {
		if ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
		if _, err := together(len(pieces), func(i int) error { return mint(i, pieces[i]) }); err != nil {
			return 0, 0, err
		}
		u, d := inspect(keys, pieces)
		unordered, duplicates = unordered+u, duplicates+d
	}
	return unordered, duplicates, nil
}

// inspect returns how many goroutines saw an ID that was not greater than
// their own last one, and how many IDs were issued before. It sorts the keys
// and clears those that are left over.
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
	return unordered, len(keys) - len(slices.Compact(keys))
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
	return func(_ int, dst []key) (err error) {
		buf := make([]gameid.Of[player], 64)
		for len(dst) > 0 && err == nil {
			dst, err = fillKeys(g, buf, dst)
		}
		return err
	}
}

// mintMixed mints players and items, one and up to 300 at a time, in turn.
func mintMixed(node *gameid.Node) mintings {
	players, items := mintNext(node), gameid.NewGenerator[item](node)
	return func(goroutine int, dst []key) error {
		buf := make([]gameid.Of[item], 300)
		for size := goroutine; len(dst) > 0; size = (size + 37) % len(buf) {
			err := players(goroutine, dst[:1])
			if err == nil {
				dst, err = fillKeys(items, buf[:size], dst[1:])
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// fillKeys puts new IDs into the beginning of dst, as many as fit the buffer,
// and returns the rest of dst.
func fillKeys[T any](g *gameid.Generator[T], buf []gameid.Of[T], dst []key) ([]key, error) {
	ids := buf[:min(len(buf), len(dst))]
	err := g.Fill(ids)
	for i, id := range ids {
		dst[i] = keyOfID(id.ID())
	}
	return dst[len(ids):], err
}
