package campaign

import (
	"context"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
)

// lookDistinct finds databases that two worlds of the campaign share, by whatever names and addresses. A world that
// keeps a registry is told from another by that; one that keeps none would be merged twice, or with itself.
func (n *preflight) lookDistinct(ctx context.Context) error {
	named := make(map[string][]merge.Database) // by the name of the database on its server; those of SQLite together
	merges := make(map[string]string)          // by world
	for _, d := range n.all {
		for j, world := range d.Worlds {
			at, _ := sqldb.ParseServer(d.databases[j].DSN)
			merges[world] = d.Name()
			name := strings.ToLower(at.Database)
			named[name] = append(named[name], merge.Database{Name: world, DSN: d.databases[j].DSN})
		}
	}
	for _, those := range named {
		twins, _ := merge.Twins(ctx, those) // one that does not answer is a matter of the looks that follow
		for _, t := range twins {
			switch {
			case t.Unclear == "":
				n.problem(merges[t.B], t.B, "it is the same database as the world %q: a world can be in a campaign only once", t.A)
			case merges[t.A] != merges[t.B]: // else the plan says so, and may allow it
				n.problem(merges[t.B], t.B, "it may be the same database as the world %q: %s", t.A, t.Unclear)
			}
		}
		if ctx.Err() != nil {
			return &merge.StoppedError{Doing: "checking whether everything is ready", Cause: context.Cause(ctx)}
		}
	}
	return nil
}
