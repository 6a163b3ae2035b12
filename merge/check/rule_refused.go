package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// refusedRule looks for rows of the worlds that the first world would refuse, as the new database will: some of its
// own too, if they came while a condition was off.
var refusedRule = Rule{
	Codes: []string{verdict.CodeRefusedCheck, verdict.CodeRefusedPartition, verdict.CodeRefusedValue, verdict.CodeRefusedSize},
	Tasks: refusedTasks,
}

// codeOf are the codes of the kinds of conditions.
var codeOf = map[catalog.ConditionKind]string{
	catalog.ConditionCheck: verdict.CodeRefusedCheck, catalog.ConditionIndex: verdict.CodeRefusedCheck, catalog.ConditionMoment: verdict.CodeRefusedCheck, catalog.ConditionPartition: verdict.CodeRefusedPartition, catalog.ConditionValue: verdict.CodeRefusedValue, catalog.ConditionSize: verdict.CodeRefusedSize,
}

func refusedTasks(f *Facts) (tasks []Task) {
	for _, table := range f.Tables {
		t := f.Model().Tables[table]
		if t == nil || !mayRefuse(f.Resolved, table, t) {
			continue
		}
		tasks = append(tasks, Task{Code: verdict.CodeRefusedCheck, Tables: []string{table}, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
			all := refusals{table: table}
			for db, of := range f.Having(table) {
				if f.Same[table] && db != f.Model() {
					continue // whose rows stay
				}
				if err := all.look(ctx, f, r, t, db, of); err != nil {
					return Outcome{}, err
				}
			}
			return Found(all.results(f)...), nil
		}})
	}
	return tasks
}

// enforced are the conditions of a table of the first world that rows of another table have to meet.
func enforced(t, of *catalog.Table) []catalog.Condition {
	return slices.DeleteFunc(slices.Clone(t.Conditions), func(c catalog.Condition) bool { return c.Off || c.Within && !sameColumns(t, of, c.Columns) })
}

