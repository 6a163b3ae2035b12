package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/throttle"
)

// control is what the file PLAN.control says to the process that works on a plan. The process makes the file before its
// first batch, reads it at most once a second, and removes it at its end. Other terminals write it.
type control struct {
	Command string `json:"command"` // that works
	PID     int    `json:"pid"`
	Paused  bool   `json:"paused"`
	Stop    bool   `json:"stop"`
	Limits  limits `json:"limits"`
}

// limits are those of a [throttle.Throttle], as text.
type limits struct {
	MaxLoad int    `json:"max_load"`
	Pause   string `json:"pause"`
	MaxLag  string `json:"max_lag"`
}

func controlFile(plan string) string { return plan + ".control" }

func (l limits) throttle() (t throttle.Throttle, err error) {
	t.MaxLoad = l.MaxLoad
	t.Pause, err = time.ParseDuration(l.Pause)
	if err == nil {
		t.MaxLag, err = time.ParseDuration(l.MaxLag)
	}
	return t, err
}

func limitsOf(t throttle.Throttle) limits {
	return limits{t.MaxLoad, t.Pause.String(), t.MaxLag.String()}
}

func readControl(name string) (c control, err error) {
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	return c, err
}

// write takes the place of the file at once, so that no reader sees half of it.
func (c control) write(name string) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	part := name + ".part"
	if err = os.WriteFile(part, append(text, '\n'), 0o644); err == nil {
		err = os.Rename(part, name)
	}
	if err != nil {
		os.Remove(part) // such as half of it on a full disk
	}
	return err
}

// controlled obeys a control file between batches.
type controlled struct {
	command string
	plan    string
	spare   throttle.Throttle // that holds
	stop    func()            // ends the work, resumable
	changed func(throttle.Throttle)
	waits   func(why string)
	say     func(text string)

	made   bool // the file is there, or cannot be
	looked time.Time
}

// wait is to be called between batches, by one goroutine at a time.
func (c *controlled) wait(ctx context.Context) error {
	name := controlFile(c.plan)
	if !c.made {
		c.made = true
		now := control{Command: c.command, PID: os.Getpid(), Limits: limitsOf(c.spare)}
		if err := now.write(name); err != nil {
			c.say("it cannot be paused or slowed while it runs: " + err.Error())
		}
	}
	const every = time.Second
	for time.Since(c.looked) >= every {
		c.looked = time.Now()
		now, err := readControl(name)
		if err != nil || now.PID != os.Getpid() { // removed, or half of another process
			return nil
		}
		if t, err := now.Limits.throttle(); err == nil && t != c.spare {
			c.spare = t
			c.say("from now on: " + limitWords(t))
			c.changed(t)
		}
		switch {
		case now.Stop:
			c.stop()
			return ctx.Err()
		case !now.Paused:
			return nil
		}
		c.waits("paused; to resume: servermerge resume " + printable.Quoted(c.plan))
		if err := throttle.Sleep(ctx, every); err != nil {
			return err
		}
	}
	return nil
}

func (c *controlled) close() {
	if now, err := readControl(controlFile(c.plan)); err == nil && now.PID == os.Getpid() {
		os.Remove(controlFile(c.plan))
	}
}

// limitWords are limits for people.
func limitWords(t throttle.Throttle) string {
	text := fmt.Sprintf("rests %s before every batch", t.Pause)
	if t.Pause == 0 {
		text = "no rest before a batch"
	}
	if t.MaxLoad > 0 {
		text += fmt.Sprintf(", and while a server runs more than %d threads", t.MaxLoad)
	}
	if t.MaxLag > 0 {
		text += fmt.Sprintf(", and while a replica lags more than %s", t.MaxLag)
	}
	return text
}

func controlCommands() []*cliv3.Command {
	command := func(name, help string, change func(*cliv3.Command, *control) (string, error), flags ...cliv3.Flag) *cliv3.Command {
		return &cliv3.Command{Name: name, Description: help, Flags: append(flags, databases.ConfigFlag()), Action: func(_ context.Context, cmd *cliv3.Command) error {
			return steer(cmd, change)
		}}
	}
	return []*cliv3.Command{
		command("pause", helpPause, func(_ *cliv3.Command, c *control) (string, error) {
			c.Paused = true
			return "rests before its next batch", nil
		}),
		command("resume", helpResume, func(_ *cliv3.Command, c *control) (string, error) {
			c.Paused = false
			return "goes on", nil
		}),
		command("stop", helpStop, func(_ *cliv3.Command, c *control) (string, error) {
			c.Stop = true
			return "stops before its next batch; the same command resumes it", nil
		}),
		command("limit", helpLimit, limit, append(throttle.Flags(), lagFlag())...),
	}
}

func lagFlag() cliv3.Flag { return &cliv3.DurationFlag{Name: "max-lag"} }

// limit takes the flags that are given, and leaves the other limits.
func limit(cmd *cliv3.Command, c *control) (string, error) {
	given, err := throttle.Of(cmd)
	if err != nil {
		return "", err
	}
	t, err := c.Limits.throttle()
	if err != nil {
		return "", err
	}
	if cmd.IsSet("pause") {
		t.Pause = given.Pause
	}
	t.MaxLoad, t.MaxLag = cmp.Or(given.MaxLoad, t.MaxLoad), cmp.Or(given.MaxLag, t.MaxLag)
	c.Limits = limitsOf(t)
	return limitWords(t), nil
}

// steer changes what the control file of a plan says.
func steer(cmd *cliv3.Command, change func(*cliv3.Command, *control) (string, error)) error {
	if cmd.Args().Len() != 1 {
		return cli.Usage("got %s, want the plan that servermerge works on", arguments(cmd))
	}
	plan := cmd.Args().First()
	c, err := readControl(controlFile(plan))
	if errors.Is(err, fs.ErrNotExist) {
		return cli.WithHint(fmt.Errorf("no servermerge works on the rows of %s now", printable.Text(plan)),
			"apply, verify and undo can be steered from their first batch on. For the state: servermerge status "+printable.Quoted(plan))
	}
	if err != nil {
		return err
	}
	does, err := change(cmd, &c)
	if err != nil {
		return err
	}
	if err := c.write(controlFile(plan)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.Root().Writer, "%s of %s (process %d): %s\n", c.Command, printable.Text(plan), c.PID, does)
	return err
}
