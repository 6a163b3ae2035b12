// Package propose guesses what columns are, from rows that a check reads anyway. A guess never
// changes a verdict.
package propose
