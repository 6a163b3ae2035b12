// Package build makes the new database of a plan, opens it, and takes it back.
//
// Apply fences the worlds, copies their rows, and resumes if it was interrupted. Open is given the proof, and lets
// the game in. Undo drops what Apply made.
package build