// mayRefuse reports whether the first world says of a table that it does not take every
// row of the other databases.
func mayRefuse(f *rules.Resolved, table string, t *catalog.Table) bool {
	if slices.ContainsFunc(t.Conditions, func(c catalog.Condition) bool { return !c.Off }) {
		return true
	}
	for _, of := range f.Having(table) {
		for i := range t.Columns {
			if have := of.Column(t.Columns[i].Name); have != nil && have.Describe() != t.Columns[i].Describe() {
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
	result     verdict.Result
	conditions []catalog.Condition
	in, names  []string // the sources, with and without the number of their rows
}

// of returns what is known of a condition.
func (all *refusals) of(c catalog.Condition) *refusal {
	subject := cmp.Or(c.Name, c.Text)
	if c.Kind == catalog.ConditionValue {
		subject = catalog.ColumnList(c.Columns)
	}
	i := slices.IndexFunc(all.all, func(r *refusal) bool { return r.result.Code == codeOf[c.Kind] && r.result.Subject == subject })
	if i < 0 {
		i = len(all.all)
		all.all = append(all.all, &refusal{result: verdict.Result{Code: codeOf[c.Kind], Table: all.table, Subject: subject, Columns: c.Columns}})
	}
	r := all.all[i]
	if !slices.ContainsFunc(r.conditions, func(other catalog.Condition) bool { return other.Text == c.Text }) {
		r.conditions = append(r.conditions, c)
	}
	return r
}

// look tries the rows of one world against all that the first world wants of them.
func (all *refusals) look(ctx context.Context, f *Facts, r *Reader, t *catalog.Table, db *rules.Database, of *catalog.Table) error {
	var ask []catalog.Condition
	consider := func(c catalog.Condition, gap string) {
		if known := all.of(c); gap != "" && db.Rows[all.table] > 0 {
			known.result.Gaps = append(known.result.Gaps, verdict.Gap{World: db.Name, Reason: gap})
		} else {
			ask = append(ask, c)
		}
	}
	for _, c := range enforced(t, of) {
		outlives := func(column string, in []*rules.Ref) bool { return rules.Outlives(&c, column, in) }
		consider(c, cmp.Or(cannotHold(&c, t, of), f.Rekeyed.movesUnclear(db, all.table, c.Columns, outlives)))
	}
	for i := range t.Columns {
		want := &t.Columns[i]
		have := of.Column(want.Name)
		if have == nil || have.Describe() == want.Describe() {
			continue // schema-column reports what is missing
		}
		conditions, err := takes(ctx, f.Model(), all.table, want.Name)
		if err != nil {
			return err
		}
		for _, c := range conditions {
			gap := ""
			if kind, other := cmp.Or(string(want.Kind), rules.NameOf(want.Type)), cmp.Or(string(have.Kind), rules.NameOf(have.Type)); kind != other {
				gap = fmt.Sprintf("%s is %s, and %s in %s: the values after the merge are not known", want.Name, have.Type, want.Type, f.Model().Name)
			}
			consider(c, gap)
		}
	}
	if db.Rows[all.table] == 0 {
		return nil
	}
	found, err := r.failing(ctx, db, all.table, ask)
	if err != nil {
		return err
	}
	for i, c := range ask {
		if known := all.of(c); c.Kind != catalog.ConditionMoment {
			known.note(db, found[i])
		} else if found[i].Rows > 0 { // SQLite accepts them if the CHECK is decided without the date
			known.result.Gaps = append(known.result.Gaps, verdict.Gap{World: db.Name, Reason: fmt.Sprintf("%s in %s a text that means the present time: SQLite refuses it if it needs the date",
				printable.Count(found[i].Rows, "row has", "rows have"), c.Columns[0])})
		}
	}
	return nil
}

// note adds what was found in one world.
func (r *refusal) note(db *rules.Database, found catalog.Failing) {
	table := r.result.Table
	if found.Unclear != "" {
		r.result.Gaps = append(r.result.Gaps, verdict.Gap{World: db.Name, Reason: found.Unclear})
	} else {
		r.result.Read += db.Rows[table]
	}
	if found.Rows == 0 {
		return
	}
	r.result.Count += found.Rows
	r.in = append(r.in, db.Name+": "+printable.Number(found.Rows))
	if !slices.Contains(r.names, db.Name) {
		r.names = append(r.names, db.Name)
	}
	for _, fields := range found.Samples {
		if len(r.result.Samples) < rules.Samples {
			key := keyText(fields, db.Tables[table].RowKey(r.result.Columns))
			r.result.Samples = append(r.result.Samples, verdict.Sample{Key: key, Rows: []verdict.SampleRow{{World: db.Name, Fields: fields}}})
		}
	}
}

// results concludes what is known.
func (all *refusals) results(f *Facts) (results []verdict.Result) {
	for _, r := range all.all {
		result := r.result
		result.Rows = result.Count
		var texts, names []string
		for _, c := range r.conditions {
			if c.Kind == catalog.ConditionMoment {
				continue
			}
			texts, names = append(texts, "NOT ("+c.Text+")"), append(names, describeCondition(&c))
		}
		result.Without("the new database accepts every row")
		if result.Count > 0 {
			result.Message = fmt.Sprintf("%s would be refused by %s for its %s: %s",
				printable.Count(result.Count, "row", "rows"), f.Model().Name, strings.Join(names, " and "), catalog.Few(r.in))
			result.Next = append(result.Next, fmt.Sprintf("in %s: SELECT * FROM %s WHERE %s", strings.Join(r.names, ", "), catalog.SQLName(all.table), strings.Join(texts, " OR ")))
		}
		results = append(results, result)
	}
	return results
}

// describeCondition names the condition for people.
func describeCondition(c *catalog.Condition) string {
	if c.Kind == catalog.ConditionCheck {
		return "CHECK (" + c.Text + ")"
	}
	return cmp.Or(c.Name, c.Text)
}

// cannotHold says why a condition of one table cannot be evaluated on the rows of
// another database, or returns "".
func cannotHold(c *catalog.Condition, t, other *catalog.Table) string {
	if c.Unclear != "" {
		return "it cannot be tested on these rows: " + c.Unclear
	}
	for _, name := range c.Columns {
		have := other.Column(name)
		switch {
		case have == nil:
			return "has no column " + name
		case c.Kind != catalog.ConditionSize && !sameColumns(t, other, []string{name}):
			return fmt.Sprintf("column %s is %s here, and %s in the first world, which may decide differently", name, have.Describe(), t.Column(name).Describe())
		}
	}
	return ""
}

// sameColumns reports whether values of the columns mean the same in both tables,
// however they are compared.
func sameColumns(t, other *catalog.Table, columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool {
		a, b := t.Column(name), other.Column(name)
		return a == nil || b == nil || a.Type != b.Type || a.Collation != b.Collation || a.Generated != b.Generated
	})
}
