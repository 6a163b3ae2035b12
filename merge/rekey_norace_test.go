//go:build !race

package merge

const withRace = false
