package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// worldRule looks whether every key carries the server of its own world, and no key that
// of another.
var worldRule = Rule{
	Codes: []string{verdict.CodeKeyWorld},
	Tasks: worldTasks,
}

func worldTasks(f *Facts) (tasks []Task) {
	for _, w := range f.Worlds {
		if _, model := f.ModelOf(w.Table); model == nil {
			continue
		}
		tasks = append(tasks, Task{Code: verdict.CodeKeyWorld, Tables: []string{w.Table}, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
			result, err := judgeWorlds(ctx, f, r, w)
			return Found(result), err
		}})
	}
	return tasks
}

// maxWorlds is how many worlds of one database are told apart.
const maxWorlds = 1 << 16

// judgeWorlds reads the keys of a column.
func judgeWorlds(ctx context.Context, f *Facts, r *Reader, w rules.WorldColumn) (verdict.Result, error) {
	result := verdict.Result{Code: verdict.CodeKeyWorld, Table: w.Table, Subject: w.Column, Columns: []string{w.Column}}
	rows := make(map[uint64]map[*rules.Database]int64) // by world
	var parts []string
	var kept []stream.Conflict
	for db, t := range f.Having(w.Table) {
		col := t.Column(w.Column)
		if col == nil || col.Kind != catalog.KindInteger {
			result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: "column " + w.Column + " is " + col.Describe()})
			continue
		}
		here, strange := make(map[uint64]int64), int64(0)
		carry := t.RowKey([]string{w.Column})
		s := r.Stream(db, verdict.CodeKeyWorld, len(carry), catalog.Scan{Table: w.Table, Carry: slices.Clip(carry), Unsorted: true})
		at := s.Carry(w.Column)
		s.Visit = append(s.Visit, func(b *catalog.Batch) {
			for row := range b.Len {
				n, ok := keys.ParseInteger(b.Carry[at].At(row))
				if !ok {
					continue // NULL
				}
				result.Read++
				world, ok := w.World.Of(n)
				if ok = ok && worldIsOwn(db, world) && (len(here) < maxWorlds || here[world] > 0); ok {
					here[world]++
				} else if strange++; len(kept) < rules.Samples {
					kept = append(kept, stream.Conflict{Rows: 1, Members: []stream.Member{s.Member(row)}})
				}
			}
		})
		if err := s.Drain(ctx); err != nil {
			return result, err
		}
		if strange > 0 {
			result.Count += strange
			parts = append(parts, db.Name+": "+printable.Count(strange, "row", "rows")+" of worlds that are not its own")
		}
		var worlds []string
		for _, world := range slices.Sorted(maps.Keys(here)) {
			worlds = append(worlds, fmt.Sprint(world))
			if rows[world] == nil {
				rows[world] = make(map[*rules.Database]int64)
			}
			rows[world][db] = here[world]
		}
		if len(worlds) > 0 {
			parts = append(parts, db.Name+": world "+catalog.Enumerated(worlds))
		}
	}
	for _, world := range slices.Sorted(maps.Keys(rows)) {
		if of := rows[world]; len(of) > 1 {
			for _, n := range of {
				result.Count += n
			}
			parts = append(parts, fmt.Sprintf("world %d is in %d databases", world, len(of)))
		}
	}
	result.Rows, result.Message = result.Count, strings.Join(parts, "; ")
	var err error
	result.Samples, err = r.Samples(ctx, kept, w.Table, []string{w.Column})
	return result, err
}

// worldIsOwn reports whether the keys of a database may carry this world: a server that
// its registry lists. Without a registry they may carry any.
func worldIsOwn(db *rules.Database, world uint64) bool {
	if !db.Catalog.HasRegistry {
		return true
	}
	_, listed := db.Listed[gameid.ServerID(world)]
	return listed && world <= uint64(gameid.MaxServer)
}
