package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/gameid"
	"mergesafe/internal/config"
	"mergesafe/store"
	"mergesafe/tools/internal/cli"
)

// fleetHelp is the end of the help of every command here.
const fleetHelp = `
  -fleet DSN     the fleet registry (default: [registry] in the configuration)
  -config FILE   the configuration file (default config.toml)
`

const fleetJSONHelp = fleetHelp + `  -json          print JSON instead
`

// fleetCommands are the commands about the fleet registry.
func fleetCommands(env cli.Env) []*ucli.Command {
	return []*ucli.Command{initCommand(env), claimCommand(env), listCommand(env), showCommand(env), retireCommand(env), rebindCommand(env)}
}

func fleetFlags(more ...ucli.Flag) []ucli.Flag {
	return append(more, fleetFlag(), configFlag())
}

func fleetFlag() ucli.Flag  { return &ucli.StringFlag{Name: "fleet"} }
func configFlag() ucli.Flag { return &ucli.StringFlag{Name: "config", Value: "config.toml"} }

// withFleet opens the fleet registry for f.
func withFleet(cmd *ucli.Command, env cli.Env, f func(*store.Fleet) error) error {
	dsn, err := config.FindRegistry(cmd.String("fleet"), cmd.String("config"), env)
	if err != nil {
		return err
	}
	if dsn.IsZero() {
		return cli.Usage("no fleet registry: want -fleet and a DSN, or a section [registry] in %s", cmd.String("config"))
	}
	fleet, err := store.OpenFleet(dsn.Reveal())
	if err != nil {
		return err
	}
	defer fleet.Close()
	return f(fleet)
}

// by names the person who runs the program.
func by(env cli.Env) string {
	user := "somebody"
	for _, name := range []string{"SUDO_USER", "USER", "LOGNAME", "USERNAME"} {
		if value, ok := env(name); ok && value != "" {
			user = value
			break
		}
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	const most = 255
	return string([]rune(user + "@" + host)[:min(most, len([]rune(user+"@"+host)))])
}

// noArguments returns an error if there are any.
func noArguments(cmd *ucli.Command) error {
	if cmd.Args().Present() {
		return cli.Usage("unexpected argument %q: want flags only", cmd.Args().First())
	}
	return nil
}

// oneServer returns the only argument, a server number.
func oneServer(cmd *ucli.Command) (gameid.ServerID, error) {
	if n := cmd.Args().Len(); n != 1 {
		return 0, cli.Usage("%d server numbers given: want one", n)
	}
	return gameid.ParseServerID(cmd.Args().First())
}

func initCommand(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "init",
		Description: `
Usage: gameid servers init [-fleet DSN] [-config FILE]

Makes the tables of the fleet registry, in a database of its own that is there
already (for SQLite, in a file). Run it once, and again after an upgrade, which
may bring further tables. Two fleet registries would give out the same numbers,
so no other command makes one.

Flags:` + fleetHelp + `
Examples:
  gameid servers init
  gameid servers init -fleet "$FLEET_DSN"`,
		Flags: fleetFlags(),
		Action: func(ctx context.Context, cmd *ucli.Command) error {
			if err := noArguments(cmd); err != nil {
				return err
			}
			return withFleet(cmd, env, func(f *store.Fleet) error {
				if err := f.CreateSchema(ctx); err != nil {
					return err
				}
				servers, err := f.List(ctx)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.Root().Writer, "%q is a fleet registry with %d servers.\n", f, len(servers))
				return err
			})
		},
	}
}

func claimCommand(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "claim",
		Description: `
Usage: gameid servers claim -name NAME [-server NUMBER] [-reason TEXT] [-fleet DSN] [-config FILE] [-json]

Takes a server number for a new world, and prints it. The first world that
starts with the number has it for good: it is never given to another.

Flags:
  -name NAME       what people call the server; no two have the same name
  -server NUMBER   this number (default: the least that was never claimed)
  -reason TEXT     kept in the history of the number` + fleetJSONHelp + `
Examples:
  gameid servers claim -name s7
  gameid servers claim -name s7 -server 7`,
		Flags: fleetFlags(&ucli.StringFlag{Name: "name"}, &ucli.StringFlag{Name: "server"}, &ucli.StringFlag{Name: "reason"}, jsonFlag()),
		Action: func(ctx context.Context, cmd *ucli.Command) error {
			if err := noArguments(cmd); err != nil {
				return err
			}
			if cmd.String("name") == "" {
				return cli.Usage("no name given: want -name and what people call the server")
			}
			var server gameid.ServerID
			if cmd.IsSet("server") {
				var err error
				if server, err = gameid.ParseServerID(cmd.String("server")); err != nil {
					return err
				}
			}
			return withFleet(cmd, env, func(f *store.Fleet) error {
				claimed, err := f.Claim(ctx, cmd.String("name"), server, store.Note{By: by(env), Why: cmd.String("reason")})
				if err != nil {
					return err
				}
				if cmd.Bool("json") {
					return writeJSON(cmd.Root().Writer, fleetObject(claimed))
				}
				_, err = fmt.Fprintf(cmd.Root().Writer, "Server %s is claimed for %s. In its config.toml: [server] number = %[1]s\n", claimed.ID, shown(claimed.Name))
				return err
			})
		},
	}
}

