//go:build linux

package torture

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"

	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/numbers"
)

const (
	rowsSuffix    = "-rows.confirmed"
	numbersSuffix = "-all.numbers"
	numberSize    = 8
)

// takeNumbers takes short numbers, and integer keys, until ctx or the node ends.
func takeNumbers(ctx context.Context, db *store.DB, node *gameid.Node, cfg order, out *teller) {
	sequence, err := numbers.Open(ctx, db.Registry(), cfg.Server, "player", numbers.Options{})
	if err != nil {
		out.report(RowsFailed, err)
		return
	}
	defer sequence.Close()
	keys, err := numbers.OpenKeys[gameid.Node](ctx, db.Registry(), cfg.Server, "player", numbers.KeyOptions{})
	if err != nil {
		out.report(RowsFailed, err)
		return
	}
	defer keys.Close()
	log := openLog(cfg.Log + numbersSuffix)
	repeat(ctx, node, rowsEvery, func() {
		var b []byte
		for range 20 {
			n, err := sequence.Next(ctx)
			if err != nil {
				break // there are more when the database is back
			}
			b = binary.BigEndian.AppendUint64(b, uint64(n))
			if k, err := keys.Next(ctx); err == nil { // no short number of a test is as large
				b = binary.BigEndian.AppendUint64(b, uint64(k))
			}
		}
		log.append(b)
	})
}

// checkNumbers looks for numbers that came twice.
func (w *World) checkNumbers(tally *Tally) {
	w.t.Helper()
	var all []uint64
	w.eachLog(numbersSuffix, numberSize, func(b []byte) { all = append(all, binary.BigEndian.Uint64(b)) })
	slices.Sort(all)
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			if tally.Repeated++; tally.Repeated <= 5 {
				w.t.Errorf("the number %d came twice", all[i])
			}
		}
	}
	tally.Numbers = len(all)
}

// checkConfirmed looks for players that the database confirmed and has not.
func (w *World) checkConfirmed(db *store.DB, tally *Tally) {
	w.t.Helper()
	there := make(map[gameid.ID]bool)
	for _, id := range w.stored(db, "players") {
		there[id] = true
	}
	w.eachLog(rowsSuffix, gameid.Size, func(b []byte) {
		id, err := gameid.FromBytes(b)
		if err != nil {
			w.t.Fatal(err)
		}
		tally.Rows++
		if !there[id] {
			if tally.Lost++; tally.Lost <= 5 {
				w.t.Errorf("the database confirmed the player %s, and has it not", id)
			}
		}
	})
}

// eachLog calls f with each entry of all logs of a kind that is there in full.
func (w *World) eachLog(suffix string, size int, f func([]byte)) {
	w.t.Helper()
	paths, err := filepath.Glob(filepath.Join(w.dir, "*"+suffix))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		for ; len(b) >= size; b = b[size:] {
			f(b[:size])
		}
	}
}
