package plan

import (
	"fmt"
	"slices"

	"mergesafe/merge/transfer/rowio"
)

// Into is the new database in which a merge is made, beside all worlds. What is made there is
// the first world with the rows of the others: [Plan.Target] is that world as it was found, from
// which nothing is removed and to which nothing comes.
type Into struct {
	Name string `json:"name"`

	// There says that an empty database of the name was there when the merge was planned. An undo
	// leaves it there, and drops one that the merge made.
	There bool `json:"there,omitempty"`

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

	// Tables are those of the first world that no row of another world comes to.
	Tables []OwnTable `json:"tables"`

	// Counters are those of the tables that no row comes to.
	Counters []Counted `json:"counters,omitempty"`
}

// Counted is a column that the database counts.
type Counted struct {
	Table  string `json:"table"`
	Column string `json:"column"`
}

// OwnTable is a table of which only the first world's rows come into the new database.
type OwnTable struct {
	Name    string        `json:"table"`
	Key     []string      `json:"key"`
	Content rowio.Content `json:"content"`
}

// Place is the name of the database that the rows come to: the target, or the new one.
func (p *Plan) Place() string {
	if p.Into != nil {
		return p.Into.Name
	}
	return p.Target.Name
}

// Databases are the names of all databases of the plan, in the order in which commands take
// them: the one that rows come to, then those that they come from.
func (p *Plan) Databases() []string {
	names := []string{p.Place()}
	for _, w := range p.Origins() {
		names = append(names, w.Name)
	}
	return names
}

// Origins are the worlds that rows come from: of a merge into a new database, all.
func (p *Plan) Origins() []World {
	if p.Into != nil {
		return p.Worlds()
	}
	return p.Sources
}

// OwnRows is how many rows come to the new database from the first world.
func (p *Plan) OwnRows() int64 {
	if p.Into == nil {
		return 0
	}
	return rowio.Total(p.Tables, func(t *Table) int64 { return t.Target.Rows }) +
		rowio.Total(p.Into.Tables, func(t *OwnTable) int64 { return t.Content.Rows })
}

// AllRows is how many rows will be copied, from all worlds.
func (p *Plan) AllRows() int64 { return p.Rows() + p.OwnRows() }

// Own returns the table of which only the first world's rows come, or nil.
func (p *Plan) Own(table string) *OwnTable {
	if p.Into == nil {
		return nil
	}
	return rowio.First(p.Into.Tables, func(t *OwnTable) bool { return t.Name == table })
}

// validateInto returns an error unless the ranges of the first world's rows are all of them.
func (p *Plan) validateInto() error {
	if p.Into == nil {
		return nil
	}
	for i := range p.Tables {
		t := &p.Tables[i]
		if err := t.Target.ValidateRanges(t.Key); err != nil {
			return fmt.Errorf("transfer: the plan contradicts itself in table %q of %q: %w", t.Name, p.Target.Name, err)
		}
	}
	for i := range p.Into.Tables {
		t := &p.Into.Tables[i]
		if err := t.Content.ValidateRanges(t.Key); err != nil {
			return fmt.Errorf("transfer: the plan contradicts itself in table %q of %q: %w", t.Name, p.Target.Name, err)
		}
	}
	if slices.Contains(p.Databases()[1:], p.Into.Name) {
		return fmt.Errorf("transfer: the plan contradicts itself: %q is a world of it, and new", p.Into.Name)
	}
	return nil
}
