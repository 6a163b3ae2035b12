package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/gameid"
	"mergesafe/internal/config"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

func serversCommand(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "servers",
		Description: `
Usage: gameid servers COMMAND [flags] [ARGUMENT...]

Shows which servers may have IDs in a database, and keeps their numbers. The
commands from init to places are about the fleet registry, the one database that
gives each server number to one world permanently. The next three repair one
world. schema is for tools that run migrations.

Commands:
  inspect      the servers whose IDs may be in a database, and which of them run
  init         make the fleet registry, once
  claim        take a number for a new world
  list         all numbers of the fleet, or some with their history
  retire       end the use of a number
  rebind       give a number to another world, although it is bound to one
  places       where the databases of worlds are: list, set, forget
  repair-mark  let a server start again whose clock was far ahead, or keep a
               restored one clear of IDs that are in no backup
  release      let a server start again whose lease lasts for years
  leave        make a world forget its fleet registry
  schema       print the statements that make the registry's tables

Examples:
  gameid servers inspect sqlite:data/s1.db
  gameid servers claim -name s7`,
		Commands: append(append([]*ucli.Command{inspectServersCommand(env)}, fleetCommands(env)...),
			repairCommand(env), releaseCommand(env), leaveCommand(env), schemaCommand()),
	}
}

func inspectServersCommand(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "inspect",
		Description: `
Usage: gameid servers inspect [-config FILE] [-json] DATABASE

Shows the registry of a game database: every server whose IDs may be in it.
It only reads: the account needs no right but SELECT.

  ROLE     own: this world's server; merged: its rows came by a merge
  WORLD    the identity of the world, shortened; copies of one database share it
  MARK     no ID of the server in this database has a later time
  LEASE    held: a process runs, and no other one can start until it ends;
           fenced: the world went to another database by a merge, or a merge
           makes this one and has not opened it: no process can start here
           until "servermerge undo" has taken the merge back, or "servermerge
           open" has opened this database
  HOLDER   the process that has the lease, or had it last; for a fence, the
           merge and its new database

If the database has settings with which it may lose confirmed changes, they are
printed on the standard error, each with the statement that corrects it.

Flags:
  -config FILE   the configuration file (default config.toml)
  -json          print a JSON array instead, with every field of the registry

Examples:
  gameid servers inspect sqlite:data/s1.db
  gameid servers inspect s1
  gameid servers inspect -json "$S1_DSN"`,
		Flags: []ucli.Flag{databases.ConfigFlag(), cli.JSONFlag()},
		Action: func(ctx context.Context, cmd *ucli.Command) error {
			arg, err := oneDatabase(cmd)
			if err != nil {
				return err
			}
			dsn, err := databases.NewConfig(cmd.String("config"), env).DSN(arg)
			if err != nil {
				return err
			}
			answered := cli.LogOf(cmd).Waiting(ctx, "asking "+databases.Where(dsn.Reveal()))
			servers, lossy, err := readServers(ctx, dsn)
			answered()
			if err != nil {
				return err
			}
			for _, l := range lossy {
				cli.LogOf(cmd).Sayf("the database may lose confirmed changes: %s", l)
			}
			return printServers(cmd.Root().Writer, cli.Width(cmd), servers, cmd.Bool("json"))
		},
	}
}

// readServers returns the servers, and the settings with which the database may
// lose what it confirmed.
func readServers(ctx context.Context, dsn config.Secret) ([]worldregistry.Server, []worldregistry.Lossy, error) {
	registry, err := worldregistry.Dial(ctx, dsn.Reveal(), sqldb.ReadOnly)
	if err != nil {
		return nil, nil, err
	}
	defer registry.Close()
	if err := registry.Check(ctx); err != nil {
		return nil, nil, err
	}
	servers, err := registry.Servers(ctx)
	if err != nil {
		return nil, nil, err
	}
	lossy, err := registry.Durability(ctx)
	return servers, lossy, err
}

