package transfer

import (
	"context"
	"iter"
	"slices"

	"mergesafe/gameid"
	"mergesafe/merge"
)

// checkResult runs the rules of package merge over the target, as if it were
// merged with a world that has no rows.
func (r *run) checkResult(ctx context.Context, s *source, proof *Proof) error {
	var allow []string
	for _, a := range r.plan.Check.Allowed {
		single := func(c merge.Code) bool { return c.Code == a.Code && c.OneColumn }
		if slices.ContainsFunc(merge.Codes(), single) {
			continue // of what comes, which beside a world without rows is nothing
		}
		switch known := func(s merge.Skipped) bool { return s.Table == a.Table }; {
		case a.Table == "":
			allow = append(allow, a.Code)
		case s.table(a.Table) != nil || slices.ContainsFunc(s.catalog.Skipped, known):
			allow = append(allow, merge.AllowIn(a.Code, a.Table))
		}
	}
	empty := newEmptyWorld(s.catalog)
	var uniques []merge.DeclaredUnique
	for _, n := range r.plan.Renumbered {
		uniques = append(uniques, merge.DeclaredUnique{Table: n.Table, Columns: append(slices.Clone(n.Within), n.Column), Name: "renumbered", Of: n.Within})
	}
	tables := r.plan.stayingBehind()
	for _, reset := range r.plan.Resets { // as in the plan, nothing is read there: it is empty
		known := func(p merge.TablePolicy) bool { return slices.Contains(p.Tables, merge.Name(reset.Table)) }
		if !slices.ContainsFunc(tables, known) {
			tables = append(tables, merge.TablePolicy{Tables: []string{merge.Name(reset.Table)}, Policy: merge.PolicySkip})
		}
	}
	report, err := merge.Check(ctx, []merge.Source{s, empty}, merge.Options{Target: s.Name(), Allow: allow, Rules: r.plan.Check.Rules, Codecs: r.opts.Codecs, Tables: tables, Uniques: uniques, Rekey: r.plan.rekeyOptions()})
	if err != nil {
		return err
	}
	report.Sources = slices.DeleteFunc(report.Sources, func(s merge.Summary) bool { return s.Name != report.Target })
	report.Results = slices.DeleteFunc(report.Results, func(result merge.Result) bool {
		return result.Code == merge.CodeAutoIncrement || // the empty world has no counters
			result.Code == merge.CodeKeyNobody || result.Code == merge.CodeReferenceNone || // which were judged when it was planned
			result.Code == merge.CodeTableDiffers || // of rows that every world has, and the empty one not
			result.Code == merge.CodeKeyCollision && r.plan.multiset(result.Table) ||
			slices.ContainsFunc(r.plan.Left, func(l Left) bool { return l.Table == result.Table })
	})
	report.Verdict, proof.Check = merge.Pass, report
	for _, result := range report.Results {
		if result.Verdict == merge.Pass || result.CountsAs == merge.Pass {
			continue
		}
		finding := found(&result)
		for _, g := range result.Gaps {
			finding.Reason += "; not verified: " + g.Reason
		}
		proof.Findings = append(proof.Findings, finding)
		report.Verdict = worse(report.Verdict, result.Verdict)
	}
	return nil
}

// worse is the verdict of two together.
func worse(a, b merge.Verdict) merge.Verdict {
	for _, v := range []merge.Verdict{merge.Fail, merge.NotVerified} {
		if a == v || b == v {
			return v
		}
	}
	return merge.Pass
}

// emptyWorld is a world with the tables of another one and no rows.
type emptyWorld struct{ catalog merge.Catalog }

func newEmptyWorld(c *merge.Catalog) *emptyWorld {
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

func (w *emptyWorld) Name() string                                    { return "(no rows)" }
func (w *emptyWorld) Catalog(context.Context) (*merge.Catalog, error) { return &w.catalog, nil }
func (w *emptyWorld) Count(context.Context, string) (int64, error)    { return 0, nil }
func (w *emptyWorld) Scan(context.Context, merge.Scan) iter.Seq2[*merge.Batch, error] {
	return func(func(*merge.Batch, error) bool) {}
}
func (w *emptyWorld) Row(context.Context, string, []string, [][]byte) ([]merge.Field, error) {
	return nil, nil
}

// Withhold, Referring and Orphans implement [merge.Withholder].
func (w *emptyWorld) Withhold([]merge.Withheld)                                {}
func (w *emptyWorld) Referring(context.Context, *merge.Severed) (int64, error) { return 0, nil }
func (w *emptyWorld) Orphans(context.Context, string, *merge.Reference) (int64, error) {
	return 0, nil
}

// Servers implements [merge.Source]. A registry without a server would be a
// gap.
func (w *emptyWorld) Servers(context.Context) ([]merge.Server, error) {
	return []merge.Server{{Server: gameid.MaxServer, World: "nobody", Own: true}}, nil
}
