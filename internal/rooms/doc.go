// Package rooms holds which package of this module may import which: see its test.
package rooms
