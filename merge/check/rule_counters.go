package check

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// counterRule compares the ranges of keys that the databases count up.
var counterRule = Rule{
	Codes: []string{verdict.CodeAutoIncrement},
	Key:   judgeCounter,
}

// span is where the values of a counter lie in one world.
type span struct {
	db          *rules.Database
	first, last *big.Int
}

// judgeCounter looks at a key that the databases count up by themselves. Each
// starts at 1, so that the same keys come up everywhere unless the ranges were
// set apart, and a key that has not collided yet may do so before the merge.
func judgeCounter(f *Facts, k *keyReading) Outcome {
	counter := f.Counter(k.Table)
	if counter == nil || k.Key == nil || f.Same[k.Table] || f.Combined[k.Table] != nil {
		return Outcome{}
	}
	result := verdict.Result{
		Code: verdict.CodeAutoIncrement, Table: k.Table, Subject: counter.Column, Columns: []string{counter.Column}, Gaps: slices.Clip(k.Gaps),
	}
	kind := f.Declared.Role(k.Table, counter.Column).Kind
	if kind == rules.RoleShared && len(k.Key) > 1 {
		result.Read, result.Message = int64(len(k.Parts)), "declared "+kind.String()+": the other columns of "+
			"its key distinguish the rows of several worlds"
		return Found(result)
	}
	if k.Key[0] != counter.Column {
		result.Message = "its range is not known"
		result.Gaps = append(result.Gaps, verdict.Gap{Reason: "the key does not begin with the counter"})
		return Found(result)
	}
	var spans []span
	var parts []string
	for _, p := range k.Parts {
		db, t := p.DB, p.DB.Tables[k.Table]
		result.Read++
		next := ""
		if t.AutoIncrement != nil {
			next = fmt.Sprintf(", next %d", t.AutoIncrement.Next)
		}
		if p.Ends.First == nil {
			parts = append(parts, db.Name+" none"+next)
			continue
		}
		s := span{db, new(big.Int), new(big.Int)}
		i := slices.Index(t.Key(), counter.Column)
		if i < 0 || !s.parse(p.Ends.First[i], p.Ends.Last[i]) {
			result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: "its values of " + counter.Column + " are not integers"})
			continue
		}
		by := new(big.Int).SetUint64(f.Rekeyed.Offset(db, k.Table, counter.Column))
		s.first.Add(s.first, by)
		s.last.Add(s.last, by)
		parts = append(parts, db.Name+" "+numeral(s.first)+" to "+numeral(s.last)+next)
		spans = append(spans, s)
	}
	result.Without("the ranges are disjoint: " + catalog.Few(parts))
	if overlapping := overlaps(spans); len(overlapping) > 0 {
		result.Message = "the ranges overlap: " + catalog.Few(parts)
		result.Gaps = append(result.Gaps, verdict.Gap{Reason: strings.Join(overlapping, ", ") + " use the same range of numbers"})
		result.Next = offsets(f, k.Table, counter, spans)
	}
	return Found(result)
}

func (s *span) parse(first, last []byte) bool {
	_, ok := s.first.SetString(string(first), 10)
	_, also := s.last.SetString(string(last), 10)
	return ok && also
}

// overlaps names the sources whose span has something in common with that of
// another one, in their order.
func overlaps(spans []span) (all []string) {
	for i, a := range spans {
		if slices.ContainsFunc(spans[:i], a.overlaps) || slices.ContainsFunc(spans[i+1:], a.overlaps) {
			all = append(all, a.db.Name)
		}
	}
	return all
}

func (s span) overlaps(other span) bool {
	return s.first.Cmp(other.last) <= 0 && other.first.Cmp(s.last) <= 0
}

// offsets proposes what to add to the keys of every source so that they lie
// apart. Those of the first world stay.
func offsets(f *Facts, table string, counter *catalog.AutoIncrement, spans []span) (steps []string) {
	slice.Foremost(spans, func(s span) bool { return s.db == f.Model() })
	along := referrers(f, table, counter.Column)
	top := new(big.Int)
	for i, s := range spans {
		if i == 0 {
			top.Set(s.last)
			continue
		}
		offset := new(big.Int)
		if s.first.Cmp(top) <= 0 {
			offset = roundUp(new(big.Int).Sub(top, s.first))
		}
		last := new(big.Int).Add(s.last, offset)
		if last.Cmp(top) > 0 {
			top.Set(last)
		}
		limit := new(big.Int).SetUint64(counter.Max)
		switch {
		case offset.Sign() > 0 && counter.Max > 0 && last.Cmp(limit) > 0:
			steps = append(steps, fmt.Sprintf("%s: there is no room: an offset of %s for %s.%s would reach %s, but the type ends at %s; give the column a larger type first",
				s.db.Name, numeral(offset), table, counter.Column, numeral(last), numeral(limit)))
		case offset.Sign() > 0:
			step := fmt.Sprintf("%s: add %s to %s.%s%s; then the largest is %s", s.db.Name, numeral(offset), table, counter.Column, along, numeral(last))
			if counter.Max > 0 {
				step += " of " + numeral(limit)
			}
			steps = append(steps, step)
		}
	}
	if open := unreferenced(f, table, counter.Column); len(steps) > 0 && len(open) > 0 {
		steps = append(steps, fmt.Sprintf("before you add anything: %s without a declared reference could also hold these numbers (%s); such a column, left unchanged, would refer to other rows; -propose looks for them",
			printable.Count(int64(len(open)), "column", "columns"), catalog.Enumerated(open)))
	}
	return steps
}

// unreferenced names the columns that could hold values of a counter and of which
// no reference is declared.
func unreferenced(f *Facts, table, counter string) (all []string) {
	_, model := f.ModelOf(table)
	number := model.Column(counter)
	if number == nil {
		return nil
	}
	for _, from := range f.Tables {
		_, t := f.ModelOf(from)
		for i := range t.Columns {
			c := &t.Columns[i]
			declared := slices.ContainsFunc(f.References(from), func(r rules.Ref) bool { return slices.Contains(r.Columns, c.Name) })
			if !declared && !(from == table && c.Name == counter) && c.Comparable(number) {
				all = append(all, from+"."+c.Name)
			}
		}
	}
	return all
}

// referrers names what refers to a column and has to be changed along with it.
func referrers(f *Facts, table, column string) string {
	var all []string
	for _, from := range f.Tables {
		for _, r := range f.References(from) {
			if i := slices.Index(r.ToColumns, column); r.ToTable == table && i >= 0 {
				all = append(all, from+"."+r.Columns[i])
			}
		}
	}
	if len(all) == 0 {
		return " and to every column that refers to it (none is declared)"
	}
	return " and to the columns that refer to it: " + catalog.Enumerated(all)
}

// roundUp returns a round number that is larger than n, which is not negative:
// one digit and zeros.
func roundUp(n *big.Int) *big.Int {
	unit := big.NewInt(1)
	for ten := big.NewInt(10); new(big.Int).Mul(unit, ten).Cmp(n) <= 0; {
		unit.Mul(unit, ten)
	}
	digit := new(big.Int).Div(n, unit)
	return digit.Add(digit, big.NewInt(1)).Mul(digit, unit)
}

// numeral writes n in full, with commas.
func numeral(n *big.Int) string {
	if n.IsInt64() {
		return printable.Number(n.Int64())
	}
	return n.String()
}
