// Package fleet is the registry that many worlds share: it binds each server
// number to one world for good, and refuses a second live copy of a world. It also
// leases ranges of integers to worlds whose games count their keys, each number once, and
// may know where the databases of worlds are.
//
// # Limits
//
// It detects, it does not fence. A world that is cut off from the fleet registry
// runs on, beside a copy of it, for as long as the cut lasts; both are told when
// it ends. Within reach, a copy is refused at its start, or stopped at its next
// report: after Options.Heartbeat, 30 s by default.
//
// A machine that was suspended, or a process that was frozen, may issue IDs and
// write rows until it notices that another process took over: until its next
// renewal in the game's database (a third of gameid.Options.Window, 3.3 s by
// default) or its next report here (30 s). The IDs are unique all the same. Where
// rows matter, check the lease in the transaction that writes them:
// [registry.Registry.Guard].
package fleet
