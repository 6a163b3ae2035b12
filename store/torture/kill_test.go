//go:build linux

package torture

import (
	"math/rand/v2"
	"regexp"
	"testing"
	"time"
)

// killLoop kills processes at any moment, while they mint and while they
// start, and starts the next one at once, with its clock set anywhere within
// an hour before and after.
func killLoop(t *testing.T, w *World, dsn string) {
	var opening time.Duration
	for i := range times(8, 400) {
		cfg := config(dsn)
		cfg.Options.MaxSkew = 3 * time.Hour
		if i%3 != 0 { // otherwise the machine's clock, which is read in another way
			cfg.Offset = time.Duration(rand.Int64N(int64(2*time.Hour))) - time.Hour
		}
		start := time.Now()
		p := w.Start(cfg)
		if i%4 == 3 {
			time.Sleep(rand.N(2 * opening)) // not for anything: any moment of its start will do
		} else {
			if e := p.Await(Opened, Refused); e.What != Opened {
				t.Fatalf("a process after one that was killed: %+v", e)
			}
			opening = time.Since(start)
			p.AwaitMore(rand.Int64N(4000) + 1)
		}
		p.Kill()
		w.Fault()
	}
	cfg := config(dsn)
	cfg.Options.MaxSkew = 3 * time.Hour
	p := w.Start(cfg)
	p.AwaitMore(100)
	p.Close()
}

// wrongClock starts processes whose clocks are off by more than the default
// limit: they are refused with both times, and mint nothing.
func wrongClock(t *testing.T, w *World, dsn string) {
	stamp := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
	for _, offset := range []time.Duration{-10 * time.Minute, 10 * time.Minute, 20 * 365 * 24 * time.Hour}[:times(1, 3)] {
		good := w.Start(config(dsn))
		good.Await(Opened)
		good.AwaitMore(100)
		good.Kill()

		cfg := config(dsn)
		cfg.Offset = offset
		p := w.Start(cfg)
		w.Fault()
		e := p.Await(Opened, Refused)
		if e.What != Refused || e.Type != "*gameid.ClockError" {
			t.Fatalf("with a clock off by %s: %+v", offset, e)
		}
		var times []time.Time
		for _, s := range stamp.FindAllString(e.Error, -1) {
			at, err := time.Parse(time.RFC3339, s)
			if err != nil {
				t.Fatal(err)
			}
			times = append(times, at)
		}
		if len(times) != 2 || (times[0].Sub(times[1])-offset).Abs() > time.Minute {
			t.Errorf("with a clock off by %s it says: %s", offset, e.Error)
		}
		p.Wait()
		if n := p.Minted(); n != 0 {
			t.Errorf("a process that was refused minted %d IDs", n)
		}
	}
}
