// Package store keeps a game's rows in MySQL, MariaDB, SQLite or PostgreSQL, in tables
// keyed by [gameid.ID].
//
//	db, err := store.Open(ctx, "sqlite:data/s1.db") // or "mysql:game:secret@tcp(db1:3306)/s1"
//	if err != nil { ... }
//	defer db.Close()
//	if err := db.CreateRegistry(ctx); err != nil { ... }
//	if err := starter.Create(ctx, db); err != nil { ... } // or the game's own tables
//
//	node, err := db.OpenNode(ctx, 7, store.NodeOptions{}) // this process is server 7
//	if err != nil { ... }
//	defer node.Close()
//	players, items := gameid.NewGenerator[entity.Player](node), gameid.NewGenerator[entity.Item](node)
//
//	hero := entity.Player{Account: "acc-1", Name: "Aria", Level: 1, ...}
//	hero.ID, err = players.Next()
//	...
//	err = db.InTx(ctx, func(tx *store.Tx) error {
//		if err := starter.Players.Insert(ctx, tx, hero); err != nil {
//			return err
//		}
//		return starter.Items.Insert(ctx, tx, loot...)
//	})
//	switch {
//	case errors.Is(err, store.ErrDuplicate): // the name is taken
//	case errors.Is(err, store.ErrUnavailable): // the database cannot be reached
//	}
//	hero, err = starter.Players.ByName(ctx, db, "aria")
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
//	err = db.InTx(ctx, func(tx *store.Tx) error {
//		paid, err := starter.Players.UpdateWhere(ctx, tx, "gold = gold - ?", "id = ? AND gold >= ?", price, hero.ID, price)
//		if err == nil && paid == 0 {
//			err = errPoor
//		}
//		return err
//	})
//
// The program examples/gameserver has a trade between two players.
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
