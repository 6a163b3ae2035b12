package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/inventory"
)

// Inventory is an inventory, arranged for reading.
type Inventory struct {
	report *inventory.Inventory

	unread   []inventory.World // those with a problem
	grouping []schemaGroup

	hasServers, hasLabels, hasPlayers, hasGrowth bool // whether any world has them
	engines                                      int  // how many kinds there are

	players, active7 int64
	rows, bytes      int64
	estimated        bool
	states           map[inventory.State]int
	drifting         int
}

// schemaGroup is a schema with the worlds that have it.
type schemaGroup struct {
	inventory.Schema
	names []string // of its worlds
	model bool     // most worlds of its engine have it
}

// NewInventory arranges an inventory.
func NewInventory(inv *inventory.Inventory) *Inventory {
	v := &Inventory{report: inv, states: make(map[inventory.State]int)}
	servers, engines, names := make(map[string]bool), make(map[string]bool), make(map[string][]string)
	for _, w := range inv.Worlds {
		servers[w.Server] = true
		if w.Problem != "" {
			v.unread = append(v.unread, w)
		}
		if w.Reached() {
			engines[w.Engine] = true
			names[w.Schema] = append(names[w.Schema], w.Name)
			v.states[w.State]++
		}
		v.hasLabels = v.hasLabels || len(w.Labels) > 0
		v.hasGrowth = v.hasGrowth || w.Growth != nil
		v.rows, v.bytes, v.estimated = v.rows+w.Rows, v.bytes+w.Bytes, v.estimated || w.Estimated
		if w.Players != nil {
			v.hasPlayers = true
			v.players, v.active7 = v.players+w.Players.Total, v.active7+w.Players.Active7
		}
		if len(w.Drift) > 0 {
			v.drifting++
		}
	}
	v.hasServers, v.engines = len(servers) > 1, len(engines)
	seen := make(map[string]bool) // engines of which the model was there
	for _, s := range inv.Schemas {
		v.grouping = append(v.grouping, schemaGroup{s, names[s.Fingerprint], !seen[s.Engine]})
		seen[s.Engine] = true
	}
	return v
}

// Complete reports whether all was read.
func (v *Inventory) Complete() bool { return len(v.unread) == 0 }

// summary is the inventory in one line.
func (v *Inventory) summary() string {
	parts := []string{printable.Count(int64(len(v.report.Worlds)), "world", "worlds")}
	if n := len(v.unread); n > 0 {
		parts = append(parts, fmt.Sprintf("%s of them could not be read", printable.Number(int64(n))))
	} else {
		parts[0] += ", all read"
	}
	for _, s := range []inventory.State{inventory.Running, inventory.Stopped, inventory.Fenced} {
		if n := v.states[s]; n > 0 {
			parts = append(parts, printable.Number(int64(n))+" "+string(s))
		}
	}
	if n := v.states[inventory.Unknown]; n > 0 {
		parts = append(parts, printable.Number(int64(n))+" may be running (no registry)")
	}
	if v.drifting > 0 {
		parts = append(parts, printable.Number(int64(v.drifting))+" with another schema than most")
	}
	parts = append(parts, approximately(v.rows, v.estimated)+" rows", printable.Bytes(v.bytes))
	if v.hasPlayers {
		parts = append(parts, fmt.Sprintf("%s, %s of them active within 7 days", printable.Count(v.players, "player", "players"), printable.Number(v.active7)))
	}
	return strings.Join(parts, "; ")
}

// approximately writes a number, and marks an estimate.
func approximately(n int64, estimated bool) string {
	if estimated {
		return "~" + printable.Number(n)
	}
	return printable.Number(n)
}

// signed writes what changed.
func signed(n int64, write func(int64) string) string {
	if n > 0 {
		return "+" + write(n)
	}
	return write(n)
}

// heads are the figures of a world, as columns.
type head struct {
	Name   string
	Number bool
	Least  int // what is left out first where there is no room has the largest
	of     func(w *inventory.World) string
}

