// Package check carries out the rules over several databases and concludes their verdicts.
package check
