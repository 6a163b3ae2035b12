package report

import (
	"slices"
	"time"

	"mergesafe/gameid"
	"mergesafe/merge"
)

// server is a server of a database that takes part in a merge. A database
// without a registry has one whose ID is 0.
type server struct {
	Database, Name string
	ID             gameid.ServerID
	Fence          bool
	Fate           fate
	Mark           time.Time
}

// fate is what becomes of a server in a merge.
type fate int

const (
	noFate     fate = iota // of a server that is not known
	moves                  // to the new database
	ends                   // on its world
	comesAlong             // it was merged into its world earlier
)

func (f fate) String() string {
	return [...]string{"", "moves", "ends", "comes with it"}[f]
}

// servers returns the servers of a plan, in the order of its worlds.
func servers(p *merge.Plan) (all []server) {
	for i, w := range p.Worlds {
		of := server{Database: w.Name, Fence: w.Fence}
		if len(w.Servers) == 0 {
			all = append(all, of)
		}
		for _, s := range w.Servers {
			of.ID, of.Name, of.Mark, of.Fate = s.Server, s.Name, gameid.TimeOf(s.Reserved), comesAlong
			switch {
			case s.Own && i == 0:
				of.Fate = moves
			case s.Own:
				of.Fate = ends
			}
			all = append(all, of)
		}
	}
	return all
}

// FenceIn says whether a server is fenced, according to the state of the merge; nothing of one that
// was merged in earlier.
func (s server) FenceIn(at *merge.Status) string {
	fenced := at != nil && slices.Contains(at.Fences, merge.FenceStatus{World: s.Database, Server: s.ID.String(), Fenced: true})
	switch {
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
