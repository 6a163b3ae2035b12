package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// The pictures in docs are what this program draws, well-formed, and small.
func TestPictures(t *testing.T) {
	for name, want := range pictures() {
		got, err := os.ReadFile("../../docs/" + name)
		if err != nil || string(got) != want {
			t.Errorf("docs/%s is not what is drawn (%v): go run ./internal/pictures docs", name, err)
		}
		if len(want) > 8<<10 {
			t.Errorf("%s has %d bytes", name, len(want))
		}
		for d := xml.NewDecoder(strings.NewReader(want)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}
