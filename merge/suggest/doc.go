// Package suggest proposes which worlds of a fleet to merge, and says why.
package suggest
