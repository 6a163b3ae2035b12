// Package store keeps a game's rows in MySQL, MariaDB, SQLite or PostgreSQL, in tables
// keyed by [gameid.ID].
//
//	db, err := store.Open(ctx, "sqlite:game.db")          // or store.Wrap(ctx, pool, store.MySQL): the *sql.DB that you have
//	err = db.CreateRegistry(ctx)                          // two small tables; it touches no other
//	node, err := db.OpenNode(ctx, 7, store.NodeOptions{}) // this process is server 7; a second one is refused
//	defer node.Close()
//
//	_, err = db.Exec(ctx, "CREATE TABLE players (id BINARY(10) PRIMARY KEY, name TEXT)")
//	players := gameid.NewGenerator[Player](node) // Player: any type of the game
//	aria, err := players.Next()                  // gameid.Of[Player]: does not compile where an item's ID belongs
//	bob, err := players.Next()
//	_, err = db.Exec(ctx, "INSERT INTO players (id, name) VALUES (?, ?), (?, ?)", aria, "Aria", bob, "Bob")
//	fmt.Println(aria.Server(), aria.Compare(bob)) // prints 7 -1: made by server 7, Aria before Bob
//
// A program imports the package of each database that it uses, which links the driver: mergesafe/store/mysql,
// mergesafe/store/sqlite or mergesafe/store/postgres. Without it [Open] and [Wrap] return an error that says what to import.
//
//	import _ "mergesafe/store/mysql"
//
// A [Table] knows the columns of its rows from their db tags. Its methods take
// a [Session]: a [*DB], where each call is a transaction of its own, or a
// [*Tx]. A game declares each of its tables with [MustTable], in one line; package
// store/starter has some to begin with. [DB.InTx] calls its function again if the
// transaction conflicts with another one.
//
// The example of a trade has a transaction, a key of two columns, and a row of chosen columns.
//
// An existing game passes the pool that it, or its ORM, opened to [Wrap], and its own
// transactions to [DB.WithTx]. Its tables may have any names.
//
// The registry, of package store/registry, is a table of this database. It records the
// times that its servers have reserved for IDs, which makes the IDs unique; see
// [gameid.Reserver].
//
// If many worlds share a fleet registry, of package store/fleet, open the node through
// it. The fleet registry gives each server to one world permanently, and refuses a second live
// copy of a world:
//
//	worlds, err := fleet.Open(fleetDSN) // connects when it is used
//	if err != nil { ... }
//	defer worlds.Close()
//	member, err := worlds.Join(ctx, db.Registry(), 7, store.NodeOptions{}, fleet.Options{Name: "s7", OnChange: logIt})
//	if err != nil { ... } // errors.Is: fleet.ErrNotClaimed, fleet.ErrOtherWorld, fleet.ErrRunning ...
//	defer member.Close()  // and with it the node, member.Node
//
// Numbers, of package store/numbers, are the short numbers that a game shows and
// players read aloud. They are taken in blocks, from the fleet registry or from the
// share of the server.
//
// Mint IDs, and take numbers, before a transaction rather than inside: while a transaction
// is open in SQLite, no other connection can write, not even the registry's.
package store
