package gameid_test

import (
	"testing"

	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
)

func TestMemory(t *testing.T) {
	registries := make(map[*testing.T]*gameidtest.Memory)
	gameidtest.TestReserver(t, func(t *testing.T) gameid.Reserver {
		if registries[t] == nil {
			registries[t] = gameidtest.NewMemory()
		}
		return registries[t]
	})
}
