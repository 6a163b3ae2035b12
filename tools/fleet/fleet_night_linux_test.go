package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/gameworlds"
	"mergesafe/internal/servertest"
	"mergesafe/internal/smalldisk"
	"mergesafe/internal/sqldb"

	"mergesafe/merge/campaign"
	"mergesafe/merge/inventory"

	"mergesafe/tools/internal/cli"
)

var (
	nightWorlds    = flag.Int("night.worlds", servertest.Scale(10, 400), "SQLite worlds of TestNight")
	nightDatabases = flag.Int("night.databases", servertest.Scale(3, 40), "MariaDB databases of TestNight")
	nightMerges    = flag.Int("night.merges", servertest.Scale(3, 60), "merges of TestNight")
	nightKills     = flag.Int("night.kills", servertest.Scale(2, 20), "how often TestNight kills the program")
)

// mostMemory is how much memory the program may take, in KiB.
const mostMemory = 300 << 10

// fleetNight is a fleet of made-up worlds with a campaign.
type fleetNight struct {
	t      *testing.T
	dir    string
	name   string // which begins the names of its databases on the server
	fleet  *gameworlds.Fleet
	server *servertest.Server
	peak   int64 // memory of the program, in KiB
}

// newNight makes a fleet. Two with one seed have the same rows.
func newNight(t *testing.T, server *servertest.Server, name string) *fleetNight {
	n := &fleetNight{t: t, dir: t.TempDir(), name: name, server: server}
	var err error
	n.fleet, err = gameworlds.MakeFleet(t.Context(), gameworlds.FleetOptions{Dir: n.dir, Seed: 20, Worlds: *nightWorlds, Databases: *nightDatabases,
		Server: "mysql:" + server.DSN(), Prefix: name + "_", Now: time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)})
	must(t, err)
	return n
}

// run runs the program to its end.
func (n *fleetNight) run(want cli.Code, args ...string) (out string) {
	n.t.Helper()
	cmd := fleetIn(n.dir, args...)
	out = ends(n.t, cmd, want)
	n.note(cmd)
	return out
}

func (n *fleetNight) note(cmd *exec.Cmd) {
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		n.peak = max(n.peak, int64(usage.Maxrss))
	}
}

// open is a database of a world.
func (n *fleetNight) open(world string) *sql.DB {
	n.t.Helper()
	at := slices.IndexFunc(n.fleet.Worlds, func(w gameworlds.FleetWorld) bool { return w.Name == world })
	return n.at(n.fleet.Worlds[at].DSN)
}

// at is the database of a DSN.
func (n *fleetNight) at(text string) *sql.DB {
	n.t.Helper()
	driver, dsn, _ := strings.Cut(text, ":")
	db, err := sql.Open(driver, dsn)
	must(n.t, err)
	return db
}

// game are the tables that a dump has, each with all of its columns that tell rows apart.
var game = []string{"accounts", "characters", "equipment", "friends", "guilds", "guild_members", "items", "item_templates", "mail", "gameid_servers"}

// made is the DSN of the new database of a merge.
func (n *fleetNight) made(m campaign.Merge) string {
	at := slices.IndexFunc(n.fleet.Worlds, func(w gameworlds.FleetWorld) bool { return w.Name == m.Name() })
	account, now := sqldb.SplitAccount(n.fleet.Worlds[at].DSN)
	return campaign.WithAccount(campaign.New(m.Into, m.Name(), now), account)
}

// dump is every row of the game in a world, and of its registry without times.
func (n *fleetNight) dump(world string) string {
	n.t.Helper()
	return n.dumpOf(n.open(world))
}

