package change

import (
	"context"

	"mergesafe/internal/slice"
	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
)

// World is the proof of one world.
type World struct {
	*Proving
	On      *world.Connection
	Name    string
	Out     map[string]string // conditions of rows that do not come for other reasons
	Tables  []*plan.Stays     // of this world, with a key
	Found   map[string]map[keys.Key]bool
	changed map[string]bool // tables of Found that became more since what refers to them was asked
}

// In returns the proof of a world, by its number.
func In(p *Proving, number int, on *world.Connection) *World {
	w := &World{Proving: p, On: on, Name: p.Plan.Worlds[number].Name, Out: make(map[string]string),
		Found: make(map[string]map[keys.Key]bool), changed: make(map[string]bool)}
	if number > 0 {
		w.Out = p.Plan.Withheld(on.Dialect())
	}
	for i := range p.Plan.Leaving.Stays {
		if s := &p.Plan.Leaving.Stays[i]; s.World == w.Name && s.Keyed() {
			w.Tables, w.Found[s.Table] = append(w.Tables, s), make(map[keys.Key]bool)
		}
	}
	return w
}

// Changed returns the tables of which rows were found since it was called last.
func (w *World) Changed() map[string]bool {
	changed := w.changed
	w.changed = make(map[string]bool)
	return changed
}

// Add notes a row that stays, unless it is the same in every world.
func (w *World) Add(s *plan.Stays, n keys.Key) {
	if !w.Found[s.Table][n] && !n.Among(w.kept(s)) {
		w.Found[s.Table][n], w.changed[s.Table] = true, true
	}
}

// kept are, of each column, the keys of rows that are the same in every world.
func (w *World) kept(s *plan.Stays) []keys.Values {
	return slice.Map(s.RowKey().Columns, func(name string) (kept keys.Values) {
		if column := w.Plan.Rekey.Column(s.Table, name); column != nil && column.Key {
			kept, _ = rules.ParseKeep(w.Plan.Rekey.Space(column.Cases[0].Space).Keep) // the plan was validated
		}
		return kept
	})
}

// Rows calls take with columns of the rows of a table for which a condition holds and that come, as far as the other
// policies say.
func (w *World) Rows(ctx context.Context, table, columns, condition, end string, take func(row []any) error) error {
	if out := w.Out[table]; out != "" {
		condition = "(" + condition + ") AND NOT (" + out + ")"
	}
	return w.On.Rows(ctx, "SELECT "+columns+" FROM "+w.On.Dialect().Quote(table)+" WHERE "+condition+end, false, nil,
		func(row []any) (bool, error) { return true, take(row) })
}

// Find adds the keys of the rows of a table for which a condition holds.
func (w *World) Find(ctx context.Context, s *plan.Stays, condition string) error {
	return w.Each(ctx, s, condition, func(n keys.Key) { w.Add(s, n) })
}

// Each calls take with the keys of such rows.
func (w *World) Each(ctx context.Context, s *plan.Stays, condition string, take func(n keys.Key)) error {
	key := s.RowKey()
	return w.Rows(ctx, s.Table, w.On.Dialect().QuoteAll(key.Columns), condition, "", func(row []any) error {
		if n, ok := w.keyIn(s, key, row); ok {
			take(n)
		}
		return nil
	})
}

// keyIn is the key in the first values of a row. One that cannot be read has come since the plan.
func (w *World) keyIn(s *plan.Stays, key rules.RowKey, row []any) (n keys.Key, ok bool) {
	if n, ok = key.Read(func(i int) any { return row[i] }); !ok {
		leaveWrong(w, s.Table, "a row has the key %.40q, which cannot be read", world.Printed(row[0]))
	}
	return n, ok
}

// SetOf are the keys of the rows of a table found so far.
func (w *World) SetOf(table string) *keys.Set {
	s := &keys.Set{Exact: true}
	if of := w.Plan.StaysOf(w.Name, table); of != nil {
		s.Kinds = of.Kinds
	}
	for n := range w.Found[table] {
		s.AddKey(n)
	}
	s.Finish()
	return s
}
