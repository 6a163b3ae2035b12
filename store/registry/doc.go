// Package registry keeps, in any database, one row for each server whose IDs
// may be in it: up to which time IDs are reserved, which process has the lease,
// and where the server's world came from or went to.
package registry
