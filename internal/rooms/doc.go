// Package rooms holds the layout of this repository against the arrows that
// its rooms may have: see its test.
package rooms
