package merge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mergesafe/internal/nearest"
	"mergesafe/internal/printable"
	"mergesafe/merge/rekey"
)

// Sequence is a counter outside of the tables: CREATE SEQUENCE of MariaDB.
type Sequence struct {
	Name      string
	Next      rekey.Integer // that it has certainly not given out
	Max       rekey.Integer // the largest that it gives out
	Increment int64
	Cycle     bool // after the largest it begins again
}

// Sequence returns the sequence of that name, or nil.
func (c *Catalog) Sequence(name string) *Sequence {
	i := slices.IndexFunc(c.Sequences, func(s Sequence) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Sequences[i]
}

// fromSequence finds the sequence of a DEFAULT, as a catalogue writes it: that of another
// database with its name before.
var fromSequence = regexp.MustCompile("(?i)(?:nextval\\(|next value for )`?((?:[^`)]|`\\.`|``)+)`?")

// sequenceOf returns the sequence that counts a column; "" if none does.
func (c *Column) sequenceOf() string {
	if c.Default == nil || strings.HasPrefix(*c.Default, "'") {
		return ""
	}
	found := fromSequence.FindStringSubmatch(*c.Default)
	if found == nil {
		return ""
	}
	return strings.ReplaceAll(found[1], "``", "`")
}

// declareSequence adds a sequence of the target that the operator names as the counter of a
// space; done is false if it has none of that name.
func (m *moving) declareSequence(f *resolved, c CounterRow, space *keySpace) (done bool, err error) {
	name := c.At
	if quoted, ok := strings.CutPrefix(name, "`"); ok && strings.HasSuffix(quoted, "`") && len(quoted) > 1 {
		name = strings.ReplaceAll(quoted[:len(quoted)-1], "``", "`")
	}
	if f.target.catalog.Sequence(name) == nil {
		if strings.Contains(c.At, ".") {
			return false, nil
		}
		var all []string
		for _, s := range f.target.catalog.Sequences {
			all = append(all, s.Name)
		}
		return true, fmt.Errorf("at is %q: want table.column, or the name of a sequence of the target%s", c.At, nearest.Hint(name, all))
	}
	if c.When != nil {
		return true, fmt.Errorf("%q is a sequence: it has no rows, so a when cannot select any", name)
	}
	m.counters = append(m.counters, keptCounter{columnName{table: name}, nil, space, ""})
	return true, nil
}

// countedBySequences adds what the sequences of a space have given to its values, so that
// new keys lie above it.
func (r *spaceReader) countedBySequences() {
	for _, c := range r.moving.counters {
		for _, db := range r.facts.dbs {
			if s := db.catalog.Sequence(c.table); c.sequence() && s != nil && !s.Next.Negative && s.Next.Bits > 1 {
				r.found.of[c.space][db].values.Add(rekey.Integer{Bits: s.Next.Bits - 1})
			}
		}
	}
}

// judgeSequence says of a sequence that was not read what it may count; kept is false if it
// is declared, and so raised.
func (m *moving) judgeSequence(f *facts, r *Result) (kept bool) {
	if m == nil || f.target.catalog.Sequence(r.Table) == nil {
		return true
	}
	if slices.ContainsFunc(m.counters, func(c keptCounter) bool { return c.sequence() && c.table == r.Table }) {
		return false
	}
	space := "..."
	r.Message = "a sequence, and no rule says which keys it counts: if they get new values, it would give out numbers that came with the merge"
	for _, at := range m.inOrder() {
		_, model := f.model(at.table)
		if model == nil {
			continue
		}
		if c := model.column(at.column); c != nil && m.columns[at].key && c.sequenceOf() == r.Table {
			r.Message = fmt.Sprintf("a sequence that counts %s (DEFAULT), and is not declared: it would give out numbers that came with the merge", at)
			space = m.columns[at].cases[0].space.Name
			break
		}
	}
	r.Next = []string{fmt.Sprintf("[[merge.counter]] at = %s, space = %s; or, if it counts no keys, -allow %s", printable.TOML(r.Table), printable.TOML(space), AllowIn(r.Code, r.Table))}
	return true
}

// countedElsewhere reports keys that a sequence counts which is not in the target.
func countedElsewhere(f *facts) (results []Result) {
	for _, at := range f.moving.inOrder() {
		_, model := f.model(at.table)
		if model == nil {
			continue
		}
		c := model.column(at.column)
		if c == nil || !f.moving.columns[at].key || c.sequenceOf() == "" || f.target.catalog.Sequence(c.sequenceOf()) != nil {
			continue
		}
		results = append(results, Result{
			Code: CodeKeyCounter, Table: at.table, Subject: at.column, Columns: []string{at.column},
			Message: fmt.Sprintf("counted by a sequence that is not in this database: DEFAULT %s", *c.Default),
			Gaps:    []Gap{{Reason: "it is not raised, and would give out numbers that came with the merge"}},
			Next:    []string{fmt.Sprintf("raise it by hand above the new keys, as the plan shows them, and -allow %s", AllowIn(CodeKeyCounter, at.table)+"."+sqlName(at.column))},
		})
	}
	return results
}
