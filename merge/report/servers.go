package report

import (
	"slices"
	"time"

	"mergesafe/gameid"
	"mergesafe/merge/transfer"
)

// server is a server of a database that takes part in a merge. A database
// without a registry has one with the number 0.
type server struct {
	Database, Name string
	Number         gameid.ServerID
	Target, Fence  bool
	Fate           fate
	Mark           time.Time
}

// fate is what becomes of a server in a merge.
type fate int

const (
	noFate     fate = iota // of a server that is not known
	goesOn                 // on the target
	ends                   // on its source
	comesAlong             // it was merged into its source earlier
	moves                  // to the new database
)

func (f fate) String() string {
	return [...]string{"", "continues", "ends", "comes with it", "moves"}[f]
}

// servers returns the servers of a plan, those of the target first.
func servers(p *transfer.Plan) (all []server) {
	for i, w := range append([]transfer.World{p.Target}, p.Sources...) {
		of := server{Database: w.Name, Target: i == 0, Fence: w.Fence}
		if len(w.Servers) == 0 {
			all = append(all, of)
		}
		for _, s := range w.Servers {
			of.Number, of.Name, of.Mark, of.Fate = s.Server, s.Name, gameid.TimeOf(s.Reserved), comesAlong
			switch {
			case of.Target && p.Into != nil && s.Own:
				of.Fate = moves
			case of.Target:
				of.Fate = goesOn
			case s.Own:
				of.Fate = ends
			}
			all = append(all, of)
		}
	}
	return all
}

// FenceIn says whether a server that ends is fenced, according to the state of the
// merge. For one that continues it says so only if it is fenced.
func (s server) FenceIn(at *transfer.Status) string {
	fenced := at != nil && slices.Contains(at.Fences, transfer.FenceStatus{Source: s.Database, Server: s.Number.String(), Fenced: true})
	switch {
	case s.Fate == goesOn && fenced:
		return "fenced"
	case s.Fate != ends && s.Fate != moves:
		return ""
	case !s.Fence:
		return "not planned"
	case at == nil:
		return "not known"
	case fenced:
		return "fenced"
	}
	return "not fenced"
}