// heads are the columns for the worlds.
func (v *Inventory) heads() []head {
	all := []head{{Name: "World", of: func(w *inventory.World) string { return w.Name }}}
	add := func(name string, number bool, least int, of func(w *inventory.World) string) {
		all = append(all, head{name, number, least, func(w *inventory.World) string {
			if !w.Reached() {
				return ""
			}
			return of(w)
		}})
	}
	if v.hasServers {
		all = append(all, head{"Database server", false, 4, func(w *inventory.World) string { return w.Server }})
	}
	if v.hasLabels {
		all = append(all, head{"Labels", false, 6, labelWords})
	}
	if v.engines > 1 {
		add("Engine", false, 8, func(w *inventory.World) string { return w.Engine })
	}
	all = append(all, head{"State", false, 0, func(w *inventory.World) string {
		if !w.Reached() {
			return "not read"
		}
		return string(w.State)
	}})
	add("Rows", true, 0, func(w *inventory.World) string { return approximately(w.Rows, w.Estimated) })
	add("Size", true, 1, func(w *inventory.World) string { return printable.Bytes(w.Bytes) })
	if v.hasPlayers {
		players := func(of func(p *inventory.Players) int64) func(w *inventory.World) string {
			return func(w *inventory.World) string {
				if w.Players == nil {
					return "?"
				}
				return printable.Number(of(w.Players))
			}
		}
		add("Players", true, 3, players(func(p *inventory.Players) int64 { return p.Total }))
		add("1 day", true, 5, players(func(p *inventory.Players) int64 { return p.Active1 }))
		add("7 days", true, 0, players(func(p *inventory.Players) int64 { return p.Active7 }))
		add("30 days", true, 5, players(func(p *inventory.Players) int64 { return p.Active30 }))
		add("Peak", true, 9, players(func(p *inventory.Players) int64 { return p.Peak }))
	}
	if v.hasGrowth {
		grown := func(of func(g *inventory.Growth) string) func(w *inventory.World) string {
			return func(w *inventory.World) string {
				if w.Growth == nil {
					return "?"
				}
				return of(w.Growth)
			}
		}
		add("Rows since", true, 2, grown(func(g *inventory.Growth) string {
			return signed(g.Rows, func(n int64) string { return approximately(n, g.Estimated) })
		}))
		add("Size since", true, 7, grown(func(g *inventory.Growth) string { return signed(g.Bytes, printable.Bytes) }))
		if v.hasPlayers {
			add("7 days since", true, 6, grown(func(g *inventory.Growth) string { return signed(g.Active7, printable.Number) }))
		}
	}
	add("Last merge", false, 8, func(w *inventory.World) string {
		if w.Merged == nil {
			return ""
		}
		return w.Merged.At.UTC().Format("2006-01-02")
	})
	add("Schema", false, 0, func(w *inventory.World) string {
		if len(w.Drift) > 0 {
			return printable.Count(int64(len(w.Drift)), "difference", "differences")
		}
		return "as most"
	})
	return all
}

func labelWords(w *inventory.World) string {
	all := slice.Map(slices.Sorted(maps.Keys(w.Labels)), func(name string) string { return w.Labels[name] })
	return strings.Join(all, ", ")
}

// since is when the earlier inventory was made; "" if there is none.
func (v *Inventory) since() string {
	for _, w := range v.report.Worlds {
		if w.Growth != nil {
			return printable.Time(w.Growth.Since)
		}
	}
	return ""
}

// serverWords are the servers of a world, with their marks.
func serverWords(w inventory.World) (all []string) {
	for _, s := range w.Servers {
		text := strconv.Itoa(s.Server)
		if s.Name != "" {
			text += " " + s.Name
		}
		if s.Own {
			text += " " + string(s.State)
		} else {
			text += " merged in"
		}
		if s.Mark > 0 {
			text += ", mark " + printable.Time(gameid.TimeOf(s.Mark))
		}
		all = append(all, text)
	}
	return all
}

// WriteJSON writes the inventory as JSON. It returns the error of w.
func (v *Inventory) WriteJSON(w io.Writer) error { return writeJSON(w, v.report, false) }

// WriteCSV writes a line for each world, with a line of headings. What is not known is empty.
// Names are written as they are: see [Renames.WriteCSV].
func (v *Inventory) WriteCSV(w io.Writer) error {
	known := make(map[string]bool)
	for _, world := range v.report.Worlds {
		for label := range world.Labels {
			known[label] = true
		}
	}
	extra := slices.Sorted(maps.Keys(known))
	c := csv.NewWriter(w)
	heads := []string{"world", "database_server", "problem", "engine", "version", "state", "schema", "drift", "tables", "rows", "estimated", "bytes",
		"servers", "last_merge", "last_merge_at", "last_merge_worlds", "players", "active_1", "active_7", "active_30", "peak",
		"since", "rows_since", "bytes_since", "active_7_since"}
	for _, label := range extra {
		heads = append(heads, "label_"+label)
	}
	c.Write(heads)
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, world := range v.report.Worlds {
		line := make([]string, len(heads))
		line[0], line[1], line[2] = world.Name, world.Server, world.Problem
		if world.Reached() {
			line[3], line[4], line[5], line[6], line[7] = world.Engine, world.Version, string(world.State), world.Schema, strings.Join(world.Drift, "; ")
			line[8], line[9], line[10], line[11] = strconv.Itoa(world.Tables), number(world.Rows), strconv.FormatBool(world.Estimated), number(world.Bytes)
			line[12] = strings.Join(serverWords(world), "; ")
		}
		if m := world.Merged; m != nil {
			line[13], line[14], line[15] = m.ID, printable.Time(m.At), strings.Join(m.Worlds, " ")
		}
		if p := world.Players; p != nil {
			line[16], line[17], line[18], line[19], line[20] = number(p.Total), number(p.Active1), number(p.Active7), number(p.Active30), number(p.Peak)
		}
		if g := world.Growth; g != nil {
			line[21], line[22], line[23], line[24] = printable.Time(g.Since), number(g.Rows), number(g.Bytes), number(g.Active7)
		}
		for i, label := range extra {
			line[25+i] = world.Labels[label]
		}
		c.Write(line)
	}
	c.Flush()
	return c.Error()
}
