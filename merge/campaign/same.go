package campaign

import (
	"context"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/site"
	"mergesafe/merge/transfer"
)

// lookDistinct finds databases that two worlds of the campaign share: the same name on servers
// with two addresses, such as localhost and 127.0.0.1, which may be one server. A world that
// keeps a registry is told from another by that; one that keeps none would be merged twice, or with
// itself. What one address tells is compared where the worlds are looked up.
func (n *preflight) lookDistinct(ctx context.Context) error {
	named := make(map[string][]spot) // by the name of the database
	for _, d := range n.all {
		for j, world := range d.Worlds {
			in := d.databases[j]
			if at, ok := sqldb.ParseServer(in.DSN); ok {
				named[at.Database] = append(named[at.Database], spot{d.Name(), world, at.Address, in})
			}
		}
	}
	for _, spots := range named {
		if !slices.ContainsFunc(spots, func(p spot) bool { return p.address != spots[0].address }) {
			continue
		}
		known := make(map[string][]spot) // by what the server says of itself
		for _, p := range spots {
			server, err := site.Says(ctx, p.in)
			if err != nil { // one that does not answer is a matter of the looks that follow
				continue
			}
			for _, other := range known[server] {
				if same, err := site.OneServer(ctx, other.in, p.in); err == nil && same {
					n.problem(p.merge, p.world, "it is the same database as the world %q, at another address: a world can be in one merge of a campaign, once", other.world)
				}
			}
			known[server] = append(known[server], p)
		}
		if ctx.Err() != nil {
			return &transfer.StoppedError{Doing: "looking whether all is ready", Cause: context.Cause(ctx)}
		}
	}
	return nil
}

// spot is a world of a merge, and where it is.
type spot struct {
	merge, world string
	address      string
	in           transfer.Database
}
