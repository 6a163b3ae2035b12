package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/gameid"

	"mergesafe/internal/columns"
	"mergesafe/internal/fleet"
	"mergesafe/internal/printable"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
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
	return []*ucli.Command{
		{Name: "init", Description: helpInit, Flags: fleetFlags(), Action: onFleet(env, noArguments, initFleet)},
		{
			Name: "claim", Description: helpClaim, Action: onFleet(env, claimArguments, claimServer),
			Flags: fleetFlags(&ucli.StringFlag{Name: "name"}, &ucli.StringFlag{Name: "server"}, &ucli.StringFlag{Name: "servers"}, &ucli.StringFlag{Name: "reason"}, cli.JSONFlag()),
		},
		{Name: "list", Description: helpList, Flags: fleetFlags(cli.JSONFlag()), Action: onFleet(env, listArguments, listServers)},
		{Name: "retire", Description: helpRetire, Flags: fleetFlags(&ucli.StringFlag{Name: "reason"}), Action: onFleet(env, oneServer, retireServer)},
		{
			Name: "rebind", Description: helpRebind, Action: onFleet(env, rebindArguments, rebindServer),
			Flags: fleetFlags(&ucli.StringFlag{Name: "world"}, &ucli.StringFlag{Name: "reason"}),
		},
		placesCommand(env),
	}
}

func fleetFlags(more ...ucli.Flag) []ucli.Flag {
	return append(more, fleetFlag(), databases.ConfigFlag())
}

func fleetFlag() ucli.Flag { return &ucli.StringFlag{Name: "fleet"} }

// fleetWork is what the commands about the fleet registry work on.
type fleetWork struct {
	fleet  *fleet.Fleet
	server gameid.ServerID // 0 if the command line names none
	note   fleet.Note
}

// onFleet is an action on the fleet registry. arguments judges the command line,
// and returns the server in it.
func onFleet(env cli.Env, arguments func(*ucli.Command) (gameid.ServerID, error), act func(context.Context, *ucli.Command, fleetWork) error) ucli.ActionFunc {
	return func(ctx context.Context, cmd *ucli.Command) error {
		server, err := arguments(cmd)
		if err != nil {
			return err
		}
		dsn, err := databases.NewConfig(cmd.String("config"), env).Registry(cmd.String("fleet"))
		if err != nil {
			return err
		}
		if dsn.IsZero() {
			return cli.Usage("no fleet registry: want -fleet and a DSN, or a section [registry] in %s", cmd.String("config"))
		}
		w := fleetWork{server: server, note: fleet.Note{By: by(env), Why: cmd.String("reason")}}
		if w.fleet, err = fleet.Open(dsn.Reveal()); err != nil {
			return err
		}
		defer w.fleet.Close()
		defer cli.LogOf(cmd).Waiting(ctx, "asking the fleet registry "+databases.Where(dsn.Reveal()))()
		return act(ctx, cmd, w)
	}
}

// by names the person who runs the program.
func by(env cli.Env) string {
	user := "unknown-user"
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
	name := []rune(user + "@" + host)
	return string(name[:min(most, len(name))])
}

const helpInit = `
Usage: gameid servers init [-fleet DSN] [-config FILE]

Makes the tables of the fleet registry, in a database of its own that is there
already (for SQLite, in a file). Run it once. Two fleet registries would give
out the same servers, so no other command makes one.

Flags:` + fleetHelp + `
Examples:
  gameid servers init
  gameid servers init -fleet "$FLEET_DSN"`

func initFleet(ctx context.Context, cmd *ucli.Command, w fleetWork) error {
	if err := w.fleet.Create(ctx); err != nil {
		return err
	}
	servers, err := w.fleet.List(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.Root().Writer, "%q is a fleet registry with %d servers.\n", w.fleet, len(servers))
	return err
}

const helpClaim = `
Usage: gameid servers claim -name NAME [-server SERVER | -servers RANGE]
                            [-reason TEXT] [-fleet DSN] [-config FILE] [-json]

Takes a server for a new world, and prints it. The first world that starts as
this server keeps it permanently: it is never given to another world.

With -servers it takes all servers of a range, or none, for one world whose
processes come and go: each process takes a free server of the range. The first
of them to start binds the whole range to its world.

Flags:
  -name NAME       what people call the server; no two have the same name. The
                   servers of a range get names such as NAME-40
  -server SERVER   this server, a number from 1 to 1048575 (default: the lowest
                   that was never claimed)
  -servers RANGE   all servers of this range, such as 40-59
  -reason TEXT     kept in the history of the server` + fleetJSONHelp + `
Examples:
  gameid servers claim -name s7
  gameid servers claim -name s7 -server 7
  gameid servers claim -name s4 -servers 40-59`

