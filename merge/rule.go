package merge

import (
	"context"
	"maps"
	"slices"
)

// rules lists all rules, most serious first. It is the order of [Codes], and
// the order in which they read.
func rules() []rule {
	return []rule{
		serverRule(),
		unfinishedRule(),
		spaceRule(),
		keyRule(),
		idRule(),
		uniqueRule(),
		accountRule(),
		counterRule(),
		worldRule(),
		sameRule(),
		referenceRule(),
		noneRule(),
		cellRule(),
		severedRule(),
		undeclaredRule(),
		refusedRule(),
		schemaRule(),
		migrationRule(),
		driftRule(),
		triggerRule(),
		frozenRule(),
		snapshotRule(),
		outsideRule(),
		opaqueRule(),
		skippedRule(),
		proposalRule(),
		contentsRule(),
	}
}

// rule is one rule, or several that judge the same things. It takes facts and
// returns results. Of its functions it has those that it needs.
type rule struct {
	codes []Code // that it gives out, most serious first

	// catalog judges what the databases say of themselves.
	catalog func(*facts) []finding

	// key judges what was read of the key of a table.
	key func(*facts, *keyReading) outcome

	// tasks says what else is to be read, and judges it.
	tasks func(*facts) []task
}

// finding is a result that is not concluded yet: its verdict follows from Count
// and Gaps.
type finding struct {
	Result
	action string // what to do about a FAIL, if it is not what the code says
}

// outcome is what a task established.
type outcome struct {
	findings   []finding
	proposals  []Proposal
	proposed   *Proposed
	plain      []string     // columns declared plain that hold values which are keys: table.column
	key        *keyReading  // for the summaries of the sources; nil if no key was read
	contents   []contents   // for these summaries too
	rekeyed    *rekeyed     // what becomes of keys
	renumbered []Renumbered // rows that get other values
	left       []LeftRows   // rows that stay behind
	severed    []Severed    // what becomes of rows that refer to what stays behind
	ends       bool         // nothing else can be judged
	alike      []string     // tables that seem to be the same in every source
	disjoint   map[columnsID]bool
	complete   map[columnsID]bool
	tasks      []task // still to be done
}

func (o *outcome) add(from outcome) {
	o.findings = append(o.findings, from.findings...)
	o.proposals = append(o.proposals, from.proposals...)
	if from.proposed != nil {
		o.proposed = from.proposed
	}
	if from.rekeyed != nil {
		o.rekeyed = from.rekeyed
	}
	o.severed = append(o.severed, from.severed...)
	o.left = append(o.left, from.left...)
	o.renumbered = append(o.renumbered, from.renumbered...)
	o.contents = append(o.contents, from.contents...)
	o.alike = append(o.alike, from.alike...)
	o.plain = append(o.plain, from.plain...)
	o.tasks = append(o.tasks, from.tasks...)
	if o.disjoint == nil {
		o.disjoint = make(map[columnsID]bool)
	}
	maps.Copy(o.disjoint, from.disjoint)
	if o.complete == nil {
		o.complete = make(map[columnsID]bool)
	}
	maps.Copy(o.complete, from.complete)
}

// found is the outcome of a task that only has results.
func found(results ...Result) (o outcome) {
	for _, r := range results {
		o.findings = append(o.findings, finding{Result: r})
	}
	return o
}

// task is one pass over rows: what reads a table once in every source that has
// it, and what a rule makes of it.
type task struct {
	id     taskID
	tables []string // that it goes through
	run    func(context.Context, *reader) (outcome, error)
}

// taskID identifies a task, so that the pairs of a matrix do it together.
type taskID struct {
	code    string // of the rule
	columns columnsID
	to      columnsID // of a reference
}

// keyTasks reads the key of every table of every source, once, for all rules
// that need no more than that.
func keyTasks(f *facts) (tasks []task) {
	judges := slices.DeleteFunc(rules(), func(r rule) bool { return r.key == nil })
	var codes []string
	for _, r := range judges {
		for _, c := range r.codes {
			codes = append(codes, c.Code)
		}
	}
	for _, table := range f.tables {
		if !f.wantsAny(table, "", codes...) {
			continue
		}
		tasks = append(tasks, task{taskID{code: CodeKeyCollision, columns: idOf(table)}, []string{table}, func(ctx context.Context, r *reader) (outcome, error) {
			k, err := r.key(ctx, table, CodeKeyCollision, CodeIDInvalid)
			if err != nil {
				return outcome{}, err
			}
			o := outcome{key: k}
			for _, judge := range judges {
				o.add(judge.key(f, k))
			}
			return o, nil
		}})
	}
	return tasks
}

// Code documents one rule.
type Code struct {
	Code       string // stable, for scripts
	Meaning    string // the meaning of a FAIL; for a rule that never fails, of NOT VERIFIED
	Counts     string // the things in Result.Count; empty for a rule that never fails
	Action     string // what to do about a FAIL
	Unverified string // what to do about NOT VERIFIED

	// OneColumn says that it can be allowed for single columns only; see
	// [Options.Allow].
	OneColumn bool
}

// Codes lists the codes of all rules, most serious first. It is the order of the
// results of a report. A code never changes its meaning.
func Codes() (all []Code) {
	for _, r := range rules() {
		all = append(all, r.codes...)
	}
	return all
}

func documented(code string) Code {
	all := Codes()
	return all[slices.IndexFunc(all, func(c Code) bool { return c.Code == code })]
}
