package clitest

import "bytes"

// Screen takes down what is written to it, and tells when something was. Read
// Text when nobody writes.
type Screen struct {
	Text  bytes.Buffer
	Wrote chan bool
}

// NewScreen returns a Screen for up to 100 writes that nobody waits for.
func NewScreen() *Screen { return &Screen{Wrote: make(chan bool, 100)} }

// Write implements [io.Writer].
func (s *Screen) Write(p []byte) (int, error) {
	defer func() { s.Wrote <- true }()
	return s.Text.Write(p)
}