func claimServer(ctx context.Context, cmd *ucli.Command, w fleetWork) error {
	if cmd.IsSet("servers") {
		return claimRange(ctx, cmd, w)
	}
	claimed, err := w.fleet.Claim(ctx, cmd.String("name"), w.server, w.note)
	if err != nil {
		return err
	}
	if cmd.Bool("json") {
		return cli.WriteJSON(cmd.Root().Writer, fleetObject(claimed))
	}
	_, err = fmt.Fprintf(cmd.Root().Writer, "Server %s is claimed for %s. Start its game server as server %[1]s\n", claimed.ID, shown(claimed.Name))
	return err
}

func claimRange(ctx context.Context, cmd *ucli.Command, w fleetWork) error {
	servers, err := parseServerRange(cmd.String("servers"))
	if err != nil {
		return cli.Usage("-servers %v", err)
	}
	claimed, err := w.fleet.ClaimRange(ctx, cmd.String("name"), servers, w.note)
	if err != nil {
		return err
	}
	if cmd.Bool("json") {
		return printFleet(cmd.Root().Writer, cli.Width(cmd), claimed, true)
	}
	_, err = fmt.Fprintf(cmd.Root().Writer, "The %d servers %s are claimed for %s. Start its game servers with this range\n",
		len(claimed), servers, shown(cmd.String("name")))
	return err
}

func claimArguments(cmd *ucli.Command) (server gameid.ServerID, err error) {
	if _, err := noArguments(cmd); err != nil {
		return 0, err
	}
	if cmd.String("name") == "" {
		return 0, cli.Usage("no name given: want -name and a name of the server for people")
	}
	if cmd.IsSet("server") && cmd.IsSet("servers") {
		return 0, cli.Usage("-server and -servers are both given: want one of them")
	}
	if cmd.IsSet("server") {
		server, err = gameid.ParseServerID(cmd.String("server"))
	}
	return server, err
}

const helpList = `
Usage: gameid servers list [-fleet DSN] [-config FILE] [-json] [SERVER...]

Lists all servers that were ever claimed. If servers are named, it shows the
whole record and the history of each: every change, with the time, the account
that made it, and the reason.

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
  gameid servers list 7
  gameid servers list -json -fleet "$FLEET_DSN"`

func listServers(ctx context.Context, cmd *ucli.Command, w fleetWork) error {
	if cmd.Args().Present() {
		return showServers(ctx, cmd, w)
	}
	servers, err := w.fleet.List(ctx)
	if err != nil {
		return err
	}
	return printFleet(cmd.Root().Writer, cli.Width(cmd), servers, cmd.Bool("json"))
}

