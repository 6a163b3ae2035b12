package merge

import (
	"maps"
	"slices"
	"strings"

	"mergesafe/gameid"
)

// summaries gather what passes read, for the summary of every source.
type summaries struct {
	of    map[*database]*gathered
	noted map[*idsRead]bool // the pairs of a matrix share what they read
}

// gathered is what was read of one source.
type gathered struct {
	tallies tallies // of all its keys
	ranges  map[string]keyRange

	contents map[string]contents // by table
}

func newSummaries(f *facts) *summaries {
	s := &summaries{make(map[*database]*gathered), make(map[*idsRead]bool)}
	for _, db := range f.dbs {
		s.of[db] = &gathered{newTallies(db), make(map[string]keyRange), make(map[string]contents)}
	}
	return s
}

// note adds what was read of the key of a table.
func (s *summaries) note(k *keyReading) {
	for _, p := range k.parts {
		s.of[p.db].ranges[k.table] = p.ends
	}
	for _, c := range k.ids {
		for _, ids := range c.sources {
			if ids.key && !s.noted[ids] {
				s.noted[ids] = true
				s.of[ids.db].tallies.add(&ids.tallies)
			}
		}
	}
}

// summary tells what was read of the database, by server and by table.
func (s *summaries) summary(db *database) Summary {
	g := s.of[db]
	all := Summary{
		Name: db.name, Engine: strings.TrimSpace(db.catalog.Engine + " " + db.catalog.EngineVersion),
		Servers: []ServerSummary{}, Tables: []TableSummary{},
		OtherIDs: g.tallies.others.ids,
	}
	for _, server := range slices.Sorted(maps.Keys(g.tallies.byServer)) {
		t := g.tallies.byServer[server]
		line := ServerSummary{Server: int(server), Listed: t.listed, IDs: t.ids}
		if t.ids > 0 {
			line.Oldest, line.Newest = gameid.TimeOf(t.oldest), gameid.TimeOf(t.newest)
		}
		if row, listed := db.listed[server]; listed {
			line.Name, line.World, line.Own = row.Name, row.World, row.Own
			line.Mark = gameid.TimeOf(row.Reserved)
		}
		all.Servers = append(all.Servers, line)
	}
	for _, table := range slices.Sorted(maps.Keys(db.rows)) {
		line := TableSummary{Table: table, Rows: db.rows[table], Contents: g.contents[table].sum, NoContents: g.contents[table].unread}
		if r := g.ranges[table]; r.first != nil {
			line.First, line.Last = db.tables[table].keyOf(r.first), db.tables[table].keyOf(r.last)
		}
		all.Tables = append(all.Tables, line)
	}
	return all
}
