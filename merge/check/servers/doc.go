// Package servers judges who made the keys of the databases: servers that share a number, worlds that were cloned, and keys
// with the number of another world.
package servers
