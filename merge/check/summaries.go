package check

import (
	"maps"
	"slices"
	"strings"

	"mergesafe/gameid"

	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// summaries gather what passes read, for the summary of every source.
type summaries map[*rules.Database]*gathered

// gathered is what was read of one world.
type gathered struct {
	tallies tallies // of all its keys
	ranges  map[string]stream.KeyRange
}

func newSummaries(f *Facts) summaries {
	s := make(summaries)
	for _, db := range f.DBs {
		s[db] = &gathered{newTallies(db), make(map[string]stream.KeyRange)}
	}
	return s
}

// note adds what was read of the key of a table.
func (s summaries) note(k *keyReading) {
	for _, p := range k.Parts {
		s[p.DB].ranges[k.Table] = p.Ends
	}
	for _, c := range k.IDs {
		for _, ids := range c.Worlds {
			if ids.Key {
				s[ids.DB].tallies.Add(&ids.tallies)
			}
		}
	}
}

// summary tells what was read of the database, by server and by table.
func (s summaries) summary(db *rules.Database) verdict.Summary {
	g := s[db]
	all := verdict.Summary{
		Name: db.Name, Engine: strings.TrimSpace(db.Catalog.Engine + " " + db.Catalog.EngineVersion),
		Servers: []verdict.ServerSummary{}, Tables: []verdict.TableSummary{},
		OtherIDs: g.tallies.Others.IDs,
	}
	for _, server := range slices.Sorted(maps.Keys(g.tallies.ByServer)) {
		t := g.tallies.ByServer[server]
		line := verdict.ServerSummary{Server: int(server), Listed: t.Listed, IDs: t.IDs}
		if t.IDs > 0 {
			line.Oldest, line.Newest = gameid.TimeOf(t.Oldest), gameid.TimeOf(t.Newest)
		}
		if row, listed := db.Listed[server]; listed {
			line.Name, line.World, line.Own = row.Name, row.World, row.Own
			line.Mark = gameid.TimeOf(row.Reserved)
		}
		all.Servers = append(all.Servers, line)
	}
	for _, table := range slices.Sorted(maps.Keys(db.Tables)) {
		line := verdict.TableSummary{Table: table, Rows: db.About(table)}
		if r := g.ranges[table]; r.First != nil {
			line.First, line.Last = keyOf(db.Tables[table], r.First), keyOf(db.Tables[table], r.Last)
		}
		all.Tables = append(all.Tables, line)
	}
	return all
}
