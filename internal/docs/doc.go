// Package docs has no code: its tests check the documents of the repository, and the language of all texts for users.
package docs
