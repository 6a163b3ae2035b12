// Package stream reads sorted rows of several databases side by side, and merges them.
package stream
