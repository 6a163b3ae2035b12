// Package naming reads names as people type them: it finds one without regard to case, guesses which known name a
// mistyped one was meant to be, and reads the patterns of names that files and arguments of all tools have.
package naming
