package record

import (
	"context"
	"fmt"

	"mergesafe/internal/naming"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// Gone says what is gone of what the plan read in a world: its database, or what [Missing] says; "" if nothing is.
func Gone(ctx context.Context, p *plan.Plan, i int, d world.Database) (what string, err error) {
	if there, err := world.Exists(ctx, d); err != nil || !there {
		return "there is no such database any more", err
	}
	on := &world.Connection{Database: d}
	defer on.Close()
	return Missing(ctx, p, i, on)
}

// Missing says what a world lacks of what the plan read there: its registry, a table with rows, or all rows; "" if it lacks
// nothing.
func Missing(ctx context.Context, p *plan.Plan, i int, on *world.Connection) (what string, err error) {
	found, err := world.Contains(ctx, on)
	if err != nil {
		return "", err
	}
	if len(p.Worlds[i].Servers) > 0 {
		if !naming.Among(found, worldregistry.Table) {
			return fmt.Sprintf("it has no registry (table %q) any more", worldregistry.Table), nil
		}
		if empty, err := isEmpty(ctx, on, worldregistry.Table); err != nil || empty {
			return fmt.Sprintf("its registry (table %q) lists no server any more", worldregistry.Table), err
		}
	}
	empty := false
	for _, t := range p.Tables {
		if t.Worlds[i].Rows > 0 && !naming.Among(found, t.Name) {
			return fmt.Sprintf("it has no table %q any more", t.Name), nil
		}
	}
	for _, t := range p.Tables { // a game may empty some, but not all
		if t.Worlds[i].Rows > 0 {
			if empty, err = isEmpty(ctx, on, t.Name); err != nil || !empty {
				return "", err
			}
		}
	}
	if empty {
		what = "none of its tables has a row any more"
	}
	return what, nil
}

// Emptied is a table of a world, of which the merge copied rows, that had rows and has none any more; "" if there is none such.
func Emptied(ctx context.Context, p *plan.Plan, i int, d world.Database, copied func(table string) bool) (table string, err error) {
	on := &world.Connection{Database: d}
	defer on.Close()
	for _, t := range p.Tables {
		if t.Worlds[i].Rows == 0 || !copied(t.Name) {
			continue
		}
		if empty, err := isEmpty(ctx, on, t.Name); err != nil || empty {
			return t.Name, err
		}
	}
	return "", nil
}

func isEmpty(ctx context.Context, on *world.Connection, table string) (bool, error) {
	rows, err := on.Texts(ctx, "SELECT 1 FROM "+on.Dialect().Quote(table)+" LIMIT 1")
	return len(rows) == 0, err
}
