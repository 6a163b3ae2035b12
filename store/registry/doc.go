// Package registry keeps, in any database, one row for each server whose IDs
// may be in it: the time up to which IDs are reserved, the process that has the lease,
// and where the server's world came from or went to.
package registry
