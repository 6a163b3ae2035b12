// Package throttle spares databases that are in use while a tool works on them.
package throttle

import (
	"context"
	"fmt"
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/tools/internal/cli"
)

// Throttle says how far databases are to be spared. The zero Throttle does not
// spare them.
type Throttle struct {
	MaxLoad int           // running threads of a server above which no batch begins; 0: any number
	Pause   time.Duration // before every batch
}

// lookEvery is how often the load of a server is asked for.
const lookEvery = time.Second

// Pauser returns a function to call before every batch. It waits as the Throttle says, or
// until its context ends. It calls load, which asks the server for the number of running
// threads, at most once a second, and calls rests each time that number is above MaxLoad.
// With a MaxLoad, only one goroutine at a time may call the function.
func (t Throttle) Pauser(load func(context.Context) (int, error), rests func(threads int)) func(context.Context) error {
	var looked time.Time
	return func(ctx context.Context) error {
		if err := sleep(ctx, t.Pause); err != nil {
			return err
		}
		if t.MaxLoad == 0 || time.Since(looked) < lookEvery {
			return nil
		}
		for {
			n, err := load(ctx)
			if err != nil {
				return fmt.Errorf("read the load of the server: %w", err)
			}
			looked = time.Now()
			if n <= t.MaxLoad {
				return nil
			}
			rests(n)
			if err := sleep(ctx, lookEvery); err != nil {
				return err
			}
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Flags are -max-load and -pause.
func Flags() []cliv3.Flag {
	return []cliv3.Flag{&cliv3.IntFlag{Name: "max-load"}, &cliv3.DurationFlag{Name: "pause"}}
}

// Of is what the [Flags] on a command line ask for.
func Of(cmd *cliv3.Command) (Throttle, error) {
	t := Throttle{MaxLoad: cmd.Int("max-load"), Pause: cmd.Duration("pause")}
	if cmd.IsSet("max-load") && t.MaxLoad < 1 {
		return t, cli.Usage("-max-load %d: want 1 or more running threads", t.MaxLoad)
	}
	if t.Pause < 0 || t.Pause > time.Minute {
		return t, cli.Usage("-pause %s: want 0s to 1m", t.Pause)
	}
	return t, nil
}
