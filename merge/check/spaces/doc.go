// Package spaces chooses the new keys of the sources, and reports what prevents them.
package spaces
