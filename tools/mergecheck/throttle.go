package main

import (
	"context"
	"fmt"
	"time"
)

// throttle spares the databases while they are read. The zero throttle does
// not.
type throttle struct {
	maxLoad int           // running threads of a server above which nothing is read; 0: any number
	pause   time.Duration // before every batch
}

// lookEvery is how often the load of a server is asked for.
const lookEvery = time.Second

// pauser returns what a source calls before every batch. load asks its server
// for the number of running threads, and is called only from there. rests is
// told of every look that finds too many of them.
func (t throttle) pauser(load func(context.Context) (int, error), rests func(threads int)) func(context.Context) error {
	var looked time.Time
	return func(ctx context.Context) error {
		if err := sleep(ctx, t.pause); err != nil {
			return err
		}
		if t.maxLoad == 0 || time.Since(looked) < lookEvery {
			return nil
		}
		for {
			n, err := load(ctx)
			if err != nil {
				return fmt.Errorf("look at the load of the server: %w", err)
			}
			looked = time.Now()
			if n <= t.maxLoad {
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
