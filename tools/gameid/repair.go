package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/printable"
	"mergesafe/tools/internal/cli"
)

func repairCommand(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "repair-mark",
		Description: `
Usage: gameid servers repair-mark -server SERVER [-to TIME]
                                  [-apply -reason TEXT] [-max-clock-skew TIME]
                                  [-fleet DSN] [-config FILE] DATABASE

Lowers the mark of a server, the time up to which it may have used IDs. A server
whose mark is in the far future refuses to start. A clock that was far ahead
leaves such a mark. Set the clock right first.

Without -apply the command changes nothing: it reads every column of the
database that may hold IDs, and shows the choices. With -apply it lowers the
mark to the present, but never below the largest ID of the server that it found.
The server must not run. A world that is bound in a fleet registry has a mark
there as well, which is lowered too, unless this database is an older copy of
its world: then IDs may exist that are not in its tables.

It cannot see IDs of rows that were deleted since, or that are kept only
elsewhere, such as in logs, in other databases, or as text. IDs that were issued
by the broken clock carry a time in the future, and could be issued again when
that time comes. If that matters, claim a new server for the world instead.

If rows with times of the far future exist, lowering the mark does not help. The
choices are shown: wait, allow the server a larger clock skew, delete the rows,
or claim a new server.

With -to it raises the mark to that time, so that the IDs of the server begin
after it, and searches no tables. It is for a database that was restored from an
older copy, when a clock was or is wrong: the server may have used times since
that copy that are still to come by the clock with which it starts now. Raise
the mark by as much as the clocks may have differed. A world in a fleet registry
does not need that: the mark in the fleet registry counts too.

The exit code is 1 if the server cannot start, even with -apply.

Flags:
  -server SERVER         the server
  -to TIME               raise the mark to this: 2026-11-21T04:00:00Z
  -apply                 do it
  -reason TEXT           with -apply: what happened
  -max-clock-skew TIME   how far in the future a mark may be (default 5m), as
                         the game server is configured` + fleetHelp + `
Examples:
  gameid servers repair-mark sqlite:data/s7.db -server 7
  gameid servers repair-mark s7 -server 7 -apply -reason "BIOS clock in 2099"`,
		Flags: worldFlags(fleetFlag(), &ucli.StringFlag{Name: "to"}, &ucli.StringFlag{Name: "reason"}, &ucli.DurationFlag{Name: "max-clock-skew", Value: 5 * time.Minute}),
		Action: func(ctx context.Context, cmd *ucli.Command) error {
			options, err := skew(cmd)
			if err != nil {
				return err
			}
			var to time.Time
			if cmd.IsSet("to") {
				if to, err = time.Parse(time.RFC3339, cmd.String("to")); err != nil {
					return cli.Usage("-to is %q: want a time such as 2026-11-21T04:00:00Z", cmd.String("to"))
				}
			}
			return withWorld(ctx, cmd, env, func(w world) error {
				if cmd.IsSet("to") {
					return raiseMark(ctx, cmd.Root().Writer, w, to, options)
				}
				plan, err := fleet.PlanMark(ctx, w.registry, w.fleet, w.server, options)
				if err != nil {
					return err
				}
				if w.apply && plan.Useful() {
					if err := fleet.LowerMark(ctx, w.registry, w.fleet, plan, w.note); err != nil {
						return err
					}
				}
				return printPlan(cmd.Root().Writer, plan, w.apply)
			})
		},
	}
}

// raiseMark is what -to does.
func raiseMark(ctx context.Context, out io.Writer, w world, to time.Time, options gameid.Options) error {
	if !w.apply {
		_, err := fmt.Fprintf(out, "Nothing was changed: -apply -reason TEXT raises the mark of server %s to %s, unless it is later.\n", w.server, printable.Time(to))
		return err
	}
	raised, err := w.registry.RaiseMark(ctx, w.server, to, options)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "The mark of server %s is %s: its next IDs come after that time.\n", w.server, mark(raised))
	return err
}

