package main

import (
	"testing"

	"mergesafe/internal/mutant"
)

// Each fault is still one of the source.
func TestFaultsAreThere(t *testing.T) {
	if err := mutant.Check(faults); err != nil {
		t.Error(err)
	}
}
