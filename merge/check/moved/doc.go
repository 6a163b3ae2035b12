// Package moved says what becomes of keys: the offset of each world and space, and what was
// measured to choose it.
package moved
