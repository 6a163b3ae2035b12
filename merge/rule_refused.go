package merge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// refusedRule looks for rows of the sources that the target would refuse.
func refusedRule() rule {
	return rule{
		codes: []string{CodeTargetCheck, CodeTargetPartition, CodeTargetValue, CodeTargetSize},
		tasks: refusedTasks,
	}
}

// codeOf are the codes of the kinds of conditions.
var codeOf = map[ConditionKind]string{
	ConditionCheck: CodeTargetCheck, ConditionPartition: CodeTargetPartition, ConditionValue: CodeTargetValue, ConditionSize: CodeTargetSize,
}

func refusedTasks(f *facts) (tasks []task) {
	for _, table := range f.tables {
		t := f.target.tables[table]
		if t == nil || f.same[table] || !f.mayRefuse(table, t) || !f.wantsAny(table, "", CodeTargetCheck, CodeTargetPartition, CodeTargetValue, CodeTargetSize) {
			continue
		}
		tasks = append(tasks, task{taskID{code: CodeTargetCheck, columns: idOf(table)}, []string{table}, func(ctx context.Context, r *reader) (outcome, error) {
			all := refusals{table: table}
			for db, of := range f.having(table) {
				if db == f.target {
					continue
				}
				if err := all.look(ctx, f, r, t, db, of); err != nil {
					return outcome{}, err
				}
			}
			return found(all.results(f)...), nil
		}})
	}
	return tasks
}

// mayRefuse reports whether the target says of a table that it does not take every
// row of the other databases.
func (f *resolved) mayRefuse(table string, t *Table) bool {
	if slices.ContainsFunc(t.Conditions, func(c Condition) bool { return !c.Off }) {
		return true
	}
	for _, of := range f.having(table) {
		for i := range t.Columns {
			if have := of.column(t.Columns[i].Name); have != nil && have.describe() != t.Columns[i].describe() {
				return true
			}
		}
	}
	return false
}

// refusals are what is known of the rows of a table, condition by condition.
type refusals struct {
	table string
	all   []*refusal
}

// refusal is what is known of a condition, or of all that a column takes.
type refusal struct {
	result     Result
	conditions []Condition
	in, names  []string // the sources, with and without the number of their rows
}

// of returns what is known of a condition.
func (all *refusals) of(c Condition) *refusal {
	subject := cmp.Or(c.Name, c.Text)
	if c.Kind == ConditionValue {
		subject = columnList(c.Columns)
	}
	i := slices.IndexFunc(all.all, func(r *refusal) bool { return r.result.Code == codeOf[c.Kind] && r.result.Subject == subject })
	if i < 0 {
		i = len(all.all)
		all.all = append(all.all, &refusal{result: Result{Code: codeOf[c.Kind], Table: all.table, Subject: subject, Columns: c.Columns}})
	}
	r := all.all[i]
	if !slices.ContainsFunc(r.conditions, func(other Condition) bool { return other.Text == c.Text }) {
		r.conditions = append(r.conditions, c)
	}
	return r
}

// look tries the rows of one source against all that the target wants of them.
func (all *refusals) look(ctx context.Context, f *facts, r *reader, t *Table, db *database, of *Table) error {
	var ask []Condition
	consider := func(c Condition, gap string) {
		if known := all.of(c); gap != "" && db.rows[all.table] > 0 {
			known.result.Gaps = append(known.result.Gaps, Gap{db.name, gap})
		} else {
			ask = append(ask, c)
		}
	}
	for _, c := range t.Conditions {
		outlives := func(column string, in []*reference) bool { return c.outlives(column, in) }
		if !c.Off && !(c.Within && !sameColumns(t, of, c.Columns)) {
			consider(c, cmp.Or(c.cannotHold(t, of), f.rekeyed.movesUnclear(db, all.table, c.Columns, outlives)))
		}
	}
	for i := range t.Columns {
		want := &t.Columns[i]
		have := of.column(want.Name)
		if have == nil || have.describe() == want.describe() {
			continue // schema-column reports what is missing
		}
		conditions, err := tester{r}.takes(ctx, f.target, all.table, want.Name)
		if err != nil {
			return err
		}
		for _, c := range conditions {
			gap := ""
			if kind, other := cmp.Or(string(want.Kind), nameOf(want.Type)), cmp.Or(string(have.Kind), nameOf(have.Type)); kind != other {
				gap = fmt.Sprintf("%s is %s, and %s in %s: the values after the merge are not known", want.Name, have.Type, want.Type, f.target.name)
			}
			consider(c, gap)
		}
	}
	if db.rows[all.table] == 0 {
		return nil
	}
	found, err := tester{r}.failing(ctx, db, all.table, CodeTargetCheck, ask)
	if err != nil {
		return err
	}
	for i, c := range ask {
		all.of(c).note(f, db, found[i])
	}
	return nil
}

