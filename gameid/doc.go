// Package gameid makes and reads IDs that survive a server merge: two game
// servers never issue the same [ID], so the rows of their databases can be
// put into one without a collision.
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