func listCommand(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "list",
		Description: `
Usage: gameid servers list [-fleet DSN] [-config FILE] [-json]

Lists all server numbers that were ever claimed.

  STATE     claimed: no world has used it yet; bound: it belongs to one world;
            retired: it belonged to one, and to none any more
  WORLD     the identity of the world, shortened
  LEASE     held: a process runs, and no copy of its world can start
  SEEN      when the world was last heard of
  HOLDER    the process that has the lease, or had it last
  DATABASE  the one that this process uses or used

Flags:` + fleetJSONHelp + `
Examples:
  gameid servers list
  gameid servers list -json -fleet "$FLEET_DSN"`,
		Flags: fleetFlags(jsonFlag()),
		Action: func(ctx context.Context, cmd *ucli.Command) error {
			if err := noArguments(cmd); err != nil {
				return err
			}
			return withFleet(cmd, env, func(f *store.Fleet) error {
				servers, err := f.List(ctx)
				if err != nil {
					return err
				}
				return printFleet(cmd.Root().Writer, servers, cmd.Bool("json"))
			})
		},
	}
}

func printFleet(w io.Writer, servers []store.FleetServer, asJSON bool) error {
	if asJSON {
		objects := make([]fleetServer, 0, len(servers))
		for _, s := range servers {
			objects = append(objects, fleetObject(s))
		}
		return writeJSON(w, objects)
	}
	if len(servers) == 0 {
		_, err := fmt.Fprintln(w, "No number has been claimed yet.")
		return err
	}
	rows := [][]string{{"SERVER", "NAME", "STATE", "WORLD", "LEASE", "SEEN", "HOLDER", "DATABASE"}}
	for _, s := range servers {
		rows = append(rows, []string{s.ID.String(), shown(s.Name), shown(s.State), shown(short(s.World)),
			fleetLease(s), moment(s.SeenAt), holder(s.Holder), shown(s.Place)})
	}
	return cli.WriteColumns(w, rows)
}

func fleetLease(s store.FleetServer) string {
	if !s.Leased {
		return "-"
	}
	return "held until " + stamp(s.LeaseUntil)
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return stamp(t)
}

func showCommand(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "show",
		Description: `
Usage: gameid servers show [-fleet DSN] [-config FILE] [-json] NUMBER

Shows all that the fleet registry knows of one number, and its history: who
claimed it, when it was bound, and who overrode that and why.

Flags:` + fleetJSONHelp + `
Examples:
  gameid servers show 7`,
		Flags: fleetFlags(jsonFlag()),
		Action: func(ctx context.Context, cmd *ucli.Command) error {
			server, err := oneServer(cmd)
			if err != nil {
				return err
			}
			return withFleet(cmd, env, func(f *store.Fleet) error {
				s, history, err := f.Show(ctx, server)
				if err != nil {
					return err
				}
				return printFleetServer(cmd.Root().Writer, s, history, cmd.Bool("json"))
			})
		},
	}
}

func printFleetServer(w io.Writer, s store.FleetServer, history []store.FleetChange, asJSON bool) error {
	if asJSON {
		o := fleetObject(s)
		o.History = make([]fleetChange, 0, len(history))
		for _, h := range history {
			o.History = append(o.History, fleetChange{h.At, h.Action, h.World, h.By, h.Why})
		}
		return writeJSON(w, o)
	}
	facts := [][]string{
		{"server", s.ID.String()}, {"name", shown(s.Name)}, {"state", shown(s.State)}, {"world", shown(s.World)},
		{"claimed", moment(s.ClaimedAt)}, {"bound", moment(s.BoundAt)}, {"seen", moment(s.SeenAt)},
		{"lease", fleetLease(s)}, {"holder", holder(s.Holder)}, {"database", shown(s.Place)}, {"mark", mark(s.Mark)},
	}
	if err := cli.WriteColumns(w, facts); err != nil {
		return err
	}
	fmt.Fprintln(w)
	rows := [][]string{{"WHEN", "WHAT", "WORLD", "BY", "WHY"}}
	for _, h := range history {
		rows = append(rows, []string{stamp(h.At), shown(h.Action), shown(short(h.World)), shown(h.By), shown(h.Why)})
	}
	return cli.WriteColumns(w, rows)
}

