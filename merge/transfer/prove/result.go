package prove

import (
	"context"
	"iter"
	"slices"

	"mergesafe/gameid"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/verdict"
)

// checkResult runs the rules of the check over the target, as if it were
// merged with a world that has no rows.
func checkResult(ctx context.Context, r *job.Run, s *rowio.Source, proof *Proof) error {
	var allow []string
	for _, a := range r.Plan.Check.Allowed {
		single := func(c verdict.Code) bool { return c.Code == a.Code && c.OneColumn }
		if slices.ContainsFunc(verdict.Codes(), single) {
			continue // of what comes, which beside a world without rows is nothing
		}
		switch known := func(s catalog.Skipped) bool { return s.Table == a.Table }; {
		case a.Table == "":
			allow = append(allow, a.Code)
		case s.Table(a.Table) != nil || slices.ContainsFunc(s.Known.Skipped, known):
			allow = append(allow, verdict.AllowIn(a.Code, a.Table))
		}
	}
	empty := newEmptyWorld(s.Known)
	var uniques []declare.DeclaredUnique
	for _, n := range r.Plan.Renumbered {
		uniques = append(uniques, declare.DeclaredUnique{Table: n.Table, Columns: append(slices.Clone(n.Within), n.Column), Name: "renumbered", Of: n.Within})
	}
	tables := r.Plan.StayingBehind()
	for _, reset := range r.Plan.Resets { // as in the plan, nothing is read there: it is empty
		known := func(p declare.TablePolicy) bool { return slices.Contains(p.Tables, declare.Name(reset.Table)) }
		if !slices.ContainsFunc(tables, known) {
			tables = append(tables, declare.TablePolicy{Tables: []string{declare.Name(reset.Table)}, Policy: declare.PolicySkip})
		}
	}
	report, err := merge.Check(ctx, []catalog.Source{s, empty}, declare.Options{Target: s.Name(), Allow: allow, Rules: r.Plan.Check.Rules, Codecs: r.Opts.Codecs, Tables: tables, Uniques: uniques, Rekey: r.Plan.RekeyOptions()})
	if err != nil {
		return err
	}
	report.Sources = slices.DeleteFunc(report.Sources, func(s verdict.Summary) bool { return s.Name != report.Target })
	report.Results = slices.DeleteFunc(report.Results, func(result verdict.Result) bool {
		return result.Code == verdict.CodeAutoIncrement || // the empty world has no counters
			result.Code == verdict.CodeKeyNobody || result.Code == verdict.CodeReferenceNone || // which were judged when it was planned
			r.Plan.Into != nil && (result.Code == verdict.CodeTriggerFires || // which were made after the rows
				result.Code == verdict.CodeMergeUnfinished) || // which is this one, until it is opened
			result.Code == verdict.CodeTableDiffers || // of rows that every world has, and the empty one not
			result.Code == verdict.CodeKeyCollision && r.Plan.Multiset(result.Table) ||
			slices.ContainsFunc(r.Plan.Left, func(l plan.Left) bool { return l.Table == result.Table })
	})
	report.Verdict, proof.Check = verdict.Pass, report
	for _, result := range report.Results {
		if result.Verdict == verdict.Pass || result.CountsAs == verdict.Pass {
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

// emptyWorld is a world with the tables of another one and no rows.
type emptyWorld struct{ catalog catalog.Catalog }

func newEmptyWorld(c *catalog.Catalog) *emptyWorld {
	w := &emptyWorld{*c}
	w.catalog.Skipped, w.catalog.Given, w.catalog.Tables = nil, nil, slices.Clone(c.Tables)
	for i := range w.catalog.Tables {
		if counter := w.catalog.Tables[i].AutoIncrement; counter != nil { // it has given no number
			fresh := *counter
			fresh.Next, w.catalog.Tables[i].AutoIncrement = 1, &fresh
		}
	}
	return w
}

func (w *emptyWorld) Name() string { return "(no rows)" }

func (w *emptyWorld) Catalog(context.Context) (*catalog.Catalog, error) { return &w.catalog, nil }

func (w *emptyWorld) Count(context.Context, string) (int64, error) { return 0, nil }

func (w *emptyWorld) Scan(context.Context, catalog.Scan) iter.Seq2[*catalog.Batch, error] {
	return func(func(*catalog.Batch, error) bool) {}
}

func (w *emptyWorld) Row(context.Context, string, []string, [][]byte) ([]catalog.Field, error) {
	return nil, nil
}

// Withhold, Referring and Orphans implement [declare.Withholder].
func (w *emptyWorld) Withhold([]catalog.Withheld) {}

func (w *emptyWorld) Referring(context.Context, *declare.Severed) (int64, error) { return 0, nil }

func (w *emptyWorld) Orphans(context.Context, string, *catalog.Reference) (int64, error) {
	return 0, nil
}

// Servers implements [catalog.Source]. A registry without a server would be a
// gap.
func (w *emptyWorld) Servers(context.Context) ([]catalog.Server, error) {
	return []catalog.Server{{Server: gameid.MaxServer, World: "nobody", Own: true}}, nil
}
