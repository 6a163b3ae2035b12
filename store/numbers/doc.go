// Package numbers hands out the short numbers that a game shows and players
// read aloud, taken in blocks from a row of a database.
package numbers
