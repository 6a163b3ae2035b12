// Package left judges the rows that stay behind, as the operator declares, and the references to them.
package left
