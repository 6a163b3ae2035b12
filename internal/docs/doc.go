// Package docs has no code: its tests check the links of the documents.
package docs
