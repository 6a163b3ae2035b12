package report

import (
	"slices"

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
}

// fate is what becomes of a server in a merge.
type fate int

const (
	noFate     fate = iota // of a server that is not known
	moves                  // to the new database
	ends                   // on its world
	comesAlong             // it was merged into its world earlier
)

// servers returns the servers of a plan, in the order of its worlds.
func servers(p *merge.Plan) (all []server) {
	for i, w := range p.Worlds {
		of := server{Database: w.Name, Fence: w.Fence}
		if len(w.Servers) == 0 {
			all = append(all, of)
		}
		for _, s := range w.Servers {
			of.ID, of.Name, of.Fate = s.Server, s.Name, comesAlong
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

// who is the server with its name: "server 2 (realm 2)".
func (s server) who() string {
	switch {
	case s.Fate == noFate:
		return "no registry"
	case s.Name != "":
		return "server " + s.ID.String() + " (" + s.Name + ")"
	}
	return "server " + s.ID.String()
}

// becomes says what becomes of the server.
func (s server) becomes() string {
	switch {
	case s.Fate == noFate:
		return "servermerge cannot see whether its game server is running, nor prevent it from being started"
	case s.Fate == moves:
		return "continues in the new database; it can no longer be started on this one"
	case s.Fate == comesAlong:
		return "was merged in earlier, and is copied with it"
	case s.Fence:
		return "ends: it can no longer be started on this database"
	}
	return "ends, but NOTHING prevents it from being started again: rows that it then creates never reach the new database"
}

// fenceIn says whether a server is fenced, by the state of the merge.
func (s server) fenceIn(at *merge.Status) string {
	switch fenced := (merge.FenceStatus{World: s.Database, Server: s.ID.String(), Fenced: true}); {
	case !s.Fence:
		return "no fence is planned"
	case slices.Contains(at.Fences, fenced):
		return "fenced by this merge: it cannot be started"
	}
	return "not fenced by this merge"
}
