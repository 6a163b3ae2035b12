// Package gameid makes and reads IDs that survive a server merge: two game
// servers never issue the same [ID], so the rows of their databases can be
// put into one without a collision.
//
//	node, err := gameid.OpenNode(ctx, 7, gameidtest.NewMemory(), gameid.Options{}) // a game: db.OpenNode of package store
//	defer node.Close()
//
//	mounts := gameid.NewGenerator[Mount](node) // Mount: any type of the game
//	first, err := mounts.Next()                // a gameid.Of[Mount]
//	herd := make([]gameid.Of[Mount], 1000)
//	err = mounts.Fill(herd)
//	fmt.Println(first.Server(), first.Compare(herd[0]), herd[0].Compare(herd[999])) // prints 7 -1 -1: they sort by time
//
// A running game server is a [Node]. It mints through one [Generator] for each kind of
// entity. It uses only times that it has reserved in a registry before (see
// [Reserver]), so its IDs stay unique through crashes, restarts, wrong clocks, and processes
// that are started twice. This package imports only the standard library and uses no database; package
// store has a registry in the game's own database.
//
// IDs rise with time and name their server. If players must not learn that, for
// instance from URLs, show them the [Opaque] form that a [Cipher] makes.
package gameid
