// Package gameworlds fills databases with the rows of made-up game worlds, for tests that compare
// guesses about columns with the true meaning of each column.
package gameworlds
