package spaces

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check/moved"
	"mergesafe/merge/check/read"
	"mergesafe/merge/declare"
	"mergesafe/merge/rekey"
	"mergesafe/merge/verdict"
)

// findCounters finds the columns of small tables that hold, in every database that has
// keys of a space, the largest of these or the one after it.
func (r *spaceReader) findCounters(ctx context.Context) ([]moved.SeenCounter, error) {
	var seen []moved.SeenCounter
	for _, table := range declare.KeyTables(r.Facts.Resolved) {
		_, model := declare.KeyModel(r.Facts.Resolved, table)
		var columns []string
		for i := range model.Columns {
			at := declare.ColumnName{Table: table, Column: model.Columns[i].Name}
			if model.AutoIncrement != nil && model.AutoIncrement.Column == at.Column {
				continue // the database counts it up: it is a key itself
			}
			_, counted := r.moving.Counted(at)
			if model.Columns[i].Kind == catalog.KindInteger && r.moving.Columns[at] == nil && r.Facts.Declared.Role(table, at.Column).Kind == declare.RoleOpen && !declare.ForeignKey(r.Facts.Resolved, table, at.Column) && !counted {
				columns = append(columns, at.Column)
			}
		}
		found, err := r.countersIn(ctx, table, columns)
		if err != nil {
			return nil, err
		}
		seen = append(seen, found...)
	}
	return seen, nil
}

// countersIn looks at the columns of one table.
func (r *spaceReader) countersIn(ctx context.Context, table string, columns []string) (seen []moved.SeenCounter, err error) {
	hits, asked := make(map[moved.SeenCounter]int), make(map[*declare.KeySpace]int)
	for _, db := range r.Facts.DBs {
		t := db.KeyTable(table)
		if t == nil || len(columns) == 0 {
			return nil, nil
		}
		rows, err := read.Count(ctx, db, table)
		if err != nil || rows == 0 || rows > MaxCounterRows {
			return nil, err
		}
		here := slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return t.Column(c) == nil })
		values := make([][]rekey.Integer, len(here))
		carry, covered := r.moving.Uncounted(table, here)
		if slices.ContainsFunc(carry, func(c string) bool { return t.Column(c) == nil }) {
			return nil, nil // the schemas differ, which is reported
		}
		s := r.Stream(db, r.code, 0, catalog.Scan{Table: table, Carry: carry, Unsorted: true})
		s.Visit = append(s.Visit, func(b *catalog.Batch) {
			for i := range here {
				for row := range b.Len {
					if n, ok := rekey.ParseInteger(b.Carry[i].At(row)); ok && !covered(b, i, row) {
						values[i] = append(values[i], n)
					}
				}
			}
		})
		if err := s.Drain(ctx); err != nil {
			return nil, err
		}
		for _, space := range r.moving.Spaces {
			keys := r.found.Of[space][db].Keys
			if r.found.Of[space][db].Rows < 20 || keys.High.Negative {
				continue
			}
			asked[space]++
			for i, name := range here {
				if slices.ContainsFunc(values[i], func(n rekey.Integer) bool {
					return !n.Negative && (n.Bits == keys.High.Bits || n.Bits == keys.High.Bits+1)
				}) {
					hits[moved.SeenCounter{ColumnName: declare.ColumnName{Table: table, Column: name}, Space: space}]++
				}
			}
		}
	}
	for c, n := range hits {
		if n == asked[c.Space] {
			seen = append(seen, c)
		}
	}
	slices.SortFunc(seen, func(a, b moved.SeenCounter) int {
		return cmp.Compare(a.String()+" "+a.Space.Name, b.String()+" "+b.Space.Name)
	})
	return seen, nil
}

