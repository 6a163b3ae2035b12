// Package fleet is the registry that many worlds share: it binds each server number to
// one world permanently, and refuses a second live copy of a world. It also leases
// ranges of integers to worlds whose games count their keys, each number once, and can
// record where the databases of worlds are.
//
// # Limits
//
// It detects, it does not fence. A world that cannot reach the fleet registry keeps
// running, beside a copy of it, until the connection is back; then one of the two is
// stopped. If the fleet registry can be reached, a copy is refused at its start, or
// stopped at its next report: after Options.Heartbeat, 30 s by default.
//
// A machine that was suspended, or a process that was frozen, may issue IDs and
// write rows until it notices that another process took over: until its next
// renewal in the game's database (a third of gameid.Options.Window, 3.3 s by
// default) or its next report here (30 s). The IDs are unique all the same. If rows
// matter too, check the lease in the transaction that writes them:
// store.Tx.Guard.
package fleet
