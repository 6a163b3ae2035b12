package record

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// Planned is what the plan of a merge says of a key of a world. One of New and Stays is set.
type Planned struct {
	Source string `json:"source"`
	Table  string `json:"table"`
	Old    string `json:"old"`
	New    string `json:"new,omitempty"`   // if the world had the key
	Stays  string `json:"stays,omitempty"` // why the row stayed behind
	Merge  string `json:"merge"`
}

// ByPlan says what became of the row with a key of a table of a world by the plans of the merges that the database has on
// record, merge by merge, the first one first: that it stayed behind; or its new key, if it is one of which there is no
// other record: a key of a first world, or one that is not one column of integers. Keys are written as [keys.Key.String] does.
// way is what [Whereis] found of the key; then ByPlan only says if its row stayed behind by a later merge.
//
// It returns nothing if no plan says anything, and an error if one does not know whether the row stayed behind. Only that
// database is read.
func ByPlan(ctx context.Context, merged world.Database, source, table, key string, way []Origin) ([]Planned, error) {
	m := &Manifest{On: &world.Connection{Database: merged}}
	defer m.On.Close()
	if len(way) > 0 {
		last := way[len(way)-1]
		later, err := m.later(ctx, last.Merge, last.Table, last.New.String())
		if n := len(later); n > 0 && later[n-1].Stays != "" {
			return later[n-1:], err
		}
		return nil, err
	}
	ids, err := m.Ask(ctx, "SELECT id FROM "+allMerges+" ORDER BY began DESC, id")
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		p, err := m.recorded(ctx, id)
		if err != nil || p == nil {
			return nil, err
		}
		step, err := ofKey(p, source, table, key)
		if err != nil {
			return nil, err
		}
		if step.Stays == "" && p.World(source) > 0 && numbered(p, source, step.Table) {
			continue // [Whereis] knows which keys there were
		}
		if step.New+step.Stays == "" {
			continue
		}
		if step.Stays != "" {
			return []Planned{step}, nil
		}
		later, err := m.later(ctx, id, step.Table, step.New)
		return append([]Planned{step}, later...), err
	}
	return nil, nil
}

// later says what became of a key of the database that a merge made by the merges that came after.
func (m *Manifest) later(ctx context.Context, id, table, key string) (all []Planned, err error) {
	links, err := m.links(ctx, id)
	for _, l := range links {
		step, err := ofKey(l.plan, l.plan.Worlds[l.world].Name, table, key)
		if err != nil {
			return nil, err
		}
		if step.New+step.Stays == "" {
			step.Stays = "no rows of its table were copied"
		}
		if all = append(all, step); step.Stays != "" {
			return all, nil
		}
		key = step.New
	}
	return all, err
}

// link is a merge that took a database as one of its worlds.
type link struct {
	plan  *plan.Plan
	world int
}

// links are the merges that took the database which a merge made, one after another.
func (m *Manifest) links(ctx context.Context, id string) (all []link, err error) {
	for {
		found, err := m.Ask(ctx, "SELECT later FROM "+allMerges+" WHERE id = ?", id)
		if err != nil || len(found) == 0 || found[0] == "" {
			return all, err
		}
		merge, number, _ := strings.Cut(found[0], ".")
		p, err := m.recorded(ctx, merge)
		if err != nil || p == nil {
			return all, err
		}
		w, err := strconv.Atoi(number)
		if err != nil || w >= len(p.Worlds) {
			return nil, fmt.Errorf("merge: %s of the merge %s: there is no world %q", MergesTable, id, found[0])
		}
		id, all = merge, append(all, link{p, w})
	}
}

// recorded is the plan of a merge on record, with its renames; nil if there is none.
func (m *Manifest) recorded(ctx context.Context, id string) (*plan.Plan, error) {
	m.ID = id
	p, err := m.plan(ctx)
	if err == nil && p != nil {
		err = m.readRenames(ctx, p)
	}
	return p, err
}

// ofKey is [fateOf], as people are told it.
func ofKey(p *plan.Plan, source, table, key string) (Planned, error) {
	table = TableName(p, table)
	fate, err := fateOf(p, source, table, key)
	if err != nil {
		err = fmt.Errorf("merge: table %q of %q, by the merge %s: %w", table, source, p.ID, err)
	}
	return Planned{Source: source, Table: table, Old: fate.Old, New: fate.New, Stays: fate.Stays, Merge: p.ID}, err
}
