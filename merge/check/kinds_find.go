package check

import (
	"context"
	"slices"

	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
)

// Rows are the rows of a reference.
type Rows struct {
	kindRows
	ref *rules.Ref
}

// Of reads the keys that a reference leads to. It returns nil if these are no numbers. Others are keys that its rows may name
// instead; those count that were read before.
func Of(ctx context.Context, r OpenReader, ref *rules.Ref, others []rules.ColumnName) (*Rows, error) {
	rows := &Rows{ref: ref, kindRows: kindRows{Keys: Keys{Sets: make(map[*rules.Database][]*KeySet)}}}
	for _, to := range ref.Targets(0) {
		_, model := rules.KeyModel(r.Facts.Resolved, to.Table)
		if model == nil || KeyClassOf(model.Column(to.Column)) != IntegerClass {
			return nil, nil
		}
		c := Candidate{Table: to.Table, Column: to.Column, Class: IntegerClass}
		if err := r.ReadKeys(ctx, c); err != nil {
			return nil, err
		}
		for db, set := range r.UndeclaredKeys().Sets[c] {
			rows.Keys.Sets[db] = append(rows.Keys.Sets[db], set)
			rows.Highest = max(rows.Highest, set.Integers.Highest())
		}
	}
	for _, other := range others {
		k := Keys{Name: other.String(), Sets: make(map[*rules.Database][]*KeySet)}
		for db, set := range r.UndeclaredKeys().Sets[Candidate{Table: other.Table, Column: other.Column, Class: IntegerClass}] {
			if set.Gap == "" && !set.Integers.Sparse {
				k.Sets[db] = append(k.Sets[db], set)
			}
		}
		if len(k.Sets) > 0 && !slices.Contains(ref.Targets(0), other) {
			rows.Others = append(rows.Others, k)
		}
	}
	return rows, nil
}

// tells reports whether a column may tell kinds apart, as far as its type and the rules say: one that names rows itself does not.
func tells(f *Facts, table string, c *catalog.Column) bool {
	names := f.Declared.Role(table, c.Name).Kind == rules.RoleReference || rules.ForeignKey(f.Resolved, table, c.Name)
	return (c.Kind == catalog.KindInteger || c.Kind == catalog.KindText) && c.Generated == "" && c.Opaque == "" && !c.IsID && !names
}

// Question asks for the rows. beside is how many questions about columns of the table there are.
func (w *Rows) Question(f *Facts, beside int) GroupQuestion {
	return GroupQuestion{
		Column: w.ref.Columns[0],
		By: func(t *catalog.Table) (names []string) {
			w.Begin(beside * len(t.Columns))
			for i := range t.Columns {
				if tells(f, t.Name, &t.Columns[i]) && w.Open(t.Columns[i].Name) {
					names = append(names, t.Columns[i].Name)
				}
			}
			return names
		},
		Begin: func(s *stream.Stream, db *rules.Database) func(row int) bool {
			leaves, numbers := Leaves(w.ref, s), w.numbersOf(s)
			return func(row int) bool {
				if leaves(row) {
					return false
				}
				all := numbers(row)
				w.Note(db, f.DBs, all)
				return len(all) > 0
			}
		},
		Group: w.Group, Forget: w.Forget,
	}
}

// numbersOf returns what reads the numbers in a row.
func (w *Rows) numbersOf(s *stream.Stream) func(row int) []keys.Integer {
	if w.ref.Cells != nil {
		return inCellsOf(w.ref, s)
	}
	at, one := s.Carry(w.ref.Columns[0]), make([]keys.Integer, 1)
	return func(row int) (all []keys.Integer) {
		if v := s.CarriedAt(at, row); v != nil {
			if n, ok := keys.ParseInteger(v); ok {
				one[0] = n
				return one
			}
		}
		return nil
	}
}
