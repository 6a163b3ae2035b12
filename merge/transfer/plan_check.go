package transfer

import (
	"context"
	"path"
	"slices"
	"strings"

	"mergesafe/merge"
)

// check runs the rules of package merge. Every result that is not PASS blocks the
// merge, unless the operator allowed it. What renaming and combining resolve is PASS.
func (p *planner) check(ctx context.Context) error {
	all := make([]merge.Source, len(p.dbs))
	for i, s := range p.dbs {
		all[i] = s
	}
	p.leaveGone()
	options := p.opts.Check
	options.Target, options.Renames, options.Copies = p.plan.Target.Name, Renamed(p.opts.Names), p.opts.Copies
	if p.opts.Report == nil {
		options.Samples = -1
	}
	if progress := p.opts.Progress; progress != nil && options.Progress == nil {
		options.Progress = func(m merge.Progress) {
			progress(Progress{Step: StepCheck, Database: m.Source, Table: m.Table, Rows: m.SourceRows, Total: m.SourceTotal})
		}
	}
	report, err := merge.Check(ctx, all, options)
	if err != nil {
		return err
	}
	if p.opts.Report != nil {
		p.opts.Report(report)
	}
	p.plan.Check.Verdict, p.plan.Check.Rules = report.Verdict, options.Rules
	p.plan.Check.Plain, p.plan.Check.PlainOpen = report.Plain, report.PlainOpen
	p.plan.Severed, p.plan.Check.RuleFiles = report.Severed, report.RuleFiles
	p.plan.LeftRows, p.plan.Renumbered = report.LeftRows, report.Renumbered
	if report.Rekeyed != nil && len(report.Rekeyed.Spaces) > 0 { // also if no key moves: what refers to it is declared all the same
		p.plan.Rekey = report.Rekeyed
	}
	for _, s := range p.dbs[1:] {
		s.on.withheld = p.plan.withheld(s.dialect)
	}
	p.rows, p.same, p.skip = make(map[string]map[string]int64), make(map[string]bool), make(map[string]string)
	p.emptied, p.combined = report.Reset, make(map[string]*merge.Combined)
	for i := range report.Combined {
		p.combined[report.Combined[i].Table] = &report.Combined[i]
	}
	for _, s := range report.Sources {
		p.rows[s.Name] = make(map[string]int64)
		for _, t := range s.Tables {
			p.rows[s.Name][t.Table] = t.Rows
		}
	}
	for i := range report.Results {
		r := &report.Results[i]
		if r.Code == merge.CodeTableDiffers && r.Subject == "" && r.Verdict == merge.Pass {
			p.same[r.Table] = true
		}
		if r.Code == merge.CodeTableExcluded && r.Subject == "" && r.Verdict == merge.Pass {
			p.skip[r.Table] = r.Message
		}
		p.judge(r)
	}
	// Without offsets the keys were compared as they are: what came of that is not the
	// reason, and can be many.
	slices.SortStableFunc(p.plan.Refusals, func(a, b Refusal) int {
		first := func(r Refusal) int {
			if r.Code == merge.CodeKeySpace {
				return 0
			}
			return 1
		}
		return first(a) - first(b)
	})
	return nil
}

// leaveGone takes out the names that are about columns which the rules list and no
// database has.
func (p *planner) leaveGone() {
	var catalogs []*merge.Catalog
	for _, s := range p.dbs {
		catalogs = append(catalogs, s.catalog)
	}
	gone := p.opts.Check.Gone(catalogs)
	p.opts.Names = slices.DeleteFunc(slices.Clone(p.opts.Names), func(n NamePolicy) bool { return gone(n.Table, n.Column) })
	for i := range p.opts.Names {
		n := &p.opts.Names[i]
		n.Set = slices.DeleteFunc(slices.Clone(n.Set), func(s merge.Setting) bool { return gone(n.Table, s.Column) })
	}
	p.opts.Copies = slices.DeleteFunc(slices.Clone(p.opts.Copies), func(c NameCopy) bool {
		return gone(c.Table, c.Column) || gone(c.Table, c.Key) || gone(c.OfTable, c.OfColumn)
	})
}

func (p *planner) judge(r *merge.Result) {
	reason := found(r)
	if r.Renamed+r.Combined+r.Renumbered > 0 {
		p.plan.Check.Resolved = append(p.plan.Check.Resolved, reason)
	}
	if r.Verdict == merge.Pass {
		if r.Code == merge.CodeReferenceDangle && r.Rows > 0 && p.plan.Rekey == nil {
			// Spaces were declared, and lie apart. Of a plan without new keys, apply and
			// verify have to be told which rows reference a row that does not exist.
			p.plan.Check.Allowed = append(p.plan.Check.Allowed, reason)
		}
		return
	}
	if r.Open != nil {
		reason.Reason = "not declared: " + reason.Reason
	} else if r.Verdict == merge.NotVerified {
		var gaps []string
		for _, g := range r.Gaps {
			gap := g.Reason
			if g.Source != "" {
				gap = g.Source + ": " + gap
			}
			gaps = append(gaps, gap)
		}
		reason.Reason = "not verified: " + reason.Reason + ": " + strings.Join(gaps, "; ")
	}
	switch {
	case r.Code == merge.CodeMergeUnfinished:
		// refuseInUse says so already, and says to plan again afterwards.
	case p.excluded(r.Table) && r.Verdict == merge.NotVerified:
		// The table is not copied, so nothing is claimed of it.
	case r.Code == merge.CodeKeyCollision && r.Verdict == merge.NotVerified && p.keyless(r.Table):
		// There is no key to collide: see multiset.go.
	case r.CountsAs == merge.Pass && !(r.Verdict == merge.Fail && merge.Unallowable(r.Code)):
		p.plan.Check.Allowed = append(p.plan.Check.Allowed, reason)
	default:
		p.refuse(reason)
	}
}

// found is what a rule of package merge found.
func found(r *merge.Result) Refusal {
	reason := r.Message
	if r.Subject != "" {
		reason = r.Subject + ": " + reason
	}
	return Refusal{Table: r.Table, Code: r.Code, Reason: reason}
}

// keyless reports whether the target has the table, and no key of it.
func (p *planner) keyless(table string) bool {
	t := p.dbs[0].table(table)
	return t != nil && t.Key() == nil
}

func (p *planner) excluded(table string) bool {
	match := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { ok, _ := path.Match(pattern, table); return ok })
	}
	include := p.opts.Check.Include
	return table != "" && (len(include) > 0 && !match(include) || match(p.opts.Check.Exclude))
}
