package build

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/sqldb"

	"mergesafe/merge/job"
	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// Fate is what becomes of a row of a world in a merge. Keys are for people, as [world.KeyText] writes them; one that is not
// known is empty.
type Fate struct {
	OldWorld string `json:"old_world"`
	NewWorld string `json:"new_world,omitempty"` // the first world of the merge, which the new database continues
	Table    string `json:"table,omitempty"`
	Column   string `json:"column,omitempty"` // of the names
	OldKey   string `json:"old_key,omitempty"`
	NewKey   string `json:"new_key,omitempty"`
	OldName  string `json:"old_name,omitempty"`
	NewName  string `json:"new_name,omitempty"`

	Stays string `json:"stays,omitempty"` // why the row stays behind: there is no new world, name or key
}

// EachFate calls each with the rows whose names change by a plan, in its order, and then with those that stay behind, of
// tables whose key is one column of integers: of others the plan has no list. No database is read.
func EachFate(p *plan.Plan, each func(Fate) error) error {
	if err := eachRenamed(p, func(*plan.Rename) bool { return true }, each); err != nil {
		return err
	}
	if p.Leaving == nil {
		return nil
	}
	for _, s := range p.Leaving.Stays {
		for _, why := range s.Why {
			if why.Keys == nil {
				continue
			}
			for key := range why.Keys.Keys() {
				if err := each(Fate{OldWorld: s.World, Table: s.Table, OldKey: key.String(), Stays: why.Why}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// eachRenamed calls each with the rows that get new names, of those asked for. A row of a table without a key has none, and
// only the first world keeps its keys for certain, unless they have names in them.
func eachRenamed(p *plan.Plan, asked func(*plan.Rename) bool, each func(Fate) error) error {
	keyless, named := make(map[string]bool), make(map[string]bool)
	for _, t := range p.Tables {
		keyless[t.Name] = len(t.Key) == 0
		named[t.Name] = slices.ContainsFunc(p.Renames, func(r plan.Rename) bool { return r.Table == t.Name && slices.Contains(t.Key, r.Column) })
	}
	for i := range p.Renames {
		r := &p.Renames[i]
		if !asked(r) {
			continue
		}
		f := Fate{OldWorld: r.Source, NewWorld: p.Worlds[0].Name, Table: r.Table, Column: r.Column, OldName: r.Old, NewName: r.New}
		if !keyless[r.Table] {
			f.OldKey = world.KeyText(r.Key)
		}
		if r.Source == p.Worlds[0].Name && !named[r.Table] {
			f.NewKey = f.OldKey
		}
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}

// EachFateOf calls each with every row of a table, with the values of a column such as that of names: of all worlds but the
// first, and of that those that stay behind or whose names change. It reads the worlds; memory does not grow with them.
//
// It returns an error if a world is another one than was planned, or if the rows that it read are not those of the plan: then
// the names that each was called with are those of others.
func EachFateOf(ctx context.Context, p *plan.Plan, worlds []world.Database, table, column string, codecs keys.Codecs, each func(Fate) error) error {
	ctx, release := sqldb.Keep(ctx)
	defer release()
	table = record.TableName(p, table)
	if t := p.Table(table); t == nil || t.Only {
		return fmt.Errorf("merge: the plan copies no rows of a table %q, only those of %q", table, p.Worlds[0].Name)
	}
	if err := p.Needs(codecs); err != nil {
		return err
	}
	into := worlds[0] // which has the tables of the new database; that is not opened
	into.Name = p.New.Name
	r, err := job.NewRun(p, into, worlds, job.Options{Codecs: codecs}, job.Hooks{})
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.SameWorlds(ctx, "whois"); err != nil {
		return err
	}
	s, err := world.OpenWorld(ctx, worlds[0])
	if err != nil {
		return err
	}
	r.Know(s)
	s.Close()
	l := r.Layouts[table]
	if l == nil {
		return fmt.Errorf("merge: %q no longer has a table %q: plan again", p.Worlds[0].Name, table)
	}
	f := &fates{Run: r, layout: l, at: slices.Index(l.Columns, column), each: each}
	if f.at < 0 {
		return fmt.Errorf("merge: table %q has no column %q whose values are copied", table, column)
	}
	for i, w := range p.Worlds {
		if i > 0 {
			err = f.moved(ctx, i)
		}
		if err == nil {
			err = f.stayed(ctx, i)
		}
		if err != nil {
			return fmt.Errorf("merge: the rows of table %q of %q: %w", table, w.Name, err)
		}
	}
	return eachRenamed(p, func(r *plan.Rename) bool {
		return r.Source == p.Worlds[0].Name && r.Table == table && r.Column == column
	}, each)
}

// fates tells what becomes of the rows of a table.
type fates struct {
	*job.Run
	layout *world.Layout
	at     int // the column
	each   func(Fate) error
}

// moved tells of the rows of a world that come, in the order of their keys.
func (f *fates) moved(ctx context.Context, w int) error {
	change := f.Changes.Of(f.Worlds[w].Name, f.layout)
	return f.read(ctx, f.Worlds[w], f.Plan.Table(f.layout.Table).Worlds[w], func(row []any) (fate Fate, err error) {
		fate.NewWorld, fate.OldName = f.Plan.Worlds[0].Name, shown(row[f.at])
		if fate.OldKey, err = f.keyOf(row); err != nil {
			return fate, err
		}
		if _, err = change.Row(row); err != nil {
			return fate, err
		}
		fate.NewName = shown(row[f.at])
		fate.NewKey, err = f.keyOf(row)
		return fate, err
	})
}

// stayed tells of the rows of a world that stay behind.
func (f *fates) stayed(ctx context.Context, w int) error {
	s := f.Plan.StaysOf(f.Plan.Worlds[w].Name, f.layout.Table)
	if s == nil || s.Rows() == 0 {
		return nil
	}
	only := job.Fork(f.Worlds[w], 1)
	defer only.Close()
	only.Withheld, only.Sifted = map[string]string{s.Table: "NOT " + s.SQL(only.Dialect().Quote)}, nil
	return f.read(ctx, only, world.Content{Rows: s.Rows(), Sum: s.Sum}, func(row []any) (fate Fate, err error) {
		fate.OldName = shown(row[f.at])
		if fate.OldKey, err = f.keyOf(row); err == nil {
			fate.Stays, err = s.WhyOf(func(column string) (v any, known bool) {
				at := slices.Index(f.layout.Columns, column)
				if at < 0 {
					return nil, false
				}
				return row[at], true
			})
		}
		return fate, err
	})
}

// read tells of the rows that come by a connection, and compares them with those of the plan.
func (f *fates) read(ctx context.Context, on *world.Connection, planned world.Content, of func(row []any) (Fate, error)) error {
	var h world.Hasher
	var found world.Content
	take := func(row []any) error {
		sum, err := h.Row(row)
		if err != nil {
			return err
		}
		found.Add(sum)
		fate, err := of(row)
		if err != nil {
			return err
		}
		fate.OldWorld, fate.Table, fate.Column = on.Name, f.layout.Table, f.layout.Columns[f.at]
		return f.each(fate)
	}
	var err error
	if f.layout.Multiset() {
		err = world.Every(ctx, on, f.layout, take)
	} else {
		err = world.EachPage(ctx, on, f.layout, func(p *world.Page) error {
			for _, row := range p.Rows {
				if err := take(row); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err == nil && (found.Rows != planned.Rows || found.Sum != planned.Sum) {
		err = errors.New("they are no longer those of the plan: check which database its DSN leads to; if it is this world, plan again")
	}
	return err
}

// keyOf is the key of a row for people.
func (f *fates) keyOf(row []any) (string, error) {
	key, err := world.EncodeKey(f.layout.KeyOf(row))
	return world.KeyText(key), err
}

// shown is a value as text; NULL is empty.
func shown(v any) string {
	if v == nil {
		return ""
	}
	return world.Text(v)
}
