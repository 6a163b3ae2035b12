package gameid

import "time"

// The layout. It never changes: two worlds with different layouts could
// not be merged. See [ID] for the picture.
const (
	// EraBits, TimeBits, ServerBits and SequenceBits are the widths of the
	// fields of an ID, from the most significant to the least.
	EraBits      = 7
	TimeBits     = 37
	ServerBits   = 20
	SequenceBits = 16

	// Size is the length of an ID in bytes: on disk, on the wire, in memory
	// dumps. TextSize is its length in hexadecimal digits.
	Size     = (EraBits + TimeBits + ServerBits + SequenceBits) / 8
	TextSize = 2 * Size

	// MaxServer is the largest server. The smallest is 1.
	MaxServer ServerID = 1<<ServerBits - 1

	// MaxMillis is the last millisecond that the layout can tell: era and time
	// together, counted from [EpochMillis]. It falls in the year 2582.
	MaxMillis int64 = 1<<(EraBits+TimeBits) - 1

	// EpochMillis is the instant at which era and time are zero,
	// 2025-01-01T00:00:00Z, as milliseconds of Unix time.
	EpochMillis int64 = 1735689600000

	// perMilli is how many IDs one server can have in one millisecond.
	perMilli = 1 << SequenceBits
)

// Epoch returns the instant at which the time of an ID is zero:
// 2025-01-01T00:00:00Z.
func Epoch() time.Time { return time.UnixMilli(EpochMillis).UTC() }

// Last returns the last instant that the layout can hold, to the millisecond.
func Last() time.Time { return TimeOf(MaxMillis) }

// TimeOf returns the instant ms milliseconds after the epoch, in UTC. It is the
// inverse of [MillisOf].
func TimeOf(ms int64) time.Time { return time.UnixMilli(EpochMillis + ms).UTC() }

// MillisOf returns the milliseconds from the epoch to t, rounded down. A time
// that the layout cannot hold is a [*TimeError].
func MillisOf(t time.Time) (int64, error) {
	// Compare as times first: UnixMilli is undefined for far-away years.
	if t.Before(Epoch()) || !t.Before(Last().Add(time.Millisecond)) {
		return 0, &TimeError{Time: t}
	}
	return t.UnixMilli() - EpochMillis, nil
}