// note adds what was found in one source.
func (r *refusal) note(f *facts, db *database, found Failing) {
	table := r.result.Table
	if found.Unclear != "" {
		r.result.Gaps = append(r.result.Gaps, Gap{db.name, found.Unclear})
		return
	}
	r.result.Read += db.rows[table]
	if found.Rows == 0 {
		return
	}
	r.result.Count += found.Rows
	r.in = append(r.in, db.name+": "+printable.Number(found.Rows))
	if !slices.Contains(r.names, db.name) {
		r.names = append(r.names, db.name)
	}
	for _, fields := range found.Samples {
		if len(r.result.Samples) < f.opts.Samples {
			key := keyText(fields, db.tables[table].rowKey(r.result.Columns))
			r.result.Samples = append(r.result.Samples, Sample{Key: key, Rows: []SampleRow{{Source: db.name, Fields: fields}}})
		}
	}
}

// results concludes what is known.
func (all *refusals) results(f *facts) (results []Result) {
	for _, r := range all.all {
		result := r.result
		result.Rows = result.Count
		var texts, names []string
		for _, c := range r.conditions {
			texts, names = append(texts, "NOT ("+c.Text+")"), append(names, c.describe())
		}
		result.without("the target accepts every row")
		if result.Count > 0 {
			result.Message = fmt.Sprintf("%s would be refused by %s for its %s: %s",
				printable.Count(result.Count, "row", "rows"), f.target.name, strings.Join(names, " and "), few(r.in))
			result.Next = append(result.Next, fmt.Sprintf("in %s: SELECT * FROM %s WHERE %s", strings.Join(r.names, ", "), sqlName(all.table), strings.Join(texts, " OR ")))
		}
		results = append(results, result)
	}
	return results
}

// describe names the condition for people.
func (c *Condition) describe() string {
	if c.Kind == ConditionCheck {
		return "CHECK (" + c.Text + ")"
	}
	return cmp.Or(c.Name, c.Text)
}

// cannotHold says why a condition of one table cannot be evaluated on the rows of
// another database, or returns "".
func (c *Condition) cannotHold(t, other *Table) string {
	if c.Unclear != "" {
		return "it cannot be tested on these rows: " + c.Unclear
	}
	for _, name := range c.Columns {
		have := other.column(name)
		switch {
		case have == nil:
			return "has no column " + name
		case c.Kind != ConditionSize && !sameColumns(t, other, []string{name}):
			return fmt.Sprintf("column %s is %s here, and %s in the target, which may decide differently", name, have.describe(), t.column(name).describe())
		}
	}
	return ""
}

// sameColumns reports whether values of the columns mean the same in both tables,
// however they are compared.
func sameColumns(t, other *Table, columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool {
		a, b := t.column(name), other.column(name)
		return a == nil || b == nil || a.Type != b.Type || a.Collation != b.Collation || a.Generated != b.Generated
	})
}

// nameOf is a type without its width.
func nameOf(columnType string) string {
	name, _, _ := strings.Cut(strings.ToLower(columnType), "(")
	return name
}
