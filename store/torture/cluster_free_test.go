//go:build linux

package torture

import (
	"testing"

	"mergesafe/store"
)

// Processes on all nodes take any free server of a range, at the same instant, and
// are killed and started again: no two have one server, and no ID comes twice.
func TestFreeServers(t *testing.T) {
	if !*wanted {
		t.Skip("it takes minutes and three database servers: LONG=1 go test ./store/torture")
	}
	c := startGalera(t)
	c.createDatabase("game")
	w := NewWorld(t)
	w.Crowd(store.ServerRange{First: 40, Last: 59}, 25, c.dsn(0, "game"), c.dsn(1, "game"), c.dsn(2, "game"))
	w.Check(nil)
}
