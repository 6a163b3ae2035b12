// Package garbage decides how much garbage a program may have before it is
// collected.
package garbage

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Allowance is how many bytes of garbage our programs have: few beside what they
// keep when they keep much, and enough for the collector to rest meanwhile.
const Allowance = 12 << 20

// Allow makes the collector run whenever about so many bytes were allocated since the
// last time, however much is live. By default Go waits until as much was
// allocated as is live: a program that streams rows has little that is live and
// would collect all the time, and one that keeps large sets would take twice their
// size. It does nothing if the environment says by GOGC what is wanted. It is called
// once, when a program begins.
func Allow(bytes uint64) {
	if os.Getenv("GOGC") == "" {
		pace(bytes)
	}
}

// smallest is the heap below which the collector takes less to be live for as much: the
// percentage counts for that too.
const smallest = 4 << 20

// pace sets the percentage that allows so much beside what is live, and does it again
// after the next collection.
func pace(bytes uint64) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(int(max(1, bytes*100/max(smallest, live[0].Value.Uint64()))))
	runtime.AddCleanup(new(sentinel), pace, bytes)
}

// sentinel is garbage at once, so that the next collection notices it. It has a pointer: what has
// none may share its memory with something that stays.
type sentinel struct{ _ *sentinel }
