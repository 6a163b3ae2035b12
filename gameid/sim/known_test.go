package sim

// What the node does not keep yet. The simulation looks the other way where
// one of these is true; each goes as soon as the node keeps it.
const (
	// OpenNode goes by the wall clock as it was before it asked the registry,
	// but compares it with the registry's as it was after. A clock that is set
	// right in between passes, and the wrong time is reserved: seed 249.
	opensByFirstReading = true

	// A node that is closed, or that has lost its lease, while it is also to
	// reserve more, chooses at random between the two. So Close may have to wait
	// for more than one call, and a world may not be the same twice. Seed 2.
	choosesAtRandom = true
)
