package numbers

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"mergesafe/internal/sqldb"
	"mergesafe/number"
)

// Options tune a sequence of numbers. The zero value is right for most
// games.
type Options struct {
	// CheckDigit adds a check digit to the end of each number, so that a mistyped number
	// is refused: see [number.ParseChecked]. It cannot be changed after the sequence was
	// begun; otherwise a number could be handed out twice.
	CheckDigit bool

	// Start is the lowest number. It has no effect if the sequence is past it. Default
	// 1; with a fleet registry, 10000000 gives all players numbers of 8 digits for a
	// long time.
	Start number.Number

	// Reserved reports which numbers must not be handed out, such as [number.Pretty].
	// It is called for each number, by many goroutines at once. If it reserves
	// 100,000 numbers in a row, Next returns an error.
	Reserved func(number.Number) bool

	// InUse returns the greatest number from first to last that the game's
	// tables hold, or 0. It is called when the sequence is opened, and numbers continue
	// after its result. So it does no harm if the row of the sequence was lost, or restored from
	// a backup that is older than that of the game's tables. For players it is starter.Players.NumbersIn(db).
	InUse func(ctx context.Context, first, last number.Number) (number.Number, error)

	// MinBlock and MaxBlock bound how many numbers are taken at once. Defaults
	// 20 and 100000, at most 10000000.
	MinBlock, MaxBlock int

	// BlockTime is how long a block should last, at the rate at which numbers are used.
	// The sequence can do without the database for about that long, and a crash loses
	// about that many numbers. Default 10 minutes.
	BlockTime time.Duration

	// Timeout bounds each attempt to take a block. Default 10 s, which is
	// longer than SQLite waits for the lock of another writer.
	Timeout time.Duration
}

func (o Options) withDefaults(name string) (Options, error) {
	if o.MinBlock == 0 {
		o.MinBlock = 20
		if o.MaxBlock > 0 {
			o.MinBlock = min(o.MinBlock, o.MaxBlock)
		}
	}
	if o.MaxBlock == 0 {
		o.MaxBlock = max(100_000, o.MinBlock)
	}
	o.BlockTime = cmp.Or(o.BlockTime, 10*time.Minute)
	o.Timeout = cmp.Or(o.Timeout, 2*sqldb.BusyTimeout)
	const most, longest = 10_000_000, 64
	switch {
	case name == "" || utf8.RuneCountInString(name) > longest || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return o, fmt.Errorf("store: the name %.80q is not allowed for a sequence of numbers: want 1 to %d characters without control characters", name, longest)
	case o.Start < 0 || o.Start > number.Max:
		return o, fmt.Errorf("store: numbers.Options.Start is %d, want 1 to %d", int64(o.Start), int64(number.Max))
	case o.MinBlock < 1 || o.MinBlock > o.MaxBlock || o.MaxBlock > most:
		return o, fmt.Errorf("store: numbers.Options.MinBlock is %d and MaxBlock %d, want 1 <= MinBlock <= MaxBlock <= %d", o.MinBlock, o.MaxBlock, most)
	case o.BlockTime < 0:
		return o, fmt.Errorf("store: numbers.Options.BlockTime is %s, want more than 0", o.BlockTime)
	case o.Timeout < 0:
		return o, fmt.Errorf("store: numbers.Options.Timeout is %s, want more than 0", o.Timeout)
	}
	return o, nil
}
