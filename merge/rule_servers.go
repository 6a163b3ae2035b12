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

// serverRule is about the servers that the registries list.
func serverRule() rule {
	return rule{
		codes:   []string{CodeServerConflict, CodeWorldCloned, CodeWorldMerged},
		catalog: judgeServers,
	}
}

// entry is one row of one database's registry.
type entry struct {
	db     *database
	server Server
}

// judgeServers compares the registries: no server number may stand for two
// worlds, and no world may be in two databases.
//
// It does not apply if no database keeps a registry or has IDs in its keys:
// then the keys themselves decide.
func judgeServers(f *facts) (findings []finding) {
	var gaps []Gap
	var read int64
	applies := false
	byNumber := make(map[gameid.ServerID][]entry)
	byWorld := make(map[string][]entry)
	for _, db := range f.dbs {
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
	conflicts := make(map[string][]serverConflict) // by code
	add := func(code, key string, entries []entry) {
		conflicts[code] = append(conflicts[code], serverConflict{key, entries})
	}
	for _, server := range slices.Sorted(maps.Keys(byNumber)) {
		if entries := byNumber[server]; differentWorlds(entries) {
			add(CodeServerConflict, "server "+server.String(), entries)
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
			add(CodeWorldMerged, "world "+world, entries)
		default:
			add(CodeWorldCloned, "world "+world, entries)
		}
	}
	for _, code := range []string{CodeServerConflict, CodeWorldCloned, CodeWorldMerged} {
		r := Result{Code: code, Read: read, Gaps: gaps}
		r.describeServers(conflicts[code], f.opts.Samples)
		findings = append(findings, finding{Result: r})
	}
	return findings
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

func (r *Result) describeServers(all []serverConflict, samples int) {
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
		{Column: "mark", Value: printable.Time(gameid.TimeOf(e.server.Reserved))},
	}
}
