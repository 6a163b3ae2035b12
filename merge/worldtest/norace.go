//go:build !race

package worldtest

const WithRace = false
