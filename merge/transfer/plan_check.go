package transfer

import (
	"context"
	"path"
	"slices"
	"strings"

	"mergesafe/merge"
)

// check runs the rules of package merge. Every result that is not PASS blocks the
// merge, unless the operator allowed it or renames resolve it.
func (p *planner) check(ctx context.Context) error {
	all := make([]merge.Source, len(p.dbs))
	for i, s := range p.dbs {
		all[i] = s
	}
	options := p.opts.Check
	options.Target = p.plan.Target.Name
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
	p.plan.Check.Verdict = report.Verdict
	p.rows = make(map[string]map[string]int64)
	for _, s := range report.Sources {
		p.rows[s.Name] = make(map[string]int64)
		for _, t := range s.Tables {
			p.rows[s.Name][t.Table] = t.Rows
		}
	}
	for i := range report.Results {
		p.judge(&report.Results[i])
	}
	return nil
}

// unallowable are conflicts that the operator cannot allow: rows would be lost or
// mixed up, or the target would refuse them.
var unallowable = []string{
	merge.CodeServerConflict, merge.CodeWorldCloned, merge.CodeWorldMerged, merge.CodeKeyCollision,
	merge.CodeUniqueCollision, merge.CodeReferenceRebind, merge.CodeSchemaTable, merge.CodeSchemaColumn,
	merge.CodeTargetCheck, merge.CodeTargetPartition, merge.CodeTargetValue, merge.CodeTargetSize,
}

func (p *planner) judge(r *merge.Result) {
	if r.Verdict == merge.Pass {
		return
	}
	reason := found(r)
	if r.Verdict == merge.NotVerified {
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
	case p.excluded(r.Table) && r.Verdict == merge.NotVerified:
		// The table is not copied, so nothing is claimed of it.
	case r.Code == merge.CodeKeyCollision && r.Verdict == merge.NotVerified && p.keyless(r.Table):
		// There is no key to collide: see multiset.go.
	case r.Verdict == merge.Fail && r.Code == merge.CodeUniqueCollision && p.renames(r):
		p.plan.Check.Resolved = append(p.plan.Check.Resolved, reason)
	case r.CountsAs == merge.Pass && !(r.Verdict == merge.Fail && slices.Contains(unallowable, r.Code)):
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

// renames reports whether a policy resolves what a result found.
func (p *planner) renames(r *merge.Result) bool {
	return slices.ContainsFunc(p.opts.Names, func(n NamePolicy) bool { return r.IsAbout(n.Table, n.Column) })
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
