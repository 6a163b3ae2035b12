package merge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/merge/rekey"
)

// WorldKey says how to compute the number of its world from an integer key, so that
// future keys cannot collide either.
type WorldKey struct {
	At    string `json:"at"`    // columns, as in Declarations
	Value string `json:"value"` // as [rekey.ParseExpression] reads it

	File string `json:"-"` // for messages
}

// worldColumn is a WorldKey as it is in the databases.
type worldColumn struct {
	columnName
	world *rekey.Expression
}

// worldColumns resolves the declarations.
func worldColumns(opts Options, n names) (all []worldColumn, err error) {
	for i, w := range opts.Worlds {
		e, err := rekey.ParseExpression(w.Value)
		if err == nil {
			err = n.each(w.At, func(at columnName, exact bool) error {
				if col := n[at.table][at.column]; exact && col.Kind != KindInteger {
					return fmt.Errorf("%s is %s: want an integer", at, col.Type)
				}
				all = append(all, worldColumn{at, e})
				return nil
			})
		}
		if err != nil {
			return nil, unsuitable("world %d%s: %v", i+1, in(w.File, 0), err)
		}
	}
	return all, nil
}

// worldRule looks whether every key carries a number of its own world, and none of
// another's.
func worldRule() rule {
	return rule{
		codes: []string{CodeKeyWorld},
		tasks: worldTasks,
	}
}

func worldTasks(f *facts) (tasks []task) {
	for _, w := range f.worlds {
		if _, model := f.model(w.table); model == nil || !f.wants(CodeKeyWorld, w.table, w.column) {
			continue
		}
		tasks = append(tasks, task{taskID{code: CodeKeyWorld, columns: idOf(w.table, w.column), to: idOf(w.world.String())}, []string{w.table}, func(ctx context.Context, r *reader) (outcome, error) {
			result, err := judgeWorlds(ctx, f, r, w)
			return found(result), err
		}})
	}
	return tasks
}

// maxWorlds is how many worlds of one database are told apart.
const maxWorlds = 1 << 16

// judgeWorlds reads the keys of a column.
func judgeWorlds(ctx context.Context, f *facts, r *reader, w worldColumn) (Result, error) {
	result := Result{Code: CodeKeyWorld, Table: w.table, Subject: w.column, Columns: []string{w.column}}
	rows := make(map[uint64]map[*database]int64) // by world
	var parts []string
	var kept []conflict
	for db, t := range f.having(w.table) {
		col := t.column(w.column)
		if col == nil || col.Kind != KindInteger {
			result.Gaps = append(result.Gaps, Gap{db.name, "column " + w.column + " is " + col.describe()})
			continue
		}
		here, strange := make(map[uint64]int64), int64(0)
		carry := t.rowKey([]string{w.column})
		s := r.stream(db, CodeKeyWorld, len(carry), Scan{Table: w.table, Carry: slices.Clip(carry), Unsorted: true})
		at := s.carry(w.column)
		s.visit = append(s.visit, func(b *Batch) {
			for row := range b.Len {
				n, ok := rekey.ParseInteger(b.Carry[at].At(row))
				if !ok {
					continue // NULL
				}
				result.Read++
				world, ok := w.world.Of(n)
				if ok = ok && worldIsOwn(db, world) && (len(here) < maxWorlds || here[world] > 0); ok {
					here[world]++
				} else if strange++; len(kept) < f.opts.Samples {
					kept = append(kept, conflict{rows: 1, members: []member{s.member(row)}})
				}
			}
		})
		if err := s.drain(ctx); err != nil {
			return result, err
		}
		if strange > 0 {
			result.Count += strange
			parts = append(parts, db.name+": "+printable.Count(strange, "row", "rows")+" of worlds that are not its own")
		}
		var worlds []string
		for _, world := range slices.Sorted(maps.Keys(here)) {
			worlds = append(worlds, fmt.Sprint(world))
			if rows[world] == nil {
				rows[world] = make(map[*database]int64)
			}
			rows[world][db] = here[world]
		}
		if len(worlds) > 0 {
			parts = append(parts, db.name+": world "+enumerated(worlds))
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
	result.Samples, err = r.samples(ctx, kept, w.table, []string{w.column})
	return result, err
}

// worldIsOwn reports whether a number may be in the keys of a database: it is one that
// its registry lists. Without a registry any may.
func worldIsOwn(db *database, world uint64) bool {
	if !db.catalog.HasRegistry {
		return true
	}
	_, listed := db.listed[gameid.ServerID(world)]
	return listed && world <= uint64(gameid.MaxServer)
}
