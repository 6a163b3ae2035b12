// Package worldregistry is the table of the servers whose IDs may be in a database: the time
// up to which each has reserved IDs, the process that has its lease or the fence of a merge, and the
// generation of its world. A game uses it through package store/registry.
package worldregistry
