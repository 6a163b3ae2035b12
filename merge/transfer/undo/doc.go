// Package undo takes a merge back.
package undo
