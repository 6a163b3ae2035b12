// Package inventory reads what there is in a fleet: for each world what its database says of
// itself, how large it is, whether it runs, and how many people play there. It writes nothing.
package inventory

import "time"

// Version is the version of the JSON form of [Inventory].
const Version = 1

// Inventory is what was read of all worlds of a fleet.
type Inventory struct {
	Version int       `json:"version"`
	Program string    `json:"program,omitempty"` // that read it, with its version
	Made    time.Time `json:"made"`
	Took    float64   `json:"took"`   // seconds
	Worlds  []World   `json:"worlds"` // in the order in which they were given

	// Schemas are the schemas that the worlds have, the most frequent first.
	Schemas []Schema `json:"schemas,omitempty"`
}

// Schema is how the tables of some worlds are made.
type Schema struct {
	Fingerprint string `json:"fingerprint"`
	Engine      string `json:"engine"`
	Worlds      int    `json:"worlds"`

	// Drift is how it differs from the schema that most worlds of that engine have.
	Drift []string `json:"drift,omitempty"`
}

// World is what is known of one world.
type World struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"` // such as "language" and "zone"
	Server string            `json:"server"`           // the database server, host:port or a socket; "sqlite" for files of this machine

	// Problem is why the world could not be read: every field below is zero or
	// incomplete then. It holds no secret.
	Problem string `json:"problem,omitempty"`

	Engine  string `json:"engine,omitempty"` // "sqlite", "mariadb" or "mysql"
	Version string `json:"version,omitempty"`

	Schema string   `json:"schema,omitempty"` // the fingerprint
	Drift  []string `json:"drift,omitempty"`  // how the schema differs from that of most worlds with this engine
	Tables int      `json:"tables"`
	Rows   int64    `json:"rows"`
	Bytes  int64    `json:"bytes"`

	// Estimated tells that Rows is the estimate of the server, which may be far off.
	Estimated bool `json:"estimated,omitempty"`

	State   State      `json:"state,omitempty"`
	Servers []Server   `json:"servers,omitempty"` // of its registry; none if it has none
	Merged  *LastMerge `json:"last_merge,omitempty"`
	Players *Players   `json:"players,omitempty"` // nil if it is not known which table has them
	Growth  *Growth    `json:"growth,omitempty"`  // nil without an earlier inventory
}

// Reached reports whether the database answered.
func (w *World) Reached() bool { return w.Engine != "" }

// State tells whether a world is in use.
type State string

// The states of a world.
const (
	Running State = "running" // a live process holds the lease of one of its servers
	Stopped State = "stopped" // no process does
	Fenced  State = "fenced"  // it went to a new database, or a merge is under way
	Unknown State = "unknown" // it has no registry, or no server of its own in it: only the operator can tell
)

// Server is one server of a world.
type Server struct {
	Server int    `json:"server"`
	Name   string `json:"name,omitempty"`
	Own    bool   `json:"own"` // rather than one that came by a merge
	Mark   int64  `json:"mark"`
	State  State  `json:"state"`
}

// LastMerge is the merge that made the database of the world, or of its history the one that was begun last.
type LastMerge struct {
	ID     string    `json:"id"`
	Worlds []string  `json:"worlds"`
	At     time.Time `json:"at"`
	Open   bool      `json:"open"` // it is a world; before that, nothing may be merged with it
}

// Players are how many people play in a world.
type Players struct {
	Total    int64 `json:"total"`
	Active1  int64 `json:"active_1"` // within the last day before the inventory
	Active7  int64 `json:"active_7"`
	Active30 int64 `json:"active_30"`
	Peak     int64 `json:"peak"` // the most that were active within one day of the last 30, as far as the last times of activity tell
}

// Growth is what changed since an earlier inventory.
type Growth struct {
	Since   time.Time `json:"since"`
	Rows    int64     `json:"rows"`
	Bytes   int64     `json:"bytes"`
	Active7 int64     `json:"active_7"` // 0 if it is not known of both

	// Estimated tells that one of the two numbers of rows is an estimate.
	Estimated bool `json:"estimated,omitempty"`
}
