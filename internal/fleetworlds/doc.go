// Package fleetworlds makes a fleet of worlds of a made-up game, to try on it what is meant for
// hundreds of worlds: SQLite files, databases of one server, and a config.toml with their names,
// labels, and rules. The game counts its keys from 1 in every world. Some worlds are odd, as
// worlds are: their tables differ, one runs, one is a damaged file, one does not answer.
package fleetworlds