func printServers(w io.Writer, width int, servers []worldregistry.Server, asJSON bool) error {
	const none = "The registry is empty: no game server has run on this database yet."
	heads := []string{"SERVER", "NAME", "ROLE", "WORLD", "MARK", "LEASE", "HOLDER"}
	return printList(w, width, asJSON, servers, none, serverObject, heads, func(s worldregistry.Server) []string {
		return []string{s.ID.String(), shown(s.Name), shown(s.Role), shown(short(s.World)),
			mark(s.Reserved), lease(s), holder(s.Holder)}
	})
}

// mark returns the time up to which IDs may have been used.
func mark(ms int64) string {
	if ms <= 0 {
		return "none"
	}
	return printable.Time(gameid.TimeOf(ms))
}

func lease(s worldregistry.Server) string {
	f, fenced := worldregistry.FenceOf(s.Holder)
	switch {
	case fenced:
		return "fenced since " + printable.Time(f.Since)
	case s.Leased:
		return "held until " + printable.Time(s.LeaseUntil)
	case s.Holder.IsZero():
		return "given back"
	default: // the process did not end as it should
		return "ended " + printable.Time(s.LeaseUntil)
	}
}

func processOf(h gameid.Holder) *process {
	if _, fenced := worldregistry.FenceOf(h); fenced || h.IsZero() {
		return nil
	}
	return &process{h.Host, h.PID, h.Program, h.Since}
}

func holder(h gameid.Holder) string {
	switch f, fenced := worldregistry.FenceOf(h); {
	case fenced && f.State != worldregistry.FenceMerging:
		return fmt.Sprintf("%s: merge %s into %s", shown(string(f.State)), shown(f.Merge), shown(f.Into))
	case fenced && f.Here:
		return fmt.Sprintf("made by merge %s", shown(f.Merge))
	case fenced:
		return fmt.Sprintf("went to %s, merge %s", shown(f.Into), shown(f.Merge))
	}
	if h.IsZero() {
		return "-"
	}
	return fmt.Sprintf("%s, pid %d on %s", shown(h.Program), h.PID, shown(h.Host))
}

func short(world string) string { return world[:min(8, len(world))] }

// shown makes text from a database harmless for a terminal and for the table.
func shown(s string) string {
	return cmp.Or(printable.Text(s), "-")
}

// server is one server in JSON.
type server struct {
	Server  gameid.ServerID `json:"server"`
	Name    string          `json:"name"`
	Role    string          `json:"role"`
	World   string          `json:"world"`
	Mark    *time.Time      `json:"mark"` // null if no time is reserved
	Lease   bool            `json:"lease_held"`
	Until   *time.Time      `json:"lease_until"` // null if no process has had it, or it was given back
	Holder  *process        `json:"holder"`      // null in the same cases, and for a fence
	Fence   *fence          `json:"fence"`       // null if there is none
	Created time.Time       `json:"created_at"`
	Updated time.Time       `json:"updated_at"`
	Changes int64           `json:"changes"`

	// Generation is how often a merge took the world into a new database, or an undo back.
	Generation int64 `json:"generation,omitempty"`

	MarkMsec int64 `json:"mark_millis_since_epoch"`
}

type process struct {
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`
}

type fence struct {
	Merge string    `json:"merge"`
	Into  string    `json:"into"` // the database that the world went to; this one if Here
	Here  bool      `json:"here"` // a merge is being carried out in this database
	Since time.Time `json:"since"`

	// State is "prepared" if no row has come yet, "dropping" if an undo drops the new database, else empty.
	State string `json:"state,omitempty"`
}

func serverObject(s worldregistry.Server) server {
	o := server{Server: s.ID, Name: s.Name, Role: s.Role, World: s.World, Lease: s.Leased,
		Created: s.CreatedAt, Updated: s.UpdatedAt, Changes: worldregistry.Changes(s.Epoch), Generation: s.Generation(), MarkMsec: s.Reserved}
	if s.Reserved > 0 {
		o.Mark = known(gameid.TimeOf(s.Reserved))
	}
	if !s.Holder.IsZero() {
		o.Until, o.Holder = &s.LeaseUntil, processOf(s.Holder)
	}
	if f, fenced := worldregistry.FenceOf(s.Holder); fenced {
		o.Fence = &fence{f.Merge, f.Into, f.Here, f.Since, string(f.State)}
	}
	return o
}
