package merge

import (
	"context"

	"mergesafe/gameid"
)

// facts are what the rules judge by, besides the rows that were read for them: what was
// declared, and what earlier passes established. Rules only read them.
type facts struct {
	*resolved
	allowances []allowance // of opts

	established
}

// established is what passes found out that other rules build on.
type established struct {
	// failed are the codes with a conflict, of those that are wanted.
	failed map[string]bool

	// alike are the tables that seem to be the same in every source.
	alike map[string]bool

	// servers are those of the IDs in a column of a database, of the columns of which
	// all IDs were read.
	servers map[columnsID]map[*database]map[gameid.ServerID]bool

	// disjoint tells of keys whether none of their values is there twice.
	disjoint map[columnsID]bool

	// complete tells of columns whether they are a reference of which every row leads
	// somewhere, in every database.
	complete map[columnsID]bool

	// rekeyed is what becomes of the keys of sources; nil if they stay, or if they would
	// move and cannot.
	rekeyed *rekeyed
}

func newEstablished() established {
	return established{make(map[string]bool), make(map[string]bool), make(map[columnsID]map[*database]map[gameid.ServerID]bool), make(map[columnsID]bool), make(map[columnsID]bool), nil}
}

// describeAll resolves the declarations, and returns facts of which nothing is established yet.
func describeAll(ctx context.Context, sources []Source, opts Options) (*facts, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	allowances, err := opts.allowances()
	if err != nil {
		return nil, err
	}
	resolved, err := resolveAll(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	for _, a := range allowances {
		if err := a.resolve(resolved.names); err != nil {
			return nil, err
		}
	}
	return &facts{resolved: resolved, allowances: allowances, established: newEstablished()}, nil
}

// pair returns the facts about two of the databases.
func (f *facts) pair(target, db *database) *facts {
	return &facts{resolved: f.resolved.pair(target, db), allowances: f.allowances, established: newEstablished()}
}
