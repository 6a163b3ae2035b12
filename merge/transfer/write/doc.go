// Package write writes rows of a merge to its target and removes them, in batches that save a checkpoint.
package write
