// Package numbers hands out the short numbers that a game shows and players
// read aloud, taken in blocks from a row of a database. In the same way it hands
// out integer keys for columns that are BIGINT, which carry their server.
package numbers
