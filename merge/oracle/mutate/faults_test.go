package main

import (
	"testing"

	"mergesafe/internal/mutant"
	"mergesafe/internal/servertest"
)

// Each fault is still one of the source.
func TestFaultsAreThere(t *testing.T) {
	if err := mutant.Check(faults); err != nil {
		t.Error(err)
	}
}

// Each of them is one that the compiler takes.
func TestFaultsBuild(t *testing.T) {
	servertest.Long(t)
	if err := mutant.Builds(faults); err != nil {
		t.Error(err)
	}
}