func (n *fleetNight) dumpOf(db *sql.DB) string {
	n.t.Helper()
	defer db.Close()
	var all []string
	for _, table := range game {
		rows, err := db.QueryContext(n.t.Context(), "SELECT * FROM "+table)
		if table == "gameid_servers" && err != nil {
			all = append(all, "no registry") // which some worlds do not keep
			continue
		}
		must(n.t, err)
		columns, err := rows.Columns()
		must(n.t, err)
		for rows.Next() {
			values, to := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
			for i := range to {
				to[i] = &values[i]
			}
			must(n.t, rows.Scan(to...))
			line := table
			for i, c := range columns {
				if table != "gameid_servers" || slices.Contains([]string{"server_id", "role", "reserved_ms"}, c) {
					line += fmt.Sprintf(" %s=%q", c, values[i])
				}
			}
			all = append(all, line)
		}
		must(n.t, rows.Err())
		rows.Close()
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// A night with everything in it: worlds that differ, one damaged, one that does not answer, one
// that runs; an inventory, a suggestion, a campaign; the program killed again and again, the
// server killed and started, a full disk, and rows that change after the plan. In the end each
// merge is verified or was undone, what failed is explained, and every world is as if the same
// merges had been done one by one by servermerge.
func TestNight(t *testing.T) {
	servertest.NotShort(t)
	server := servertest.Private(t)
	n, alone := newNight(t, server, "night"), newNight(t, server, "alone")

	began := time.Now()
	read := n.run(cli.NotVerified, "inventory", "-all", "-json") // one is damaged, one away
	read = read[strings.Index(read, "\n{")+1:]
	var there inventory.Inventory
	must(t, json.NewDecoder(strings.NewReader(read)).Decode(&there))
	unread := 0
	for _, w := range there.Worlds {
		if w.Problem != "" {
			unread++
		}
	}
	if want := *nightWorlds + *nightDatabases + 1; len(there.Worlds) != want || unread != 2 {
		t.Fatalf("the inventory has %d worlds, of which %d could not be read: want %d and 2", len(there.Worlds), unread, want)
	}
	t.Logf("inventory of %d worlds: %s", len(there.Worlds), time.Since(began).Round(time.Millisecond))
	file := filepath.Join(n.dir, "fleet.json")
	must(t, os.WriteFile(file, []byte(read), 0o600))

	n.run(cli.OK, "suggest", "-inventory", file, "-most", "2", "-o", "night.toml")
	c := n.edit()
	t.Logf("campaign of %d merges", len(c.Merges))
	disk := smalldisk.Mount(t, "256m") // has the first new database
	c.Merges[0].Into = "sqlite:" + filepath.Join(disk.Path(), c.Merges[0].Name()+"_m{n}.db")
	n.write(c)
	n.run(cli.OK, "plan", "night.toml")

	// Of one world rows change after the plan, as many as before.
	changed := c.Merges[1].Worlds[1]
	db := n.open(changed)
	_, err := db.ExecContext(t.Context(), "UPDATE characters SET money = money + 1 WHERE id = (SELECT low FROM (SELECT MIN(id) AS low FROM characters) AS c)")
	must(t, err)
	must(t, db.Close())

	n.suffer(c, disk)
	said := n.run(cli.Conflicts, "apply", "night.toml")
	again := n.run(cli.Conflicts, "apply", "night.toml") // changes nothing

	var s campaign.Status
	status, _ := fleetIn(n.dir, "status", "-json", "night.toml").Output() // its exit code says that one failed
	must(t, json.Unmarshal(status, &s))
	count := make(map[campaign.Phase]int)
	for _, m := range s.Merges {
		count[m.Phase]++
		switch failing := m.Worlds[1] == changed; {
		case failing && m.Phase == campaign.Failed: // it was killed before it undid it, and leaves that to a person from then on
			n.run(cli.OK, "undo", "night.toml", m.Name())
		case failing && m.Phase != campaign.Undone, !failing && m.Phase != campaign.Verified:
			t.Errorf("%s is %s: %s", m.Name(), m.Phase, m.Problem)
		case failing && (!strings.Contains(m.Problem, `"characters"`) || !strings.Contains(said, m.Name()+":") || len(m.Advice) == 0):
			t.Errorf("it is not said why %s failed: %q, %q\n%s", m.Name(), m.Problem, m.Advice, said)
		}
	}
	if count[campaign.Failed] == 0 && strings.Contains(again, "merging") {
		t.Errorf("what was done is done once more: %s", again)
	}
	t.Logf("at the end %v; most memory of the program %d MiB", count, n.peak>>10)
	if n.peak > mostMemory {
		t.Errorf("the program took %d KiB", n.peak)
	}

	for _, m := range c.Merges {
		if m.Worlds[1] != changed {
			other := m
			other.Into = alone.name + "_{first}_m{n}"
			alone.servermerge(other)
			if diff := cmp.Diff(alone.dumpOf(alone.at(alone.made(other))), n.dumpOf(n.at(n.made(m)))); diff != "" {
				t.Errorf("%s is not as after servermerge: %s", m.Name(), diff)
			}
			for _, w := range m.Worlds {
				if diff := cmp.Diff(alone.dump(w), n.dump(w)); diff != "" {
					t.Errorf("%s is not as it was: %s", w, diff)
				}
			}
		} else if diff := cmp.Diff(alone.dump(m.Name()), n.dump(m.Name())); diff != "" {
			t.Errorf("%s is not as before: %s", m.Name(), diff)
		}
	}
}

// edit keeps as many of the suggested merges as wanted, of both engines, and says what a person
// has to say.
func (n *fleetNight) edit() *campaign.Campaign {
	n.t.Helper()
	file := filepath.Join(n.dir, "night.toml")
	c, err := campaign.Load(file)
	must(n.t, err)
	var lite, server []campaign.Merge
	for _, m := range c.Merges {
		odd := slices.ContainsFunc(n.fleet.Worlds, func(w gameworlds.FleetWorld) bool {
			return w.Odd != "" && slices.Contains(m.Worlds, w.Name)
		})
		switch {
		case odd: // the rules are for the tables of most
		case strings.HasPrefix(m.Name(), "w"):
			lite = append(lite, m)
		default:
			server = append(server, m)
		}
	}
	server = server[:min(len(server), *nightMerges/3)]
	lite = lite[:min(len(lite), *nightMerges-len(server))]
	c.Merges = nil
	for i := range max(len(lite), len(server)) {
		c.Merges = append(append(c.Merges, lite[min(i, len(lite)):min(i+1, len(lite))]...), server[min(i, len(server)):min(i+1, len(server))]...)
	}
	if len(c.Merges) < *nightMerges {
		n.t.Fatalf("got %d merges, want %d", len(c.Merges), *nightMerges)
	}
	c.Into = n.name + "_{first}_m{n}"
	for i := range c.Merges {
		c.Merges[i].Into = c.Into
	}
	c.Parallel, c.Continue, c.Undo, c.Stopped, c.Backup = 4, true, true, campaign.ByHand, campaign.ByHand
	n.write(c)
	return c
}

func (n *fleetNight) write(c *campaign.Campaign) {
	n.t.Helper()
	f, err := os.Create(filepath.Join(n.dir, "night.toml"))
	must(n.t, err)
	_, err = c.WriteTo(f)
	must(n.t, errors.Join(err, f.Close()))
}

// suffer kills the program again and again, kills the server, and fills a disk.
func (n *fleetNight) suffer(c *campaign.Campaign, disk *smalldisk.Disk) {
	t, full := n.t, c.Merges[0].Name()
	book := bookIn(t, n.dir)
	filled, restarted := 0, 0
	for i := range *nightKills {
		cmd := fleetIn(n.dir, "apply", "-pause", "20ms", "night.toml")
		said := new(strings.Builder)
		cmd.Stdout, cmd.Stderr = said, said
		must(t, cmd.Start())
		ended := make(chan struct{})
		go func() { cmd.Wait(); close(ended) }()
		// It is killed some events after its start, or some time, if that is sooner.
		until, first := time.Now().Add(time.Duration(200+rand.N(2000))*time.Millisecond), int64(-1)
		patience := until
		if i == 0 {
			patience = time.Now().Add(time.Minute) // for the disk
		}
		for alive := true; alive && (time.Now().Before(until) || filled == 0 && time.Now().Before(patience)); {
			s, err := book.Status(t.Context())
			must(t, err)
			if first < 0 {
				first = s.LastEvent
			}
			for _, m := range s.Merges {
				if m.Name() == full && m.Phase == campaign.Copying && filled == 0 {
					must(t, disk.Fill(0))
					filled++
					until = time.Now().Add(3 * time.Second)
				}
			}
			if i == *nightKills/2 && restarted == 0 && s.LastEvent > first {
				must(t, n.server.Kill())
				must(t, n.server.Restart(t.Context()))
				restarted++
			}
			select {
			case <-ended:
				alive = false
			case <-time.After(2 * time.Millisecond):
			}
		}
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		<-ended
		n.note(cmd)
		if code := cmd.ProcessState.ExitCode(); code != -1 && code != int(cli.Conflicts) {
			t.Errorf("it ended by itself with %d\n%s", code, said)
		}
		if i > *nightKills/2 {
			must(t, disk.Free())
		}
	}
	must(t, disk.Free())
	t.Logf("killed %d times, the server %d times, the disk was full %d times", *nightKills, restarted, filled)
}

// servermerge carries one merge out by itself.
func (n *fleetNight) servermerge(m campaign.Merge) {
	n.t.Helper()
	into := strings.NewReplacer("{first}", m.Name(), "{n}", "2").Replace(m.Into)
	config, err := os.ReadFile(n.fleet.Config)
	must(n.t, err)
	must(n.t, os.WriteFile(n.fleet.Config, fmt.Appendf(config, "\n[[source]]\nname = %q\ndsn = %q\n", into, n.made(m)), 0o600))
	plan := m.Name() + ".json"
	for _, args := range [][]string{append([]string{"plan", "-into", into, "-o", plan}, m.Worlds...), {"apply", plan}, {"verify", plan}, {"open", plan}} {
		cmd := exec.Command(servermergeProgram(n.t), args...)
		cmd.Dir = n.dir
		ends(n.t, cmd, cli.OK)
	}
}

// servermergeProgram builds servermerge, once.
func servermergeProgram(t *testing.T) string {
	t.Helper()
	built := filepath.Join(os.TempDir(), fmt.Sprintf("servermerge-%d", os.Getpid()))
	if _, err := os.Stat(built); err == nil {
		return built
	}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", built, "../servermerge").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() { os.Remove(built) })
	return built
}