// listArguments checks the servers that are named; [showServers] reads them.
func listArguments(cmd *ucli.Command) (gameid.ServerID, error) {
	for _, server := range cmd.Args().Slice() {
		if _, err := gameid.ParseServerID(server); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// showServers prints the records and the histories of the servers that are named.
func showServers(ctx context.Context, cmd *ucli.Command, w fleetWork) error {
	out, width := cmd.Root().Writer, cli.Width(cmd)
	var objects []fleetServer
	for i, arg := range cmd.Args().Slice() {
		server, err := gameid.ParseServerID(arg)
		if err != nil {
			return err
		}
		s, history, err := w.fleet.Show(ctx, server)
		if err != nil {
			return err
		}
		if cmd.Bool("json") {
			o := fleetObject(s)
			for _, h := range history {
				o.History = append(o.History, fleetChange{h.At, h.Action, h.World, h.By, h.Why})
			}
			objects = append(objects, o)
			continue
		}
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := printServer(out, width, s, history); err != nil {
			return err
		}
	}
	if cmd.Bool("json") {
		return cli.WriteJSON(out, objects)
	}
	return nil
}

func printServer(out io.Writer, width int, s fleet.Server, history []fleet.Change) error {
	facts := [][]string{
		{"server", s.ID.String()}, {"name", shown(s.Name)}, {"state", shown(s.State)}, {"world", shown(s.World)},
		{"claimed", moment(s.ClaimedAt)}, {"bound", moment(s.BoundAt)}, {"seen", moment(s.SeenAt)},
		{"lease", fleetLease(s)}, {"holder", holder(s.Holder)}, {"database", shown(s.Place)}, {"mark", mark(s.Mark)},
	}
	if err := columns.Write(out, facts, width); err != nil {
		return err
	}
	fmt.Fprintln(out)
	rows := [][]string{{"WHEN", "WHAT", "WORLD", "BY", "WHY"}}
	for _, h := range history {
		rows = append(rows, []string{printable.Time(h.At), shown(h.Action), shown(short(h.World)), shown(h.By), shown(h.Why)})
	}
	return columns.Write(out, rows, width)
}

func printFleet(w io.Writer, width int, servers []fleet.Server, asJSON bool) error {
	heads := []string{"SERVER", "NAME", "STATE", "WORLD", "LEASE", "SEEN", "HOLDER", "DATABASE"}
	const none = "No server has been claimed yet."
	return printList(w, width, asJSON, servers, none, fleetObject, heads, func(s fleet.Server) []string {
		return []string{s.ID.String(), shown(s.Name), shown(s.State), shown(short(s.World)),
			fleetLease(s), moment(s.SeenAt), holder(s.Holder), shown(s.Place)}
	})
}

func fleetLease(s fleet.Server) string {
	if !s.Leased {
		return "-"
	}
	return "held until " + printable.Time(s.LeaseUntil)
}

const helpRetire = `
Usage: gameid servers retire [-reason TEXT] [-fleet DSN] [-config FILE] SERVER

Ends the use of a server, such as after its world was merged into another. No
world can start as this server any more, and it is given to no other. It must
not run.

Flags:
  -reason TEXT   kept in the history of the server` + fleetHelp + `
Examples:
  gameid servers retire -reason "merged into s3" 7`

func retireServer(ctx context.Context, cmd *ucli.Command, w fleetWork) error {
	if err := w.fleet.Retire(ctx, w.server, w.note); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.Root().Writer, "Server %s is retired.\n", w.server)
	return err
}

const helpRebind = `
Usage: gameid servers rebind -world WORLD -reason TEXT [-fleet DSN]
                             [-config FILE] SERVER

Gives a server to the world of that identity, whatever world it belonged to. It
overrides a binding that is otherwise permanent. "gameid servers inspect -json
DATABASE" shows the identity of a world. It is meant for

  - a world whose registry row was lost, which gave it a new identity;
  - a server that the wrong database was started as first;
  - a fleet registry that was lost: claim the servers in the new one, and rebind
    each to its world.

Do not give a server that was in use to a new world: if rows of the old world
are left anywhere, even in a database merged long ago, the two cannot be told
apart any more. Claim a new server instead. The server must not run; the IDs of
the new world begin after the last mark of the old one.

Flags:
  -world WORLD   the identity of the world, 32 hexadecimal digits
  -reason TEXT   why; it is kept in the history of the server` + fleetHelp + `
Examples:
  gameid servers rebind -world "$WORLD" -reason "registry row lost on 3 May" 7`

func rebindServer(ctx context.Context, cmd *ucli.Command, w fleetWork) error {
	before, _, err := w.fleet.Show(ctx, w.server)
	if err != nil {
		return err
	}
	if err := w.fleet.Rebind(ctx, w.server, cmd.String("world"), w.note); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.Root().Writer, "Server %s now belongs to the world %s; before, it belonged to %s.\n", w.server, cmd.String("world"), shown(before.World))
	return err
}

func rebindArguments(cmd *ucli.Command) (gameid.ServerID, error) {
	server, err := oneServer(cmd)
	switch {
	case err != nil:
		return 0, err
	case cmd.String("world") == "":
		return 0, cli.Usage("no world given: want -world and its identity, 32 hexadecimal digits")
	case cmd.String("reason") == "":
		return 0, cli.Usage("no reason given: want -reason and why the server number goes to another world")
	}
	return server, nil
}

// fleetServer is one server of the fleet in JSON.
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

func fleetObject(s fleet.Server) fleetServer {
	return fleetServer{
		Server: s.ID, Name: s.Name, State: s.State, World: s.World,
		Claimed: known(s.ClaimedAt), Bound: known(s.BoundAt), Seen: known(s.SeenAt),
		Lease: s.Leased, Until: known(s.LeaseUntil), Holder: processOf(s.Holder), Database: s.Place,
		Mark: s.Mark, Changes: s.Epoch,
	}
}
