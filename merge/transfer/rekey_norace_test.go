//go:build !race

package transfer

const withRace = false

const rekeyCasesByDefault = 100
