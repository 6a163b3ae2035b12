package gameid

// cycles reads the virtual counter, which every core shares.
func cycles() uint64

// frequency is how often the counter ticks in a second.
func frequency() uint64

// freshCycles is how many ticks a reading of the clock stays good for: 100 µs.
func freshCycles() uint64 { return frequency() / 10_000 }
