// Package docs has no code: its tests check the links of the documents, and run the merges that they show.
package docs
