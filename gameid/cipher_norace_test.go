//go:build !race

package gameid_test

const underRace = false
