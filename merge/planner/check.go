package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check"

	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/propose"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// judge runs the rules of the check. Every result that does not count as PASS blocks the
// merge. What renaming and combining resolve is PASS.
func judge(ctx context.Context, p *Planner) error {
	all := make([]catalog.Source, len(p.DBs))
	for i, s := range p.DBs {
		all[i] = s
	}
	options := p.opts.Check
	options.Renames, options.Copies = plan.Renamed(p.opts.Names), p.opts.Copies
	options.Unshown = p.opts.Report == nil
	if progress := p.opts.Progress; progress != nil && options.Progress == nil {
		options.Progress = func(m rules.Progress) {
			progress(job.Progress{Step: record.StepCheck, Database: m.World, Table: m.Table, Rows: m.WorldRows, Total: m.WorldTotal, Again: m.Again})
		}
	}
	facts, err := check.DescribeAll(ctx, all, options)
	if err != nil {
		return err
	}
	p.Resolved = facts.Resolved
	p.leaveGone()
	sumBeside(p)
	report, err := check.Described(ctx, facts, facts.Opts.Stamp(), check.With{Rules: []check.Rule{propose.ProposalRule}})
	if err != nil {
		return err
	}
	if p.opts.Report != nil {
		p.opts.Report(report)
	}
	p.Plan.Check.Verdict, p.Plan.Check.Rules = report.Verdict, options.Rules
	p.Plan.Check.Plain, p.Plan.Check.PlainOpen = report.Plain, report.PlainOpen
	p.Plan.Severed, p.Plan.Check.RuleFiles = report.Severed, report.RuleFiles
	p.Plan.Renumbered = report.Renumbered
	if report.Rekeyed != nil && len(report.Rekeyed.Spaces) > 0 { // also if no key moves: what refers to it is declared all the same
		p.Plan.Rekey = report.Rekeyed
	}
	if len(report.Leaves) > 0 {
		p.Plan.Leaving = &plan.Leaving{Says: report.Leaves, Shown: report.Staying, Stays: slice.Map(report.Stays, func(s *rules.Stays) plan.Stays { return plan.Stays{Stays: s} })}
	}
	for _, s := range p.DBs {
		s.On.Withheld, s.On.Sifted = p.Plan.WithheldOf(s.Name(), s.Dialect)
	}
	p.Report, p.Rows, p.Same, p.skip = report, make(map[string]map[string]int64), make(map[string]bool), make(map[string]string)
	for _, s := range report.Worlds {
		p.Rows[s.Name] = make(map[string]int64)
		for _, t := range s.Tables {
			p.Rows[s.Name][t.Table] = t.Rows
		}
	}
	for i := range report.Results {
		r := &report.Results[i]
		if r.Code == verdict.CodeTableDiffers && r.Subject == "" && r.Verdict == verdict.Pass {
			p.Same[r.Table] = true
		}
		if r.Code == verdict.CodeRowsLeft && r.Subject == "" && r.Verdict == verdict.Pass {
			p.skip[r.Table] = r.Message
		}
		p.judge(r)
	}
	if report.Verdict != verdict.Pass && len(p.Plan.Refusals) == 0 {
		p.refuse(plan.Refusal{Code: verdict.CodeKeySpace, Reason: fmt.Sprintf("the check says %s: what is allowed prevented it from checking the rest", report.Verdict)})
	}
	// Without offsets the keys were compared as they are: what came of that is not the
	// reason, and can be many.
	slice.Foremost(p.Plan.Refusals, func(r plan.Refusal) bool { return r.Code == verdict.CodeKeySpace })
	return nil
}

// leaveGone takes out the names that are about columns which the rules list and no
// database has.
func (p *Planner) leaveGone() {
	gone := p.Resolved.Gone
	p.opts.Names = slices.DeleteFunc(slices.Clone(p.opts.Names), func(n plan.NamePolicy) bool { return gone(n.Table, n.Column) })
	for i := range p.opts.Names {
		n := &p.opts.Names[i]
		n.Set = slices.DeleteFunc(slices.Clone(n.Set), func(s rules.Setting) bool { return gone(n.Table, s.Column) })
	}
	p.opts.Copies = slices.DeleteFunc(slices.Clone(p.opts.Copies), func(c plan.NameCopy) bool {
		return gone(c.Table, c.Column) || gone(c.Table, c.Key) || gone(c.OfTable, c.OfColumn)
	})
}

func (p *Planner) judge(r *verdict.Result) {
	reason := Found(r)
	if r.Renamed+r.Combined+r.Renumbered > 0 {
		p.Plan.Check.Resolved = append(p.Plan.Check.Resolved, reason)
	}
	if r.Verdict == verdict.Pass {
		if r.Code == verdict.CodeReferenceDangle && r.Rows > 0 && p.Plan.Rekey == nil {
			// Spaces were declared, and lie apart. Of a plan without new keys, apply and
			// verify have to be told which rows reference a row that does not exist.
			p.Plan.Check.Allowed = append(p.Plan.Check.Allowed, reason)
		}
		return
	}
	if r.Open != nil {
		reason.Reason = "not declared: " + reason.Reason
	} else if r.Verdict == verdict.NotVerified {
		var gaps []string
		for _, g := range r.Gaps {
			gap := g.Reason
			if g.World != "" {
				gap = g.World + ": " + gap
			}
			gaps = append(gaps, gap)
		}
		reason.Reason = "not verified: " + reason.Reason + ": " + strings.Join(gaps, "; ")
		if len(r.Next) > 0 && r.Next[0] != verdict.Documented(r.Code).Unverified { // what to declare
			reason.Reason += "; " + r.Next[0]
		}
	} else if r.Code == verdict.CodeUniqueCollision && !r.Allowed { // a campaign shows no other advice
		reason.Reason += "; " + r.Next[len(r.Next)-1]
	}
	switch {
	case r.Code == verdict.CodeMergeUnfinished:
		// refuseInUse says so already, and says to plan again afterwards.
	case r.Allowed:
		p.Plan.Check.Allowed = append(p.Plan.Check.Allowed, reason)
	default:
		p.refuse(reason)
	}
}

// Found is what a rule of the check found.
func Found(r *verdict.Result) plan.Refusal {
	reason := r.Message
	if r.Subject != "" {
		reason = r.Subject + ": " + reason
	}
	return plan.Refusal{Table: r.Table, Code: r.Code, Reason: reason}
}
