// Package sim proves the promises of [mergesafe/gameid.Node] under faults: its
// tests let real nodes live through thousands of simulated worlds.
//
//	go test ./gameid/sim                  a few hundred worlds
//	LONG=1 go test ./gameid/sim           ten thousand, with the counts
//	go test ./gameid/sim -sim.seed 4711   one of them again, with every event in it
//
// A world is made from one number, its seed, and runs in virtual time: the same
// seed gives the same world, event by event. It has a database with the row of
// one server, and processes on several machines that open nodes on it and mint.
//
// # What is simulated
//
//   - Processes are started, also two at the same moment; they mint one by one,
//     in bursts and at the cap of the layout, with several kinds and goroutines;
//     they are closed, are ended by their owner, crash at any moment, also between the write of a
//     reservation and its answer, and restart at once (the crashed one being
//     known to be dead, as on the same machine) or later; they freeze beyond
//     their lease and thaw, while their clocks stop (a suspended machine) or
//     run (SIGSTOP). A goroutine may be held up for long between reading the
//     clock and taking an ID.
//   - Requests to the database are lost, refused, slow, or carried out later
//     than the caller waited, also after it closed or crashed; answers are
//     lost, late or overtaken, or come from a replica that lags. The database
//     cannot be reached for a while.
//   - Wall clocks step by milliseconds to centuries, stop, run fast or slow;
//     so do the time that a process measures and the clock of the database.
//   - The database is restored from an older copy, loses the row or the last
//     claims that it confirmed, or is cloned, also from an older copy, and lives
//     on twice; processes are led from one copy to the other. In half of the
//     worlds with such a fault, no clock is ever wrong.
//
// # What is checked
//
// Every ID of a world is kept. No ID occurs twice. The IDs of a node rise in the
// order of the calls. The time of each is within the ranges that the database had
// granted to its node by then, and is neither before the node's clock nor further
// ahead of it than documented. No range is granted twice, no lease is taken while
// it lasts, no mark is lowered below a time that was used, and none is raised
// further than documented. Every refusal has its type and its reason. No call
// lasts longer than documented. When the faults end, at most one node is alive on
// each database; it mints with the right time, it can be closed, and the next one
// can be opened. An operator may be needed for that only if a wrong clock left a
// lease or a mark far in the future.
//
// A test breaks the node, and the simulated database, in one way after the
// other, and demands that the simulation finds each.
//
// # What the second defence is to save
//
// A database that forgot no longer knows what it granted. For every two ranges
// that overlap because of that, the simulation demands one of three reasons:
//
//   - The process that began earlier reserved after the later one had begun: two
//     live beside each other, until one gets a [mergesafe/gameid.LostError] at
//     its next renewal, which is demanded.
//   - A clock was wrong in this world.
//   - Options.Window had been lowered, and the row no longer told.
//
// IDs that occur twice for these reasons are counted for each reason. Without a
// reason there is not one, nor a range of which they could come.
//
// # What no design saves, and what sees it
//
//   - Two databases that were copied from each other do not know of each other.
//     The merge check sees it (merge.CodeWorldCloned), and counts the IDs that
//     are in both; the simulation runs it on the copies and demands exactly that.
//   - A process whose memory was copied while it ran (a snapshot of a virtual
//     machine, fork) is not simulated. The copies have one token, so the
//     registry cannot tell them apart, and both renew one lease.
//
// # What is not simulated
//
// The SQL of package store; the fleet registry; and the effects that two
// goroutines have on each other between two instructions: a world holds them up
// only when they read the clock. The race detector and the stress tests are for
// these.
package sim
