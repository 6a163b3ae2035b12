package check

import (
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
)

// columnValues are the values of a column of numbers in one database, each once. Of very many only the ends are known.
type columnValues struct {
	keys.Set
	rows int64 // that have one
}

// addValues makes a stream gather the values of the columns of numbers that the other rules ask for: those that may name
// rows and are not declared, and those of keys, which may be named. They are finished by the caller.
func (r *spaceReader) addValues(s *stream.Stream) (all []*columnValues) {
	table := s.Scan.Table
	_, model := r.Facts.ModelOf(table)
	for _, c := range s.DB.Tables[table].Columns {
		at := rules.ColumnName{Table: table, Column: c.Name}
		moved, inKey := r.moving.Columns[at], slices.Contains(model.Key(), c.Name)
		role := r.Facts.Declared.Role(table, c.Name)
		open := judgesOpen(r.Facts, table, c.Name) && (moved == nil || role.Kind == rules.RoleReference)
		if c.Kind != catalog.KindInteger || moved != nil && moved.Key || !open && !inKey || inKey && slices.ContainsFunc(role.References, func(ref *rules.Ref) bool { return ref.When != nil }) {
			continue
		}
		values := &columnValues{Set: keys.Set{Small: !inKey}}
		var nobody keys.Values
		if moved != nil {
			if _, none, plain := moved.PlainShift(); plain {
				nobody = none
			} else if inKey {
				continue
			}
		}
		r.found.Values[at] = map[*rules.Database]*columnValues{s.DB: values}
		all = append(all, values)
		column, covered := s.Carry(c.Name), coveredBy(r.Facts, s, c.Name)
		if !slices.Contains(s.Scan.Numbers, c.Name) {
			s.Scan.Numbers = append(s.Scan.Numbers, c.Name)
		}
		s.Visit = append(s.Visit, func(b *catalog.Batch) {
			for row := range b.Len {
				if n, ok := integerAt(&b.Carry[column], row); ok && !nobody.HasInteger(n) && !covered(row) {
					values.rows++
					values.Add(n)
				}
			}
		})
	}
	return all
}

// coveredBy returns what reports whether a declared reference says what the value of a column is in a row.
func coveredBy(f *Facts, s *stream.Stream, column string) (covered func(row int) bool) {
	var covers []func(row int) bool
	for _, ref := range f.Declared.Role(s.Scan.Table, column).References {
		when := ref.When
		if when == nil || s.DB.Tables[s.Scan.Table].Column(when.Column) == nil {
			continue
		}
		at := s.Carry(when.Column)
		covers = append(covers, func(row int) bool { return when.Holds(s.Batch.Carry[at].At(row)) })
	}
	return func(row int) bool {
		return slices.ContainsFunc(covers, func(covers func(int) bool) bool { return covers(row) })
	}
}

// judgeValues judges the columns of a table of which the values are known, without their rows. Of those in closed no
// value changes its meaning in any database, and some do of those in open. The others have to be read.
func (r OpenReader) judgeValues(table string, candidates []Candidate) (closed map[string][]*OpenColumn, open map[string]bool) {
	closed, open = make(map[string][]*OpenColumn), make(map[string]bool)
	unsure := make(map[string]bool)
	for db := range r.Facts.Having(table) {
		if staysBehind(r.Facts, db, table) {
			continue
		}
		for _, s := range r.newOpenPass(db, table, candidates, nil, nil).columns {
			v := r.Facts.Rekeyed.ValuesOf(db, table, s.column)
			if v == nil || v.Sparse && s.meetsAny(v.Range()) {
				unsure[s.column] = true
				continue
			}
			if s.read = v.rows; !v.Sparse {
				for n := range v.All() {
					s.rows[fate{sure: s.fateOf(n)}]++
				}
			}
			switch rows, _ := s.Changed(r.Facts, candidates, func(int) bool { return true }, false); {
			case rows > 0:
				open[s.column] = true
			case len(s.maybe) > 0:
				unsure[s.column] = true
			default:
				closed[s.column] = append(closed[s.column], s.OpenColumn)
			}
		}
	}
	for column := range closed {
		if open[column] || unsure[column] {
			delete(closed, column)
		}
	}
	return closed, open
}

// meetsAny reports whether a key of any candidate lies among numbers, or will.
func (s *openScan) meetsAny(numbers keys.Range) bool {
	p := s.pass
	for k := range p.candidates {
		for j, set := range p.sets[k] {
			if p.candidates[k].Class != IntegerClass || set == nil || set.Gap != "" {
				continue
			}
			own := set.Integers.Range()
			if moved, ok := own.Shift(p.offsets[k][j]); !ok || own.Meets(numbers) || moved.Meets(numbers) {
				return true
			}
		}
	}
	return false
}
