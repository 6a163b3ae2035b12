// Package docs has no code: its tests check the links of the documents, run the merges that they show, and count their words.
package docs
