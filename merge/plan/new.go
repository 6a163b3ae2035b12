package plan

import (
	"fmt"

	"mergesafe/internal/sqldb"
)

// New is the database that a merge makes, beside all worlds. It becomes the first world, with the rows of the
// others.
type New struct {
	Name string `json:"name"`

	// Place is where it is, or is to be made, until it has the record of the merge: then it is known by that. It is not
	// part of [Plan.ID].
	Place sqldb.Place `json:"place,omitzero"`

	// There says that an empty database of the name was there when the merge was planned. An undo
	// leaves it there, and drops one that the merge made.
	There bool `json:"there,omitempty"`

	// Engine is that of tables whose engine in the first world has no transactions; "" if there are none. Recounted are
	// their columns that count anew for each value of the columns before them in the key, and here through the table.
	Engine    string   `json:"engine,omitempty"`
	Recounted []string `json:"recounted,omitempty"`

	// Objects is how many things apply makes there beside tables: indexes, foreign keys, views,
	// triggers, routines, events, sequences.
	Objects int `json:"objects"`

	// Made has a fingerprint of each thing that the first world is made of, so that apply notices
	// what was altered since.
	Made map[string]string `json:"made"`

	// Grants are the statements that give the accounts of the game in the new database what they
	// may do in the first world; Unseen says why there may be more. SQLite has no accounts.
	Grants []string `json:"grants,omitempty"`
	Unseen string   `json:"unseen,omitempty"`

	// Bytes is about how much the databases of all worlds take on the disk.
	Bytes int64 `json:"bytes"`
}

// Databases are the names of all databases of the plan, in the order in which commands take
// them: the new one, then the worlds.
func (p *Plan) Databases() []string {
	names := []string{p.New.Name}
	for _, w := range p.Worlds {
		names = append(names, w.Name)
	}
	return names
}

// validateNew returns an error if the new database is one of the worlds.
func (p *Plan) validateNew() error {
	if p.New.Name == "" || p.World(p.New.Name) >= 0 {
		return fmt.Errorf("merge: the plan contradicts itself: the new database %q is one of its worlds, or has no name", p.New.Name)
	}
	return nil
}
