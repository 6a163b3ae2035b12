package campaign

import (
	"context"
	"crypto/rand"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer"
)

// lookDistinct finds databases that two worlds of the campaign share: the same name on servers
// with two addresses, such as localhost and 127.0.0.1, which may be one server. A world that
// keeps a registry is told from another by that; one that keeps none would be merged into two
// targets, or into itself. What one address tells is compared where the worlds are looked up.
func (n *preflight) lookDistinct(ctx context.Context) error {
	named := make(map[string][]spot) // by the name of the database
	for _, d := range n.all {
		for j, world := range d.Worlds() {
			in := d.databases[j]
			if at, ok := sqldb.ParseServer(in.DSN); ok {
				named[at.Database] = append(named[at.Database], spot{d.Target, world, at.Address, in})
			}
		}
	}
	for _, spots := range named {
		if !slices.ContainsFunc(spots, func(p spot) bool { return p.address != spots[0].address }) {
			continue
		}
		known := make(map[string][]spot) // by what the server says of itself
		for _, p := range spots {
			server, err := serverAt(ctx, p.in)
			if err != nil { // one that does not answer is a matter of the looks that follow
				continue
			}
			for _, other := range known[server] {
				if same, err := oneServer(ctx, other.in, p.in); err == nil && same {
					n.problem(p.target, p.world, "it is the same database as the world %q, at another address: a world can be in one merge of a campaign, once", other.world)
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
	target, world string
	address       string
	in            transfer.Database
}

// serverAt is what a server says of itself. Two containers may say the same.
func serverAt(ctx context.Context, d transfer.Database) (says string, err error) {
	db, err := sqldb.Dial(ctx, d.DSN, true)
	if err != nil {
		return "", err
	}
	defer db.Close()
	return says, db.Get(ctx, &says, "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir)")
}

// oneServer reports whether two DSNs lead to one server: a lock that a connection has by one is
// seen by the other.
func oneServer(ctx context.Context, a, b transfer.Database) (same bool, err error) {
	first, err := sqldb.Dial(ctx, a.DSN, true)
	if err != nil {
		return false, err
	}
	defer first.Close()
	second, err := sqldb.Dial(ctx, b.DSN, true)
	if err != nil {
		return false, err
	}
	defer second.Close()
	name := "mergesafe " + rand.Text()
	err = first.Snapshot(ctx, func(tx *sqldb.Tx) error { // one connection
		var got int
		if err := tx.Get(ctx, &got, "SELECT GET_LOCK(?, 0)", name); err != nil {
			return err
		}
		err := second.Get(ctx, &same, "SELECT IS_USED_LOCK(?) IS NOT NULL", name)
		if freed := tx.Get(ctx, &got, "SELECT RELEASE_LOCK(?)", name); err == nil {
			err = freed
		}
		return err
	})
	return same, err
}
