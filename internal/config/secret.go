package config

import (
	"fmt"
	"io"
)

// redacted is what is printed of a Secret.
const redacted = "[redacted]"

// Secret holds a text that must not be printed, such as a DSN with a
// password. However it is printed, logged or marshalled, also inside of
// something else and in an unexported field, the text does not appear. The
// zero Secret is empty.
type Secret struct {
	// Package fmt does not call the methods of unexported fields, but prints
	// pointers in them as numbers.
	text *string
}

// NewSecret returns a Secret that holds text.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal returns the text.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether s holds no text.
func (s Secret) IsZero() bool { return s.Reveal() == "" }

// String returns "[redacted]", or nothing if s is empty.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return redacted
}

// Format prints [Secret.String], whatever the verb is, %#v too.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText returns what [Secret.String] does, so that JSON, TOML, package slog and
// the like do not have the text either.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
