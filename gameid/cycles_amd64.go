package gameid

// cycles reads the time-stamp counter.
func cycles() uint64

// freshCycles is how many cycles a reading of the clock stays good for: 131 µs
// at 1 GHz, less on a faster machine.
func freshCycles() uint64 { return 1 << 17 }
