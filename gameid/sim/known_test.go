package sim

// What the node does not keep yet. The simulation looks the other way where
// one of these is true; each becomes false, and goes, when the node keeps it.
const (
	// OpenNode goes by the wall clock as it was before it read the registry, and
	// compares that and the one after it. A clock that is set in between may
	// pass although it is years off (seed 2002), or be refused although it is
	// right (seed 4001), and what is reserved goes by the old one (seed 4).
	opensByFirstReading = false

	// A node that is closed, or has lost its lease, while it is also to reserve
	// more, chooses at random between the two. So Close may have to wait for more
	// calls than documented (seed 12052), a node that has ended may ask once more
	// (seed 3971), and a world need not be the same twice.
	choosesAtRandom = false
)
