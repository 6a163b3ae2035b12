// Package evidence is what a merged database was found to be, as a document: after a merge, or after an undo.
package evidence
