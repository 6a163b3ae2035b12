package merge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/rekey"
)

// CounterRow is a column in which a game keeps the last key that it gave, or the next
// one, or a sequence.
type CounterRow struct {
	At    string `json:"at"`             // "table.column", or the name of a sequence
	When  *When  `json:"when,omitempty"` // the rows that it covers; nil: all
	Space string `json:"space"`          // the name of a space, or one of its keys

	// Others says what the rows are that When does not cover: "plain", they count nothing;
	// "", they are judged as undeclared, unless another counter covers them.
	Others string `json:"others,omitempty"`

	File string `json:"-"` // for messages
	Line int    `json:"-"` // in File; 0: not known
}

// keptCounter is a CounterRow as it is in the databases. A sequence has no column.
type keptCounter struct {
	columnName
	when   *When
	space  *keySpace
	others string
}

func (c *keptCounter) sequence() bool { return c.column == "" }

// RekeyedCounter is a counter in a row of the target, whose table otherwise stays
// unchanged, or a sequence.
type RekeyedCounter struct {
	Table  string `json:"table"`
	Column string `json:"column,omitempty"` // empty: Table is a sequence
	When   *When  `json:"when,omitempty"`
	Space  string `json:"space"`
	Next   uint64 `json:"next"`           // it is raised to this, unless it is higher
	Most   uint64 `json:"most,omitempty"` // the largest number that it takes; 0: not known
}

// declareCounter adds a counter that the operator names.
func (m *moving) declareCounter(f *resolved, n names, c CounterRow) error {
	k := slices.IndexFunc(m.spaces, func(s *keySpace) bool {
		return s.Name == c.Space || slices.ContainsFunc(s.keys, func(at columnName) bool { return at.String() == c.Space })
	})
	if k < 0 {
		return fmt.Errorf("there is no space %q, and none has that key", c.Space)
	}
	if err := c.When.Validate(); err != nil {
		return err
	}
	if err := c.validateOthers(); err != nil {
		return err
	}
	if done, err := m.declareSequence(f, c, m.spaces[k]); done {
		return err
	}
	return n.each(c.At, func(at columnName, exact bool) error {
		col := n[at.table][at.column]
		switch {
		case !exact:
			return fmt.Errorf("at is %q: want the name of one column, not a pattern", c.At)
		case m.columns[at] != nil:
			return fmt.Errorf("%s gets new values itself", at)
		case col.Kind != KindInteger:
			return fmt.Errorf("%s is %s: want an integer", at, col.Type)
		case c.When != nil && n[at.table][c.When.Column] == nil:
			return fmt.Errorf("when: table %q has no column %q", at.table, c.When.Column)
		}
		if err := neverHolds(c.When, at.table, n); err != nil {
			return err
		}
		m.counters = append(m.counters, keptCounter{at, c.When, m.spaces[k], c.Others})
		return nil
	})
}

// seenCounter is a column that seems to be a counter of a space.
type seenCounter struct {
	columnName
	space *keySpace
}

