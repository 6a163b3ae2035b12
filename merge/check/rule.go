package check

import (
	"context"
	"maps"
	"slices"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Rule is one rule, or several that judge the same things. It takes facts and
// returns results. Unused functions are nil.
type Rule struct {
	Codes []string // that it gives out, most serious first

	// Single says that the rule judges each database by itself, and so a merged
	// one too. The other rules compare databases, or say what a merge does with rows that come.
	Single bool

	// Catalog judges what the databases say of themselves.
	Catalog func(*Facts) []finding

	// Key judges what was read of the key of a table.
	Key func(*Facts, *keyReading) Outcome

	// Tasks says what else is to be read, and judges it.
	Tasks func(*Facts) []Task
}

// finding is a result that is not concluded yet: its verdict follows from Count
// and Gaps.
type finding struct {
	verdict.Result
	Action string // what to do about a FAIL, if it is not what the code says
}

// Outcome is what a task established.
type Outcome struct {
	Findings   []finding
	Proposals  []verdict.Proposal
	Proposed   *verdict.Proposed
	Plain      []rules.ColumnName   // declared plain or shared, with values that are keys
	Key        *keyReading          // for the summaries of the worlds; nil if no key was read
	Rekeyed    *Rekeyed             // what becomes of keys
	Renumbered []verdict.Renumbered // rows that get other values
	Severed    []rules.Severed      // what becomes of rows that refer to what stays behind
	Stays      []*rules.Stays       // rows that stay behind
	Leaves     []verdict.Leave      // the statements that say so
	Staying    *verdict.Staying     // what is shown of them
	Ends       bool                 // nothing else can be judged
	Alike      []string             // tables that seem to be the same in every source
	Disjoint   map[rules.ColumnsID]bool
	Complete   map[rules.ColumnsID]bool
	Tasks      []Task // still to be done
}

func (o *Outcome) Add(from Outcome) {
	o.Findings = append(o.Findings, from.Findings...)
	o.Proposals = append(o.Proposals, from.Proposals...)
	if from.Proposed != nil {
		o.Proposed = from.Proposed
	}
	if from.Rekeyed != nil {
		o.Rekeyed = from.Rekeyed
	}
	o.Severed = append(o.Severed, from.Severed...)
	o.Stays = append(o.Stays, from.Stays...)
	o.Leaves = append(o.Leaves, from.Leaves...)
	if from.Staying != nil {
		o.Staying = from.Staying
	}
	o.Renumbered = append(o.Renumbered, from.Renumbered...)
	o.Alike = append(o.Alike, from.Alike...)
	o.Plain = append(o.Plain, from.Plain...)
	o.Tasks = append(o.Tasks, from.Tasks...)
	o.Ends = o.Ends || from.Ends
	if o.Disjoint == nil {
		o.Disjoint = make(map[rules.ColumnsID]bool)
	}
	maps.Copy(o.Disjoint, from.Disjoint)
	if o.Complete == nil {
		o.Complete = make(map[rules.ColumnsID]bool)
	}
	maps.Copy(o.Complete, from.Complete)
}

// Found is the outcome of a task that only has results.
func Found(results ...verdict.Result) (o Outcome) {
	for _, r := range results {
		o.Findings = append(o.Findings, finding{Result: r})
	}
	return o
}

// Task is one pass over rows: what reads a table once in every source that has
// it, and what a rule makes of it.
type Task struct {
	Code   string   // of the rule
	Tables []string // that it goes through
	Run    func(context.Context, *Reader) (Outcome, error)

	// Guesses says that it judges nothing, so that it is done also after an outcome that ends the check.
	Guesses bool
}

// keyTasks reads the key of every table of every source, once, for all rules
// that need no more than that.
func keyTasks(f *Facts, rules []Rule) (tasks []Task) {
	judges := slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return r.Key == nil })
	for _, table := range f.Tables {
		tasks = append(tasks, Task{Code: verdict.CodeKeyCollision, Tables: []string{table}, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
			k, err := r.key(ctx, table)
			if err == nil {
				err = countRows(ctx, f, table)
			}
			if err != nil {
				return Outcome{}, err
			}
			o := Outcome{Key: k}
			for _, judge := range judges {
				o.Add(judge.Key(f, k))
			}
			return o, nil
		}})
	}
	return tasks
}