func printPlan(w io.Writer, p *fleet.MarkPlan, applied bool) error {
	fmt.Fprintf(w, "Server %s\n", p.Server)
	line := func(what, format string, args ...any) { fact(w, what, format, args...) }
	after := func(at time.Time) string {
		if !at.After(p.Now) {
			return printable.Time(at)
		}
		return fmt.Sprintf("%s, %s in the future", printable.Time(at), span(p.Now, at))
	}
	markAt := func(ms int64) string {
		if ms <= 0 {
			return mark(ms)
		}
		return after(gameid.TimeOf(ms))
	}
	line("now", "%s, by the clock of the database", printable.Time(p.Now))
	line("mark", "%s", markAt(p.Mark))
	if p.FleetMark > 0 {
		line("fleet registry", "%s", markAt(p.FleetMark))
	}
	largest := p.Largest()
	if largest.Largest.IsValid() {
		line("largest ID", "%s in %s.%s, of %s", largest.Largest, shown(largest.Table), shown(largest.Column), after(largest.Largest.Time()))
	} else {
		line("largest ID", "none found")
	}
	line("searched", "%d columns that may hold IDs", len(p.Columns))
	for _, c := range p.Columns {
		if c.Late > 0 {
			line("future IDs", "%s in %s.%s", printable.Number(c.Late), shown(c.Table), shown(c.Column))
		}
	}
	fmt.Fprintln(w)
	lowered := printable.Time(gameid.TimeOf(p.Lowered))
	switch {
	case !p.Late():
		fmt.Fprintf(w, "Nothing prevents the server from starting: no mark and no ID is more than %s in the future.\n", p.Limit)
		return nil
	case p.Useful() && applied:
		fmt.Fprintf(w, "The mark was lowered to %s.\n", lowered)
	case p.Useful():
		fmt.Fprintf(w, "The mark can be lowered to %s. Nothing was changed: -apply -reason TEXT does it.\n", lowered)
		fmt.Fprintln(w, "IDs with later times that are no longer in these tables could then be issued again: see -h.")
	}
	if p.Enough() {
		return nil
	}
	limit := gameid.TimeOf(p.Lowered).Add(-p.Limit)
	if p.OlderCopy && gameid.TimeOf(p.FleetMark).Sub(p.Now) > p.Limit {
		fmt.Fprintln(w, `The fleet registry has seen more changes of the world than this database, so IDs may exist that are not in
it, and the mark in the fleet registry is not lowered. If there is a newer copy of the database, repair the mark with that.
Otherwise, the choices are:`)
	} else {
		fmt.Fprintln(w, `That is not enough for the server to start: rows with times in the far future exist. The choices are:`)
	}
	fmt.Fprintf(w, "  - wait until %s;\n", printable.Time(limit))
	if at := gameid.TimeOf(p.Lowered); at.Sub(p.Now) < math.MaxInt64 { // the longest that the flag takes is 292 years
		fmt.Fprintf(w, "  - start the game server with a -max-clock-skew of %s or more: all its IDs then have times from %s on;\n", span(p.Now, at), lowered)
	}
	if largest.Late > 0 {
		fmt.Fprintln(w, "  - delete those rows, or give them other IDs together with everything that refers to them; then run this command again;")
	}
	fmt.Fprintln(w, `  - claim a new server for the world ("gameid servers claim"): the rows keep their IDs, and new ones get correct times.`)
	return cli.Conflicts
}

// span writes the time between two instants, which may be longer than a
// time.Duration can hold, in a way that people can read.
func span(from, to time.Time) string {
	const day = 24 * 60 * 60
	if seconds := to.Unix() - from.Unix(); seconds >= 2*day {
		days := (seconds + day - 1) / day
		return strconv.FormatInt(days*24, 10) + "h (" + printable.Number(days) + " days)"
	}
	return (to.Sub(from) + time.Second - 1).Truncate(time.Second).String()
}