// findCounters finds the columns of small tables that hold, in every database that has
// keys of a space, the largest of these or the one after it.
func (r *spaceReader) findCounters(ctx context.Context) ([]seenCounter, error) {
	var seen []seenCounter
	for _, table := range keyTables(r.facts.resolved) {
		_, model := keyModel(r.facts.resolved, table)
		var columns []string
		for i := range model.Columns {
			at := columnName{table, model.Columns[i].Name}
			if model.AutoIncrement != nil && model.AutoIncrement.Column == at.column {
				continue // the database counts it up: it is a key itself
			}
			_, counted := r.moving.counted(at)
			if model.Columns[i].Kind == KindInteger && r.moving.columns[at] == nil && r.facts.declared.role(table, at.column).kind == roleOpen && !foreignKey(r.facts.resolved, table, at.column) && !counted {
				columns = append(columns, at.column)
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
func (r *spaceReader) countersIn(ctx context.Context, table string, columns []string) (seen []seenCounter, err error) {
	hits, asked := make(map[seenCounter]int), make(map[*keySpace]int)
	for _, db := range r.facts.dbs {
		t := db.keyTable(table)
		if t == nil || len(columns) == 0 {
			return nil, nil
		}
		rows, err := r.count(ctx, db, table)
		if err != nil || rows == 0 || rows > maxCounterRows {
			return nil, err
		}
		here := slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return t.column(c) == nil })
		values := make([][]rekey.Integer, len(here))
		carry, covered := r.moving.uncounted(table, here)
		if slices.ContainsFunc(carry, func(c string) bool { return t.column(c) == nil }) {
			return nil, nil // the schemas differ, which is reported
		}
		s := r.stream(db, r.code, 0, Scan{Table: table, Carry: carry, Unsorted: true})
		s.visit = append(s.visit, func(b *Batch) {
			for i := range here {
				for row := range b.Len {
					if n, ok := rekey.ParseInteger(b.Carry[i].At(row)); ok && !covered(b, i, row) {
						values[i] = append(values[i], n)
					}
				}
			}
		})
		if err := s.drain(ctx); err != nil {
			return nil, err
		}
		for _, space := range r.moving.spaces {
			keys := r.found.of[space][db].keys
			if r.found.of[space][db].rows < 20 || keys.High.Negative {
				continue
			}
			asked[space]++
			for i, name := range here {
				if slices.ContainsFunc(values[i], func(n rekey.Integer) bool {
					return !n.Negative && (n.Bits == keys.High.Bits || n.Bits == keys.High.Bits+1)
				}) {
					hits[seenCounter{columnName{table, name}, space}]++
				}
			}
		}
	}
	for c, n := range hits {
		if n == asked[c.space] {
			seen = append(seen, c)
		}
	}
	slices.SortFunc(seen, func(a, b seenCounter) int {
		return cmp.Compare(a.String()+" "+a.space.Name, b.String()+" "+b.space.Name)
	})
	return seen, nil
}

// judgeCounters reports what seems to be a counter and is not declared, and counters
// that cannot be raised.
func judgeCounters(f *facts, seen []seenCounter) (results []Result) {
	for len(seen) > 0 {
		c, at := seen[0], printable.TOML(place(seen[0].table, seen[0].column))
		var spaces []string
		for len(seen) > 0 && seen[0].columnName == c.columnName {
			spaces, seen = append(spaces, seen[0].space.Name), seen[1:]
		}
		results = append(results, Result{
			Code: CodeKeyCounter, Table: c.table, Subject: c.column, Columns: []string{c.column},
			Message: "holds the largest key of " + enumerated(spaces) + ", or the next one, in every database",
			Gaps:    []Gap{{Reason: "if it counts these keys, it would give out numbers that came with the merge"}},
			Next:    []string{fmt.Sprintf("[[merge.counter]] at = %s, space = %s; or declare it plain", at, printable.TOML(spaces[0]))},
		})
		if whens, _ := f.moving.counted(c.columnName); len(whens) > 0 {
			last := &results[len(results)-1]
			last.Message += ", in rows that no when of its [[merge.counter]] covers"
			last.Next = []string{fmt.Sprintf("[[merge.counter]] at = %s, space = %s, when = {...} for these rows; or others = %q in one that is there", at, printable.TOML(spaces[0]), OthersPlain)}
		}
	}
	results = append(results, countedElsewhere(f)...)
	for _, c := range f.moving.counters {
		if f.reset[c.table] {
			results = append(results, Result{
				Code: CodeKeyCounter, Table: c.table, Subject: c.column, Columns: []string{c.column},
				Message: "a counter whose table is emptied",
				Gaps:    []Gap{{Reason: "the counter would be lost, and the game would count from the start"}},
				Next:    []string{fmt.Sprintf("[[merge.table]] tables = [%s], policy = \"skip\": the target's counters stay, and are raised", printable.TOML(c.table))},
			})
			continue
		}
		if !f.skip[c.table] && slices.Contains(f.tables, c.table) {
			results = append(results, Result{
				Code: CodeKeyCounter, Table: c.table, Subject: c.column, Columns: []string{c.column},
				Message: "a counter whose table is copied",
				Gaps:    []Gap{{Reason: "the sources' rows would be added to the target's, which continue to count"}},
				Next:    []string{fmt.Sprintf("[[merge.table]] tables = [%s], policy = \"skip\": the target's counters stay, and are raised", printable.TOML(c.table))},
			})
		}
	}
	return results
}
