package record

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// Gone says what is gone of what the plan read in a world: its database, or a table with rows; "" if nothing is.
func Gone(ctx context.Context, p *plan.Plan, i int, d world.Database) (what string, err error) {
	if there, err := world.Exists(ctx, d); err != nil || !there {
		return "there is no such database any more", err
	}
	on := &world.Connection{Database: d}
	defer on.Close()
	found, err := world.Contains(ctx, on)
	if err != nil {
		return "", err
	}
	for _, t := range p.Tables {
		if t.Worlds[i].Rows > 0 && !slices.ContainsFunc(found, func(name string) bool { return strings.EqualFold(name, t.Name) }) {
			return fmt.Sprintf("it has no table %q any more", t.Name), nil
		}
	}
	return "", nil
}
