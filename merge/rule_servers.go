package merge

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
)

// entry is one row of one database's registry.
type entry struct {
	db     *database
	server Server
}

// checkServers holds the registries against each other: no server number may
// stand for two worlds, and no world may be in two databases.
//
// It does not apply where no database keeps a registry or has IDs in its keys:
// then the keys themselves decide.
func (c *checker) checkServers() {
	var gaps []Gap
	var read int64
	applies := false
	byNumber := make(map[gameid.ServerID][]entry)
	byWorld := make(map[string][]entry)
	for _, db := range c.dbs {
		applies = applies || db.catalog.HasRegistry || db.holdsIDs()
		if !db.catalog.HasRegistry {
			gaps = append(gaps, Gap{db.name, "keeps no registry of servers"})
			continue
		}
		if len(db.servers) == 0 {
			gaps = append(gaps, Gap{db.name, "its registry lists no server"})
		}
		for _, s := range db.servers {
			read++
			byNumber[s.Server] = append(byNumber[s.Server], entry{db, s})
			if s.World == "" {
				gaps = append(gaps, Gap{db.name, fmt.Sprintf("its registry does not tell the world of server %s", s.Server)})
				continue
			}
			byWorld[s.World] = append(byWorld[s.World], entry{db, s})
		}
	}
	if !applies {
		return
	}
	var conflict, cloned, merged serverConflicts
	for _, server := range slices.Sorted(maps.Keys(byNumber)) {
		if entries := byNumber[server]; differentWorlds(entries) {
			conflict = append(conflict, serverConflict{"server " + server.String(), entries})
		}
	}
	for _, world := range slices.Sorted(maps.Keys(byWorld)) {
		entries := byWorld[world]
		holds, runs := make(map[*database]bool), make(map[*database]bool)
		for _, e := range entries {
			holds[e.db] = true
			if e.server.Own {
				runs[e.db] = true
			}
		}
		switch {
		case len(holds) == 1:
		case len(runs) == 1:
			merged = append(merged, serverConflict{"world " + world, entries})
		default:
			cloned = append(cloned, serverConflict{"world " + world, entries})
		}
	}
	for _, found := range []struct {
		code      string
		conflicts serverConflicts
	}{{CodeServerConflict, conflict}, {CodeWorldCloned, cloned}, {CodeWorldMerged, merged}} {
		r := Result{Code: found.code, Read: read, Gaps: gaps}
		found.conflicts.describe(&r, c.opts.Samples)
		c.add(r)
	}
}

// holdsIDs reports whether any primary key has a column of IDs.
func (db *database) holdsIDs() bool {
	for _, t := range db.tables {
		for _, name := range t.Primary {
			if col := t.column(name); col != nil && col.IsID {
				return true
			}
		}
	}
	return false
}

func differentWorlds(entries []entry) bool {
	world := ""
	for _, e := range entries {
		if world != "" && e.server.World != "" && e.server.World != world {
			return true
		}
		world = max(world, e.server.World)
	}
	return false
}

// serverConflict is a number or a world that is in several registries.
type serverConflict struct {
	key     string
	entries []entry
}

type serverConflicts []serverConflict

func (all serverConflicts) describe(r *Result, samples int) {
	r.Count = int64(len(all))
	var parts []string
	for i, found := range all {
		r.Rows += int64(len(found.entries))
		var names []string
		s := Sample{Key: found.key}
		for _, e := range found.entries {
			names = append(names, e.db.name)
			s.Rows = append(s.Rows, SampleRow{Source: e.db.name, Fields: e.fields()})
		}
		parts = append(parts, found.key+" in "+strings.Join(slices.Compact(names), ", "))
		if i < samples {
			r.Samples = append(r.Samples, s)
		}
	}
	r.Message = few(parts)
	if len(all) == 0 {
		r.Message = printable.Count(r.Read, "server", "servers") + " listed by the registries"
	}
}

func (e entry) fields() []Field {
	return []Field{
		{Column: "server", Value: e.server.Server.String()},
		{Column: "name", Value: e.server.Name},
		{Column: "world", Value: e.server.World},
		{Column: "own", Value: strconv.FormatBool(e.server.Own)},
		{Column: "mark", Value: stamp(gameid.TimeOf(e.server.Reserved))},
	}
}
