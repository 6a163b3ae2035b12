package campaign

import (
	"errors"
	"fmt"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/report"
	"mergesafe/merge/verdict"
)

// plainly is an error for the operator, who does not know packages.
func plainly(err error) string { return printable.Text(report.Plainly(err).Error()) }

// refused says what blocks a merge: the first reasons.
func refused(refusals []merge.Refusal) string {
	return printable.List(slice.Map(refusals, merge.Refusal.String), "; ", 5)
}

// commands are those about one merge, for the words of an outcome.
func (r *runner) commands(merge string) report.Commands {
	c := func(name string) string { return r.opts.Command(name, merge) }
	return report.Commands{Apply: c(r.applies()), Verify: c("verify"), Open: c("apply"), Undo: c("undo"), Again: c(r.command()), Plan: c("plan"),
		Renames: "servermerge whois " + printable.Quoted(r.book.PlanFile(merge))}
}

// outcome is the outcome of a command of one merge that ends now; nil if its error is none that a
// report explains.
func (r *runner) outcome(command string, plan *merge.Plan, began time.Time, err error) *report.Outcome {
	o := report.NewOutcome(command, plan, r.commands(plan.Worlds[0].Name))
	o.Program, o.Began, o.Ended = r.opts.Program, began, r.book.now()
	if err != nil && !o.Fail(err, false) {
		return nil
	}
	return o
}

// explain puts an outcome into a problem in plain words, and what to do about it.
func explain(o *report.Outcome) (problem string, advice []string) {
	words := o.View()
	problem = words.Sentence
	switch {
	case o.Ending == report.Refused:
		problem = refused(o.Refusals)
	case o.Proof != nil && o.Proof.Verdict == verdict.Fail:
		problem += ": " + unproved(o.Proof)
	case o.Proof != nil && len(o.Proof.Findings) > 0:
		problem += ": " + refused(o.Proof.Findings)
	}
	for _, step := range words.Next {
		advice = append(append(advice, step.Text), step.Commands...)
	}
	return printable.Text(problem), advice
}

// unproved says in which tables the new database is not as planned.
func unproved(p *merge.Proof) string {
	var tables []string
	for _, t := range p.Tables {
		if t.Verdict == verdict.Pass {
			continue
		}
		what := fmt.Sprintf("%s rows, planned %s", printable.Number(t.Rows), printable.Number(t.Want))
		if t.Missing > 0 {
			what += ", " + printable.Number(t.Missing) + " missing"
		}
		if t.Changed > 0 {
			what += ", " + printable.Number(t.Changed) + " changed"
		}
		tables = append(tables, fmt.Sprintf("%q (%s)", t.Table, what))
	}
	tables = append(tables, slice.Map(p.Findings, merge.Refusal.String)...)
	return printable.List(tables, "; ", 5)
}

// lasting reports whether trying again cannot help.
func lasting(err error) bool {
	_, isRefused := errors.AsType[*merge.RefusedError](err)
	_, isChanged := errors.AsType[*merge.ChangedError](err)
	return isRefused || isChanged
}
