// Package change is what becomes of a row on its way: new keys and names, cleared references.
package change
