// Package rowio reads, writes, pages and sums the rows of one table.
package rowio
