package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// serverRule is about the servers that the registries list.
var serverRule = Rule{
	Codes:   []string{verdict.CodeServerConflict, verdict.CodeWorldCloned, verdict.CodeWorldMerged},
	Single:  true,
	Catalog: judgeServers,
}

// entry is one row of one database's registry.
type entry struct {
	db     *rules.Database
	server catalog.Server
}

// judgeServers compares the registries: no server may stand for two
// worlds, and no world may be in two databases.
//
// It does not apply if no database keeps a registry or has IDs in its keys:
// then the keys themselves decide.
func judgeServers(f *Facts) (findings []finding) {
	var gaps []verdict.Gap
	var read int64
	applies := false
	byServer := make(map[gameid.ServerID][]entry)
	byWorld := make(map[string][]entry)
	for _, db := range f.DBs {
		applies = applies || db.Catalog.HasRegistry || db.HoldsIDs()
		if !db.Catalog.HasRegistry {
			gaps = append(gaps, verdict.Gap{World: db.Name, Reason: "has no registry of server numbers"})
			continue
		}
		if len(db.Servers) == 0 {
			gaps = append(gaps, verdict.Gap{World: db.Name, Reason: "its registry lists no server number"})
		}
		for _, s := range db.Servers {
			read++
			byServer[s.Server] = append(byServer[s.Server], entry{db, s})
			if s.World == "" {
				gaps = append(gaps, verdict.Gap{World: db.Name, Reason: fmt.Sprintf("its registry does not say to which world server number %s belongs", s.Server)})
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
	for _, server := range slices.Sorted(maps.Keys(byServer)) {
		if entries := byServer[server]; differentWorlds(entries) {
			add(verdict.CodeServerConflict, "server "+server.String(), entries)
		}
	}
	for _, world := range slices.Sorted(maps.Keys(byWorld)) {
		entries := byWorld[world]
		holds, runs := make(map[*rules.Database]bool), make(map[*rules.Database]bool)
		for _, e := range entries {
			holds[e.db] = true
			if e.server.Own {
				runs[e.db] = true
			}
		}
		switch {
		case len(holds) == 1:
		case len(runs) == 1:
			add(verdict.CodeWorldMerged, "world "+world, entries)
		default:
			add(verdict.CodeWorldCloned, "world "+world, entries)
		}
	}
	for _, code := range []string{verdict.CodeServerConflict, verdict.CodeWorldCloned, verdict.CodeWorldMerged} {
		r := verdict.Result{Code: code, Read: read, Gaps: gaps}
		describeServers(&r, conflicts[code])
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

// serverConflict is a server or a world that is in several registries.
type serverConflict struct {
	key     string
	entries []entry
}

func describeServers(r *verdict.Result, all []serverConflict) {
	r.Count = int64(len(all))
	var parts []string
	for i, found := range all {
		r.Rows += int64(len(found.entries))
		var names []string
		s := verdict.Sample{Key: found.key}
		for _, e := range found.entries {
			names = append(names, e.db.Name)
			s.Rows = append(s.Rows, verdict.SampleRow{World: e.db.Name, Fields: e.fields()})
		}
		parts = append(parts, found.key+" in "+strings.Join(slices.Compact(names), ", "))
		if i < rules.Samples {
			r.Samples = append(r.Samples, s)
		}
	}
	r.Message = catalog.Few(parts)
	if len(all) == 0 {
		r.Message = printable.Count(r.Read, "server", "servers") + " listed by the registries"
	}
}

func (e entry) fields() []catalog.Field {
	return []catalog.Field{
		{Column: "server", Value: e.server.Server.String()},
		{Column: "name", Value: e.server.Name},
		{Column: "world", Value: e.server.World},
		{Column: "own", Value: strconv.FormatBool(e.server.Own)},
		{Column: "mark", Value: printable.Time(gameid.TimeOf(e.server.Reserved))},
	}
}