// judgeCounters reports what seems to be a counter and is not declared, and counters
// that cannot be raised.
func judgeCounters(f *read.Facts, seen []moved.SeenCounter) (results []verdict.Result) {
	for len(seen) > 0 {
		c, at := seen[0], printable.TOML(declare.Place(seen[0].Table, seen[0].Column))
		var spaces []string
		for len(seen) > 0 && seen[0].ColumnName == c.ColumnName {
			spaces, seen = append(spaces, seen[0].Space.Name), seen[1:]
		}
		results = append(results, verdict.Result{
			Code: verdict.CodeKeyCounter, Table: c.Table, Subject: c.Column, Columns: []string{c.Column},
			Message: "holds the largest key of " + catalog.Enumerated(spaces) + ", or the next one, in every database",
			Gaps:    []verdict.Gap{{Reason: "if it counts these keys, it would give out numbers that came with the merge"}},
			Next:    []string{fmt.Sprintf("[[merge.counter]] at = %s, space = %s; or declare it plain", at, printable.TOML(spaces[0]))},
		})
		if whens, _ := f.Moving.Counted(c.ColumnName); len(whens) > 0 {
			last := &results[len(results)-1]
			last.Message += ", in rows that no when of its [[merge.counter]] covers"
			last.Next = []string{fmt.Sprintf("[[merge.counter]] at = %s, space = %s, when = {...} for these rows; or others = %q in one that is there", at, printable.TOML(spaces[0]), declare.OthersPlain)}
		}
	}
	results = append(results, countedElsewhere(f)...)
	for _, c := range f.Moving.Counters {
		becomes, why := "copied", "the rows of the other worlds would be added to those of the first, which continue to count"
		switch {
		case f.Reset[c.Table]:
			becomes, why = "emptied", "the counter would be lost, and the game would count from the start"
		case f.Skip[c.Table] || !slices.Contains(f.Tables, c.Table):
			continue
		}
		results = append(results, verdict.Result{
			Code: verdict.CodeKeyCounter, Table: c.Table, Subject: c.Column, Columns: []string{c.Column},
			Message: "a counter whose table is " + becomes, Gaps: []verdict.Gap{{Reason: why}},
			Next: []string{fmt.Sprintf("[[merge.table]] tables = [%s], policy = \"skip\": "+
				"the first world's counters come, and are raised", printable.TOML(c.Table))},
		})
	}
	return results
}

// MaxCounterRows is how many rows a table of counters has at most.
const MaxCounterRows = 200

// countedBySequences adds what the sequences of a space have given to its values, so that
// new keys lie above it.
func (r *spaceReader) countedBySequences() {
	for _, c := range r.moving.Counters {
		for _, db := range r.Facts.DBs {
			if s := db.Catalog.Sequence(c.Table); c.Sequence() && s != nil && !s.Next.Negative && s.Next.Bits > 1 {
				r.found.Of[c.Space][db].Values.Add(rekey.Integer{Bits: s.Next.Bits - 1})
			}
		}
	}
}

// JudgeSequence says of a sequence that was not read what it may count; kept is false if it
// is declared, and so raised.
func JudgeSequence(m *declare.Moving, f *read.Facts, r *verdict.Result) (kept bool) {
	if m == nil || f.Model().Catalog.Sequence(r.Table) == nil {
		return true
	}
	if slices.ContainsFunc(m.Counters, func(c declare.KeptCounter) bool { return c.Sequence() && c.Table == r.Table }) {
		return false
	}
	space := "..."
	r.Message = "a sequence, and no rule says which keys it counts: if they get new values, it would give out numbers that came with the merge"
	for _, at := range m.InOrder() {
		_, model := f.ModelOf(at.Table)
		if model == nil {
			continue
		}
		if c := model.Column(at.Column); c != nil && m.Columns[at].Key && c.SequenceOf() == r.Table {
			r.Message = fmt.Sprintf("a sequence that counts %s (DEFAULT), and is not declared: it would give out numbers that came with the merge", at)
			space = m.Columns[at].Cases[0].Space.Name
			break
		}
	}
	r.Next = []string{fmt.Sprintf("[[merge.counter]] at = %s, space = %s; or, if it counts no keys, -allow %s", printable.TOML(r.Table), printable.TOML(space), verdict.AllowIn(r.Code, r.Table))}
	return true
}

// countedElsewhere reports keys that a sequence counts which is not in the first world.
func countedElsewhere(f *read.Facts) (results []verdict.Result) {
	for _, at := range f.Moving.InOrder() {
		_, model := f.ModelOf(at.Table)
		if model == nil {
			continue
		}
		c := model.Column(at.Column)
		if c == nil || !f.Moving.Columns[at].Key || c.SequenceOf() == "" || f.Model().Catalog.Sequence(c.SequenceOf()) != nil {
			continue
		}
		results = append(results, verdict.Result{
			Code: verdict.CodeKeyCounter, Table: at.Table, Subject: at.Column, Columns: []string{at.Column},
			Message: fmt.Sprintf("counted by a sequence that is not in this database: DEFAULT %s", *c.Default),
			Gaps:    []verdict.Gap{{Reason: "it is not raised, and would give out numbers that came with the merge"}},
			Next:    []string{fmt.Sprintf("raise it by hand above the new keys, as the plan shows them, and -allow %s", verdict.AllowIn(verdict.CodeKeyCounter, at.Table)+"."+catalog.SQLName(at.Column))},
		})
	}
	return results
}
