// Package spaces chooses the new keys of the worlds, and reports what prevents them.
package spaces