func retireCommand(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "retire",
		Description: `
Usage: gameid servers retire [-reason TEXT] [-fleet DSN] [-config FILE] NUMBER

Ends the use of a number, such as after its world was merged into another. No
world can start with it any more, and it is given to no other. The server must
not run.

Flags:
  -reason TEXT   kept in the history of the number` + fleetHelp + `
Examples:
  gameid servers retire -reason "merged into s3" 7`,
		Flags: fleetFlags(&ucli.StringFlag{Name: "reason"}),
		Action: func(ctx context.Context, cmd *ucli.Command) error {
			server, err := oneServer(cmd)
			if err != nil {
				return err
			}
			return withFleet(cmd, env, func(f *store.Fleet) error {
				if err := f.Retire(ctx, server, store.Note{By: by(env), Why: cmd.String("reason")}); err != nil {
					return err
				}
				_, err := fmt.Fprintf(cmd.Root().Writer, "Server %s is retired.\n", server)
				return err
			})
		},
	}
}

func rebindCommand(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "rebind",
		Description: `
Usage: gameid servers rebind -world WORLD -reason TEXT [-fleet DSN] [-config FILE] NUMBER

Gives a number to the world of that identity, whatever world it belonged to.
It overrides what is otherwise for good: "gameid servers -json DATABASE" shows
the identity of a world. It is meant for

  - a world whose registry row was lost, which gave it a new identity;
  - a number that the wrong database was started with first;
  - a fleet registry that was lost: claim the numbers in the new one, and rebind
    each to its world.

It is not meant for giving a number that was used to a new world: if rows of
the old one are left anywhere, even in a database merged long ago, the two
cannot be told apart any more. Claim a new number instead. The server must not
run; the IDs of the new world begin after the last mark of the old one.

Flags:
  -world WORLD   the identity of the world, 32 hexadecimal digits
  -reason TEXT   why; it is kept in the history of the number` + fleetHelp + `
Examples:
  gameid servers rebind -world 0123456789abcdef0123456789abcdef -reason "registry row lost on 3 May" 7`,
		Flags: fleetFlags(&ucli.StringFlag{Name: "world"}, &ucli.StringFlag{Name: "reason"}),
		Action: func(ctx context.Context, cmd *ucli.Command) error {
			server, err := oneServer(cmd)
			switch {
			case err != nil:
				return err
			case cmd.String("world") == "":
				return cli.Usage("no world given: want -world and its identity, 32 hexadecimal digits")
			case cmd.String("reason") == "":
				return cli.Usage("no reason given: want -reason and why the number goes to another world")
			}
			return withFleet(cmd, env, func(f *store.Fleet) error {
				before, _, err := f.Show(ctx, server)
				if err != nil {
					return err
				}
				if err := f.Rebind(ctx, server, cmd.String("world"), store.Note{By: by(env), Why: cmd.String("reason")}); err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.Root().Writer, "Server %s belongs to the world %s now; before, to %s.\n", server, cmd.String("world"), shown(before.World))
				return err
			})
		},
	}
}

// fleetServer is one number of the fleet in JSON.
type fleetServer struct {
	Server   gameid.ServerID `json:"server"`
	Name     string          `json:"name"`
	State    string          `json:"state"`
	World    string          `json:"world,omitempty"`
	Claimed  *time.Time      `json:"claimed_at"`
	Bound    *time.Time      `json:"bound_at"` // null if it never was, and so below
	Seen     *time.Time      `json:"seen_at"`
	Lease    bool            `json:"lease_held"`
	Until    *time.Time      `json:"lease_until"`
	Holder   *process        `json:"holder"`
	Database string          `json:"database,omitempty"`
	Mark     int64           `json:"mark_millis_since_epoch"`
	Changes  int64           `json:"changes"`
	History  []fleetChange   `json:"history,omitempty"`
}

type fleetChange struct {
	At     time.Time `json:"at"`
	Action string    `json:"action"`
	World  string    `json:"world,omitempty"`
	By     string    `json:"by"`
	Why    string    `json:"why"`
}

func fleetObject(s store.FleetServer) fleetServer {
	at := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	return fleetServer{
		Server: s.ID, Name: s.Name, State: s.State, World: s.World,
		Claimed: at(s.ClaimedAt), Bound: at(s.BoundAt), Seen: at(s.SeenAt),
		Lease: s.Leased, Until: at(s.LeaseUntil), Holder: processOf(s.Holder), Database: s.Place,
		Mark: s.Mark, Changes: s.Epoch,
	}
}
