//go:build linux

package torture

import (
	"strings"
	"testing"
)

// twoAtOnce starts two processes with the same configuration at the same
// instant, the first time on a database without tables: one of them gets the
// server, and the other says in one line who has it.
func twoAtOnce(t *testing.T, w *World, dsn string) {
	cfg := config(dsn)
	cfg.Hold = true
	for i := range times(4, 100) {
		a, b := w.Start(cfg), w.Start(cfg)
		a.Await(Ready)
		b.Await(Ready)
		a.Go()
		b.Go()
		w.Fault()
		ofA, ofB := a.Await(Opened, Refused), b.Await(Opened, Refused)
		winner, loser, refusal := a, b, ofB
		if ofA.What == Refused {
			winner, loser, refusal = b, a, ofA
		}
		if ofA.What == ofB.What {
			t.Fatalf("of two that were started at once:\n%+v\n%+v", ofA, ofB)
		}
		if refusal.Type != "*gameid.HeldError" || refusal.Holder.PID != winner.PID || strings.Contains(refusal.Error, "\n") {
			t.Errorf("the winner is %d, and the loser says: %+v", winner.PID, refusal)
		}
		loser.Wait()
		if n := loser.Minted(); n != 0 {
			t.Errorf("the loser minted %d IDs", n)
		}
		winner.AwaitMore(500)
		if i%2 == 0 {
			winner.Close()
		} else {
			winner.Kill()
		}
	}
}
