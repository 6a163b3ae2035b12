package throttle

import (
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/tools/internal/cli"
)

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
