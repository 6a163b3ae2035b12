package merge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mergesafe/gameid"
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
func (c *checker) checkServers(context.Context) error {
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
		return nil
	}
	result := func(code string) Result { return Result{Code: code, Read: read, Gaps: slices.Clone(gaps)} }
	conflict, cloned, merged := result(CodeServerConflict), result(CodeWorldCloned), result(CodeWorldMerged)
	for _, server := range slices.Sorted(maps.Keys(byNumber)) {
		if entries := byNumber[server]; differentWorlds(entries) {
			c.addServers(&conflict, "server "+server.String(), entries)
		}
	}
	for _, world := range slices.Sorted(maps.Keys(byWorld)) {
		holds, runs := make(map[*database]bool), make(map[*database]bool)
		for _, e := range byWorld[world] {
			holds[e.db] = true
			if e.server.Own {
				runs[e.db] = true
			}
		}
		switch {
		case len(holds) == 1:
		case len(runs) == 1:
			c.addServers(&merged, "world "+world, byWorld[world])
		default:
			c.addServers(&cloned, "world "+world, byWorld[world])
		}
	}
	for _, r := range []Result{conflict, cloned, merged} {
		if r.Count == 0 {
			r.Message = some(read, "server", "servers") + " listed by the registries"
		}
		c.add(r)
	}
	return nil
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

// addServers adds one conflict between registries to a result.
func (c *checker) addServers(r *Result, key string, entries []entry) {
	r.Count++
	r.Rows += int64(len(entries))
	var names []string
	for _, e := range entries {
		names = append(names, e.db.name)
	}
	if r.Message != "" {
		r.Message += "; "
	}
	r.Message += key + " in " + strings.Join(slices.Compact(names), ", ")
	if len(r.Samples) >= c.opts.Samples {
		return
	}
	s := Sample{Key: key}
	for _, e := range entries {
		s.Rows = append(s.Rows, SampleRow{Source: e.db.name, Fields: []Field{
			{Column: "server", Value: e.server.Server.String()},
			{Column: "name", Value: e.server.Name},
			{Column: "world", Value: e.server.World},
			{Column: "own", Value: strconv.FormatBool(e.server.Own)},
			{Column: "mark", Value: stamp(gameid.TimeOf(e.server.Reserved))},
		}})
	}
	r.Samples = append(r.Samples, s)
}
