package main

import (
	"context"
	"fmt"
	"io"
	"time"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/internal/fleet"
	"mergesafe/internal/printable"
	"mergesafe/internal/worldregistry"
	"mergesafe/tools/internal/cli"
)

func releaseCommand(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "release",
		Description: `
Usage: gameid servers release -server SERVER [-apply -reason TEXT] [-watch TIME]
                              [-fence MERGE] [-fleet DSN] [-config FILE]
                              DATABASE

Ends the lease of a process that is gone, so that its server can start again.
A lease runs out by itself: by default after 15 seconds in the database of the
world, and after 90 in the fleet registry. It lasts for years only if the clock
of that database was far ahead when the lease was taken. Set that clock right
first.

Without -apply the command changes nothing, and shows which process has the
lease. With -apply it first watches for a minute. It gives up if the process
renews its lease, or is seen to run on this machine. If the process is still
alive, for example frozen, no ID is repeated: it stops minting when it learns
that its lease is gone. The times that it had reserved stay reserved.

A fence is not a lease of a process. A merge put it there because the world
continues in another database, and players must not play in a second copy of
it. A fence never ends by itself, and this command refuses to end it.
"servermerge undo" takes the merge back and lifts the fence. If the new database
is not there, it has no record of the merge: undo then prints this command with
-fence MERGE, the ID of the merge, for each fenced world. Use it only then, and
only if the new database is lost permanently, so that this one is the only copy
of the world. If the new database still exists after all, every player then
exists twice, and after any row has changed here the merge can neither be
resumed nor undone. Even then no ID is repeated.

The new database of a merge is fenced too, until it is opened. The ways out are
"servermerge apply PLAN", then verify and open, and "servermerge undo PLAN". If
a server is started before that, it leaves rows that block the opening: the
merge must be undone and planned again.

A world that is bound in a fleet registry has a lease there as well. This
command ends both.

A process that was frozen within a transaction keeps the row of the server
locked, also after its lease has ended. This command then names the connection
to the database, or with SQLite on Linux the process, and how to end it. To find
that out it waits for the lock, up to half a second. MySQL wants the right to
UPDATE for that. The connection is named if the account has the right PROCESS
(on MySQL without SELECT on performance_schema, with others that have locks).

Flags:
  -server SERVER   the server
  -apply           do it
  -reason TEXT     with -apply: what happened; kept in the fleet registry
  -watch TIME      how long to watch first (default 1m): longer than a third of
                   the server's window, and than its heartbeat
  -fence MERGE     with -apply: lift the fence of this merge, whose new database
                   is lost permanently` + fleetHelp + `
Examples:
  gameid servers release sqlite:data/s7.db -server 7
  gameid servers release s7 -server 7 -apply -reason "clock of db1 in 2099"`,
		Flags: worldFlags(fleetFlag(), &ucli.StringFlag{Name: "reason"}, &ucli.StringFlag{Name: "fence"}, &ucli.DurationFlag{Name: "watch", Value: time.Minute}),
		Action: func(ctx context.Context, cmd *ucli.Command) error {
			watch := cmd.Duration("watch")
			if watch <= 0 {
				return cli.Usage("-watch is %s: want more than 0", watch)
			}
			return withWorld(ctx, cmd, env, func(w world) error {
				leases, err := fleet.FindLeases(ctx, w.registry, w.fleet, w.server)
				if err != nil {
					return err
				}
				out := cmd.Root().Writer
				printLeases(out, leases)
				locked, err := w.registry.RowLock(ctx, w.server)
				if err != nil && w.apply {
					return err
				} else if err != nil {
					fact(out, "row", "whether a transaction keeps it locked is unknown: %v", err)
				}
				if fence, fenced := leases.Fence(); fenced && locked == "" {
					return releaseFence(ctx, out, w, fence, cmd.String("fence"))
				}
				switch {
				case locked != "" && w.apply:
					return fmt.Errorf("the row of server %s is %s", w.server, locked)
				case locked != "":
					_, err = fmt.Fprintf(out, "The server cannot start, and its lease cannot be ended: its row is %s.\n", locked)
					return err
				case cmd.IsSet("fence"):
					return fmt.Errorf("server %s is not fenced: leave -fence out", w.server)
				case !leases.Held():
					_, err = fmt.Fprintln(out, "No process has the lease, so it does not prevent the server from starting.")
					return err
				case !w.apply:
					_, err = fmt.Fprintln(out, "Nothing was changed. If that process has certainly ended, -apply -reason TEXT ends the lease; or wait until the lease runs out.")
					return err
				}
				cli.LogOf(cmd).Sayf("watching for %s whether the process renews its lease", watch)
				if err := fleet.EndLeases(ctx, w.registry, w.fleet, leases, watch, w.note); err != nil {
					return err
				}
				_, err = fmt.Fprintln(out, "The lease was ended: the server can start.")
				return err
			})
		},
	}
}

// releaseFence ends a fence if merge names it.
func releaseFence(ctx context.Context, out io.Writer, w world, fence worldregistry.Fence, merge string) error {
	switch {
	case merge != "" && merge != fence.Merge:
		return fmt.Errorf("-fence is %q: server %s is fenced by the merge %q", merge, w.server, fence.Merge)
	case !w.apply && fence.Here:
		_, err := fmt.Fprint(out, "Nothing was changed. \"servermerge apply PLAN\" resumes the merge, and \"servermerge undo PLAN\" undoes it: both lift the fence.\n"+
			"If the plan of that merge is lost permanently, or this database was restored, see -fence in -h.\n")
		return err
	case !w.apply:
		_, err := fmt.Fprintf(out, "Nothing was changed. The world continues in %s: \"servermerge undo\" undoes the merge and lifts the fence.\n"+
			"If the new database of that merge is lost permanently, see -fence in -h.\n", shown(fence.Into))
		return err
	case merge == "":
		return fmt.Errorf("%w; if its new database is lost permanently, see -fence in: gameid servers release -h", &worldregistry.FencedError{Server: w.server, Fence: fence})
	}
	if err := w.registry.LiftFence(ctx, w.server, merge); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "The fence was lifted: the server can start. Do not resume that merge.")
	return err
}

func printLeases(w io.Writer, l *fleet.Leases) {
	fmt.Fprintf(w, "Server %s\n", l.Server)
	one := func(where string, l *fleet.Lease) {
		fence, fenced := worldregistry.FenceOf(l.Holder)
		switch {
		case fenced && fence.State != worldregistry.FenceMerging:
			fact(w, where, "fenced: %s", printable.Text(fence.String()))
		case fenced && fence.Here:
			fact(w, where, "fenced: the merge %s is being carried out in this database, since %s", shown(fence.Merge), printable.Time(fence.Since))
		case fenced:
			fact(w, where, "fenced: the world went to %s by the merge %s, on %s", shown(fence.Into), shown(fence.Merge), printable.Time(fence.Since))
		case l.Holder.IsZero():
			fact(w, where, "no process has the lease")
		case !l.Held():
			fact(w, where, "the lease ended on %s, of %s", printable.Time(l.Until), holder(l.Holder))
		default:
			fact(w, where, "the lease lasts until %s, %s from now, of %s", printable.Time(l.Until), span(l.Now, l.Until), holder(l.Holder))
		}
		if l.Place != "" {
			fact(w, "", "with the database %s", shown(l.Place))
		}
	}
	one("database", &l.Own)
	if l.Fleet != nil {
		one("fleet registry", l.Fleet)
	}
	fmt.Fprintln(w)
}
