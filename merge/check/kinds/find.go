package kinds

import (
	"context"
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check/kinds/groups"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/undeclared"
	"mergesafe/merge/declare"
	"mergesafe/merge/rekey"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// Rows are the rows of a reference, by the values of each other column that may tell kinds apart.
type Rows struct {
	ref     *declare.Ref
	keys    keys
	highest uint64                       // of the keys
	most    int                          // values of a group that are looked at
	others  []keys                       // of other tables, by which misses are known as something else
	by      map[string]map[string]*group // by column and value; nil: a column of too many

	// Of the row that was noted last.
	db             *declare.Database
	numbers        []rekey.Integer
	own, elsewhere bool
}

// keys are the keys that a number may be, by database.
type keys struct {
	name string
	sets map[*declare.Database][]*undeclared.KeySet
}

func (k keys) has(db *declare.Database, n rekey.Integer) bool {
	return slices.ContainsFunc(k.sets[db], func(s *undeclared.KeySet) bool { return s.Has(n) })
}

// Of reads the keys that a reference leads to. It returns nil if these are no numbers. Others are keys that its rows may name
// instead; those count that were read before.
func Of(ctx context.Context, r undeclared.OpenReader, ref *declare.Ref, others []declare.ColumnName) (*Rows, error) {
	rows := &Rows{ref: ref, keys: keys{sets: make(map[*declare.Database][]*undeclared.KeySet)}}
	for _, to := range read.Targets(ref) {
		_, model := declare.KeyModel(r.Facts.Resolved, to.Table)
		if model == nil || undeclared.KeyClassOf(model.Column(to.Column)) != undeclared.IntegerClass {
			return nil, nil
		}
		c := undeclared.Candidate{Table: to.Table, Column: to.Column, Class: undeclared.IntegerClass}
		if err := r.ReadKeys(ctx, c); err != nil {
			return nil, err
		}
		for db, set := range r.UndeclaredKeys().Sets[c] {
			rows.keys.sets[db] = append(rows.keys.sets[db], set)
			rows.highest = max(rows.highest, set.Integers.Highest())
		}
	}
	for _, other := range others {
		k := keys{name: other.String(), sets: make(map[*declare.Database][]*undeclared.KeySet)}
		for db, set := range r.UndeclaredKeys().Sets[undeclared.Candidate{Table: other.Table, Column: other.Column, Class: undeclared.IntegerClass}] {
			if set.Gap == "" && !set.Integers.Sparse {
				k.sets[db] = append(k.sets[db], set)
			}
		}
		if len(k.sets) > 0 && !slices.Contains(read.Targets(ref), other) {
			rows.others = append(rows.others, k)
		}
	}
	return rows, nil
}

// tells reports whether a column may tell kinds apart, as far as its type and the rules say: one that names rows itself does not.
func tells(f *read.Facts, table string, c *catalog.Column) bool {
	names := f.Declared.Role(table, c.Name).Kind == declare.RoleReference || declare.ForeignKey(f.Resolved, table, c.Name)
	return (c.Kind == catalog.KindInteger || c.Kind == catalog.KindText) && c.Generated == "" && c.Opaque == "" && !c.IsID && !names
}

// Question asks for the rows. beside is how many questions about columns of the table there are.
func (w *Rows) Question(f *read.Facts, beside int) groups.Question {
	w.by = make(map[string]map[string]*group)
	return groups.Question{
		Column: w.ref.Columns[0],
		By: func(t *catalog.Table) (names []string) {
			w.most = max(32, min(mostLooked, allLooked/(4*beside*len(t.Columns))))
			for i := range t.Columns {
				if groups, seen := w.by[t.Columns[i].Name]; tells(f, t.Name, &t.Columns[i]) && (!seen || groups != nil) {
					names = append(names, t.Columns[i].Name)
				}
			}
			return names
		},
		Begin: func(s *stream.Stream, db *declare.Database) func(row int) bool {
			w.db = db
			leaves, numbers := read.Leaves(w.ref, s), w.numbersOf(s)
			return func(row int) bool {
				if leaves(row) {
					return false
				}
				if w.numbers = numbers(row); len(w.numbers) == 0 {
					return false
				}
				w.own, w.elsewhere = true, false
				for _, n := range w.numbers {
					own := w.keys.has(db, n)
					w.own = w.own && own
					w.elsewhere = w.elsewhere || !own && slices.ContainsFunc(f.DBs, func(o *declare.Database) bool { return o != db && w.keys.has(o, n) })
				}
				return true
			}
		},
		Group: func(by string, v []byte) func() {
			value := string(v)
			if v == nil {
				value = "NULL"
			}
			groups, known := w.by[by]
			if !known {
				groups = make(map[string]*group)
				w.by[by] = groups
			}
			g := groups[value]
			if groups == nil || g == nil && len(groups) == MostValues || g != nil && g.Null != (v == nil) || len(value) > mostBytes {
				w.by[by] = nil
				return nil
			}
			if g == nil {
				g = &group{Kind: verdict.Kind{Value: value, Null: v == nil}, values: make(map[looked]*seen)}
				groups[value] = g
			}
			return func() { g.add(w) }
		},
		Forget: func() { clear(w.by) },
	}
}

// numbersOf returns what reads the numbers in a row.
func (w *Rows) numbersOf(s *stream.Stream) func(row int) []rekey.Integer {
	if w.ref.Cells != nil {
		return read.InCellsOf(w.ref, s)
	}
	at, one := s.Carry(w.ref.Columns[0]), make([]rekey.Integer, 1)
	return func(row int) (all []rekey.Integer) {
		if v := s.CarriedAt(at, row); v != nil {
			if n, ok := rekey.ParseInteger(v); ok {
				one[0] = n
				return one
			}
		}
		return nil
	}
}

// Split returns the column that tells kinds apart best; nil if none does.
func (w *Rows) Split() (best *Split) {
	for by, all := range w.by {
		if s := w.judge(by, all); s != nil && (best == nil || s.compare(best) < 0) {
			best = s
		}
	}
	return best
}
