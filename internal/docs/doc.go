// Package docs has no code: its tests hold the documents of the repository to what they say.
package docs
