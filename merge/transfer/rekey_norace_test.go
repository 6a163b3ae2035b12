//go:build !race

package transfer

const withRace = false
