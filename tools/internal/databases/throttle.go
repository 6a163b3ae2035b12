package databases

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
	MaxLag  time.Duration // of a replica above which no batch begins; 0: any
}

// lookEvery is how often the load of a server is asked for.
const lookEvery = time.Second

// Pauser returns a function to call before every batch. It waits as the Throttle says, or
// until its context ends. It calls load, which asks the server for the number of running
// threads, at most once a second, and calls rests each time that number is above MaxLoad.
// With a MaxLoad, only one goroutine at a time may call the function.
func (t Throttle) Pauser(load func(context.Context) (int, error), rests func(threads int)) func(context.Context) error {
	wait := until(func(ctx context.Context) (bool, error) {
		n, err := load(ctx)
		if err != nil {
			return false, fmt.Errorf("read the load of the server: %w", err)
		}
		if n > t.MaxLoad {
			rests(n)
		}
		return n <= t.MaxLoad, nil
	})
	return func(ctx context.Context) error {
		if err := sleep(ctx, t.Pause); err != nil || t.MaxLoad == 0 {
			return err
		}
		return wait(ctx)
	}
}

// Follower returns a function to call before every batch that waits, or until its context ends, while a replica lags more
// than MaxLag. It calls lag at most once a second, and calls rests each time that is too much, or not known: err says why.
// Only one goroutine at a time may call the function.
func (t Throttle) Follower(
	lag func(context.Context) (time.Duration, error), rests func(lag time.Duration, err error),
) func(context.Context) error {
	return until(func(ctx context.Context) (bool, error) {
		behind, err := lag(ctx)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		fine := err == nil && behind <= t.MaxLag
		if !fine {
			rests(behind, err)
		}
		return fine, nil
	})
}

// until returns a function that waits until look finds that all is fine, once a second.
func until(look func(context.Context) (fine bool, err error)) func(context.Context) error {
	var looked time.Time
	return func(ctx context.Context) error {
		for time.Since(looked) >= lookEvery {
			fine, err := look(ctx)
			if err != nil {
				return err
			}
			looked = time.Now()
			if fine {
				break
			}
			if err := sleep(ctx, lookEvery); err != nil {
				return err
			}
		}
		return nil
	}
}

// sleep waits so long, or until its context ends.
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
	if t.MaxLag = cmd.Duration("max-lag"); cmd.IsSet("max-lag") && (t.MaxLag < time.Second || t.MaxLag > time.Hour) {
		return t, cli.Usage("-max-lag %s: want 1s to 1h", t.MaxLag)
	}
	if cmd.IsSet("max-load") && t.MaxLoad < 1 {
		return t, cli.Usage("-max-load %d: want 1 or more running threads", t.MaxLoad)
	}
	if t.Pause < 0 || t.Pause > time.Minute {
		return t, cli.Usage("-pause %s: want 0s to 1m", t.Pause)
	}
	return t, nil
}
