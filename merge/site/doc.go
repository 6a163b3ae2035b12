// Package site tells where databases are: what their addresses say, which server, disk and folder they
// are on, and how much room they take.
//
// An address is a DSN without user and password, so that files, hooks and pages may have it.
package site
