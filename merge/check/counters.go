package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// MaxCounterRows is how many rows a table of counters has at most.
const MaxCounterRows = 64

// counterNames are names of columns and tables that say that something is counted there.
var counterNames = regexp.MustCompile(`(?:^|[^A-Za-z])(?i:next|last|seq|counter|auto)|[a-z](?:Next|Last|Seq|Counter|Auto)`)

// NamedCounter reports whether a column is called like a counter.
func NamedCounter(table, column string) bool {
	return counterNames.MatchString(column) || counterNames.MatchString(table)
}

// minCounted is how many keys a space has at least, so that a number above them says that they are
// counted. If the name of a column says it, one is enough.
const minCounted = 20

// CounterLike tells whether a column looks like a counter of some keys, which is declared or open. It
// does if in every world a value is the largest key or lies above it, at any distance (newest rows
// are deleted, and an undo raises counters), none lies among the keys, and in one world the new keys would
// pass it. A number that is the same in all worlds counts only if it is the largest key or the next one:
// worlds count by themselves. In a column that is named like a counter, other rows may count other keys.
type CounterLike struct {
	Named bool

	unlike bool
	passed bool // the new keys pass it in one of the worlds
	next   bool // it is the largest key or the next one in all of them
	above  map[keys.Integer]bool
	worlds int
}

// Add takes the values of the column in one world and the keys there in. The new keys end at next.
func (l *CounterLike) Add(values []keys.Integer, keyed keys.Range, rows int64, next uint64) {
	if !keyed.Any || keyed.High.Negative || rows < minCounted && !l.Named || len(values) == 0 {
		return // too few to tell
	}
	if l.worlds++; l.above == nil {
		l.above, l.next = make(map[keys.Integer]bool), true
	}
	here, first := make(map[keys.Integer]bool), false
	for _, v := range values {
		switch {
		case !v.Less(keyed.High):
			here[v], l.above[v] = true, true
			l.passed = l.passed || v.Bits <= next
			first = first || v.Bits-keyed.High.Bits <= 1
		case !v.Less(keyed.Low) && !l.Named:
			l.unlike = true
		}
	}
	l.next = l.next && first
	l.unlike = l.unlike || len(here) == 0 || len(here) > 1 && !l.Named
}

// Looks reports what was found of the worlds together.
func (l *CounterLike) Looks() bool {
	return l.worlds > 0 && !l.unlike && l.passed && (l.Named || l.next || l.worlds == 1 || len(l.above) > 1)
}

// seenCounter is a column that looks like a counter of a space.
type seenCounter struct {
	rules.ColumnName
	space *rules.KeySpace
}

// findCounters finds the columns of small tables that look like counters in every world that has keys
// of a space, and that new keys would pass in one of them.
func (r *spaceReader) findCounters(ctx context.Context, chosen *verdict.Rekeying) ([]seenCounter, error) {
	var seen []seenCounter
	for _, table := range rules.KeyTables(r.Facts.Resolved) {
		_, model := rules.KeyModel(r.Facts.Resolved, table)
		var columns []string
		for i := range model.Columns {
			at := rules.ColumnName{Table: table, Column: model.Columns[i].Name}
			if model.AutoIncrement != nil && model.AutoIncrement.Column == at.Column {
				continue // the database numbers it: it is a key itself
			}
			_, counted := r.Facts.Moving.Counted(at)
			if model.Columns[i].Kind == catalog.KindInteger && r.Facts.Moving.Columns[at] == nil && r.Facts.Unsaid(table, at.Column) && !counted {
				columns = append(columns, at.Column)
			}
		}
		found, err := r.countersIn(ctx, chosen, table, columns)
		if err != nil {
			return nil, err
		}
		seen = append(seen, found...)
	}
	return seen, nil
}

