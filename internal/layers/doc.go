// Package layers holds which package of this module may import which: see its test.
package layers
