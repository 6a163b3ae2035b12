// Package mapping is what becomes of a row on its way to the new database: new keys and names, cleared
// references; and the way back, from a row of the new database to the world that it came from and to its old keys.
package mapping
