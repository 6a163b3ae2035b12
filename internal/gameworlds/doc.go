// Package gameworlds fills databases with the rows of made-up game worlds, for tests that judge guesses about columns by what is true.
package gameworlds
