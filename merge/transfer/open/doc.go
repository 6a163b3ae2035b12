// Package open opens a database that a merge made: from then on the game may start there.
package open
