package gameid_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
)

// A closed node is followed at once, above its last ID and a window ahead of the
// clock, as every node. A crashed one is followed after its lease, beyond all it
// had reserved.
func TestRestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		a := next(t, gameid.NewGenerator[player](n))
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Errorf("Close again: %v", err)
		}
		n = open(t, r, gameid.Options{})
		b := next(t, gameid.NewGenerator[player](n))
		if b.Compare(a) <= 0 || time.Until(b.Time()) > 10*time.Second {
			t.Errorf("%s, after a clean restart at %s %s", a, time.Now(), b)
		}

		r.spoil(errors.New("gone"), nil)
		if err := n.Close(); err == nil || !strings.Contains(err.Error(), "giving back the lease of server 7: gone") {
			t.Errorf("Close without the registry: %v", err)
		}
		r.spoil(nil, nil)
		if _, err := gameid.OpenNode(t.Context(), server, r, gameid.Options{}); err == nil {
			t.Error("the lease was not given back, and yet another node started")
		}
		time.Sleep(15 * time.Second)
		mark := r.claims[len(r.claims)-1].Reserved
		n = open(t, r, gameid.Options{})
		if c := next(t, gameid.NewGenerator[player](n)); c.Millis() <= mark {
			t.Errorf("%s lies within what the crashed node had reserved", c)
		}
	})
}
