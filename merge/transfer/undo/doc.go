// Package undo takes a merge out of its target again.
package undo