// countersIn looks at the columns of one table.
func (r *spaceReader) countersIn(ctx context.Context, chosen *verdict.Rekeying, table string, columns []string) (seen []seenCounter, err error) {
	like := make(map[seenCounter]*CounterLike)
	for _, db := range r.Facts.DBs {
		t := db.KeyTable(table)
		if t == nil || len(columns) == 0 {
			return nil, nil
		}
		if db.Rows[table] > MaxCounterRows {
			return nil, nil
		}
		here := slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return t.Column(c) == nil })
		values := make([][]keys.Integer, len(here))
		carry, covered := r.Facts.Moving.Uncounted(table, here)
		if slices.ContainsFunc(carry, func(c string) bool { return t.Column(c) == nil }) {
			return nil, nil // the schemas differ, which is reported
		}
		s := r.Stream(db, verdict.CodeKeySpace, 0, catalog.Scan{Table: table, Carry: carry, Unsorted: true, Most: MaxCounterRows + 1})
		s.Visit = append(s.Visit, func(b *catalog.Batch) {
			for i := range here {
				for row := range b.Len {
					if n, ok := keys.ParseInteger(b.Carry[i].At(row)); ok && !covered(b, i, row) {
						values[i] = append(values[i], n)
					}
				}
			}
		})
		err := s.Drain(ctx)
		if unsupported, is := errors.AsType[*catalog.UnsupportedError](err); is { // a column that has other values than numbers counts nothing
			rest := slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return c == unsupported.Column })
			if len(rest) == len(columns) {
				return nil, nil
			}
			return r.countersIn(ctx, chosen, table, rest)
		}
		if err != nil || s.Read > MaxCounterRows {
			return nil, err
		}
		if s.Read == 0 {
			continue
		}
		for _, space := range r.Facts.Moving.Spaces {
			if slices.ContainsFunc(space.Columns, func(at rules.ColumnName) bool { return at.Table == table }) {
				continue // no table counts its own rows
			}
			next, of := chosen.Next(chosen.Space(space.Name), 0), r.found.in[db].of[space]
			for i, name := range here {
				c := seenCounter{rules.ColumnName{Table: table, Column: name}, space}
				if like[c] == nil {
					like[c] = &CounterLike{Named: NamedCounter(table, name)}
				}
				like[c].Add(values[i], of.Keys, of.Rows, next)
			}
		}
	}
	for c, l := range like {
		if l.Looks() {
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
func judgeCounters(f *Facts, seen []seenCounter) (results []verdict.Result) {
	for len(seen) > 0 {
		c, at := seen[0], printable.TOML(rules.Place(seen[0].Table, seen[0].Column))
		var spaces []string
		for len(seen) > 0 && seen[0].ColumnName == c.ColumnName {
			spaces, seen = append(spaces, seen[0].space.Name), seen[1:]
		}
		results = append(results, verdict.Result{
			Code: verdict.CodeKeyCounter, Table: c.Table, Subject: c.Column, Columns: []string{c.Column},
			Message: "holds the largest key of " + catalog.Enumerated(spaces) + ", or a larger number, which the new keys would exceed",
			Gaps:    []verdict.Gap{{Reason: "if it counts these keys, it would hand out numbers that merged rows have"}},
			Next:    []string{fmt.Sprintf("[[merge.counter]] at = %s, to = %s; or declare it plain", at, printable.TOML(spaces[0]))},
		})
		if whens, _ := f.Moving.Counted(c.ColumnName); len(whens) > 0 {
			last := &results[len(results)-1]
			last.Message += ", in rows that no when of its [[merge.counter]] covers"
			last.Next = []string{fmt.Sprintf("[[merge.counter]] at = %s, to = %s, when = {...} for these rows; or others = %q in an existing one", at, printable.TOML(spaces[0]), rules.OthersPlain)}
		}
	}
	results = append(results, countedElsewhere(f)...)
	for _, c := range f.Moving.Counters {
		becomes, why := "copied", "the counters of the other worlds would be added as rows, and only the first world's would be used"
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
				"the first world's counters are copied and raised", printable.TOML(c.Table))},
		})
	}
	return results
}

// countedBySequences adds what the sequences of a space have given to its values, so that
// new keys lie above it.
func (r *spaceReader) countedBySequences() {
	for _, c := range r.Facts.Moving.Counters {
		for _, db := range r.Facts.DBs {
			if s := db.Catalog.Sequence(c.Table); c.Sequence() && s != nil && !s.Next.Negative && s.Next.Bits > 1 {
				r.found.in[db].of[c.Space].Values.Add(keys.Integer{Bits: s.Next.Bits - 1})
			}
		}
	}
}

// judgeSequence says of a sequence that was not read what it may count; kept is false if it
// is declared, and so raised.
func judgeSequence(m *rules.Moving, f *Facts, r *verdict.Result) (kept bool) {
	if m == nil || f.Model().Catalog.Sequence(r.Table) == nil {
		return true
	}
	if slices.ContainsFunc(m.Counters, func(c rules.KeptCounter) bool { return c.Sequence() && c.Table == r.Table }) {
		return false
	}
	space := "..."
	r.Message = "a sequence, and no rule says which keys it counts: if they get new values, it would hand out numbers that merged rows have"
	for _, at := range m.InOrder() {
		_, model := f.ModelOf(at.Table)
		if model == nil {
			continue
		}
		if c := model.Column(at.Column); c != nil && m.Columns[at].Key && c.SequenceOf() == r.Table {
			r.Message = fmt.Sprintf("a sequence that counts %s (DEFAULT), and is not declared: it would hand out numbers that merged rows have", at)
			space = m.Columns[at].Cases[0].Space.Name
			break
		}
	}
	r.Next = []string{fmt.Sprintf("[[merge.counter]] at = %s, to = %s; or, if it counts no keys, -allow %s", printable.TOML(r.Table), printable.TOML(space), verdict.AllowIn(r.Code, r.Table))}
	return true
}

// countedElsewhere reports keys that a sequence counts which is not in the first world.
func countedElsewhere(f *Facts) (results []verdict.Result) {
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
			Gaps:    []verdict.Gap{{Reason: "it is not raised, and would hand out numbers that merged rows have"}},
			Next:    []string{fmt.Sprintf("raise it by hand above the new keys, as the plan shows them, and -allow %s", verdict.AllowIn(verdict.CodeKeyCounter, at.Table)+"."+catalog.SQLName(at.Column))},
		})
	}
	return results
}
