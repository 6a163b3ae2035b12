// Package servers judges who made the keys of the databases: servers that two worlds share, worlds that were cloned, and keys
// that carry the server of another world.
package servers
