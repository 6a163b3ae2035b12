package prove

import (
	"context"
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// checkResult runs the rules of the check that judge one database over the new database, and sums up the rows that
// they read.
func checkResult(ctx context.Context, r *job.Run, s *world.World, proof *Proof, found []tableRead) error {
	readBeside(r, s, found)
	var allow []string
	for _, a := range r.Plan.Check.Allowed {
		single := func(c verdict.Code) bool { return c.Code == a.Code && c.OneColumn }
		if slices.ContainsFunc(verdict.Codes(), single) {
			continue // of what comes: in a merged database nothing of it is found
		}
		switch known := func(s catalog.Skipped) bool { return s.Table == a.Table }; {
		case a.Table == "":
			allow = append(allow, a.Code)
		case s.Table(a.Table) != nil || slices.ContainsFunc(s.Known.Skipped, known):
			allow = append(allow, verdict.AllowIn(a.Code, a.Table))
		}
	}
	var uniques []rules.DeclaredUnique
	for _, n := range r.Plan.Renumbered {
		uniques = append(uniques, rules.DeclaredUnique{Table: n.Table, Columns: append(slices.Clone(n.Within), n.Column), Name: "renumbered", Of: n.Within})
	}
	tables := stayingBehind(r.Plan)
	for _, table := range r.Plan.Resets { // as in the plan, nothing is read there: it is empty
		known := func(p rules.TablePolicy) bool { return slices.Contains(p.Tables, rules.Name(table)) }
		if !slices.ContainsFunc(tables, known) {
			tables = append(tables, rules.TablePolicy{Tables: []string{rules.Name(table)}, Policy: rules.PolicySkip})
		}
	}
	report, err := check.Merged(ctx, s, rules.Options{Allow: allow, Rules: r.Plan.Check.Rules, Codecs: r.Opts.Codecs,
		Tables: tables, Uniques: uniques, Rekey: rekeyOptions(r.Plan), Copies: r.Plan.Copies,
		Progress: func(p rules.Progress) {
			r.Tally.Beside(job.Progress{Step: record.StepResult, Database: p.World, Table: p.Table, Rows: p.WorldRows, Total: p.WorldTotal, Again: p.Again})
		}})
	if err != nil {
		return err
	}
	report.Results = slices.DeleteFunc(report.Results, func(result verdict.Result) bool {
		return result.Code == verdict.CodeMergeUnfinished || // which is this one, until it is opened
			slices.ContainsFunc(r.Plan.Left, func(l plan.Left) bool { return l.Table == result.Table })
	})
	report.Verdict, proof.Check = verdict.Pass, report
	for _, result := range report.Results {
		if result.Verdict == verdict.Pass || result.Allowed {
			continue
		}
		finding := planner.Found(&result)
		for _, g := range result.Gaps {
			finding.Reason += "; not verified: " + g.Reason
		}
		proof.Findings = append(proof.Findings, finding)
		report.Verdict = worse(report.Verdict, result.Verdict)
	}
	return nil
}

// worse is the verdict of two together.
func worse(a, b verdict.Verdict) verdict.Verdict {
	for _, v := range []verdict.Verdict{verdict.Fail, verdict.NotVerified} {
		if a == v || b == v {
			return v
		}
	}
	return verdict.Pass
}

// rekeyOptions are what makes a check of the new database follow the same references.
func rekeyOptions(p *plan.Plan) *rules.Rekey {
	if p.Rekey == nil {
		return nil
	}
	o := new(rules.Rekey)
	for _, s := range p.Rekey.Spaces {
		space := rules.Space{Name: s.Name, Keep: s.Keep, After: len(p.Check.Rules)} // the plan has decided what counts
		for _, c := range p.Rekey.Columns {
			if c.Key && c.Cases[0].Space == s.Name {
				space.Keys = append(space.Keys, rules.Name(c.Table)+"."+rules.Name(c.Column))
			}
		}
		o.Spaces = append(o.Spaces, space)
	}
	return o
}

// stayingBehind are the tables of which all rows stay behind, if it is said what becomes of rows that refer there: for a
// check of the new database.
func stayingBehind(p *plan.Plan) (all []rules.TablePolicy) {
	for _, s := range p.Severed {
		if s.Partly {
			continue // others of its rows came
		}
		all = append(all, rules.TablePolicy{Tables: []string{rules.Name(s.To)}, Policy: rules.PolicySkip})
	}
	return all
}
