package merge

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"
)

// run carries the rules out: it judges the catalogues, does one task after the
// other, and concludes what the rules found.
type run struct {
	facts      *facts
	rules      []rule
	reader     *reader
	summaries  *summaries
	started    time.Time
	tasks      []task // still to be done
	results    []Result
	proposals  []Proposal
	proposed   *Proposed
	severed    []Severed
	left       []LeftRows
	renumbered []Renumbered
	plain      []string // see outcome
	ended      bool
}

func newRun(f *facts, r *reader, s *summaries, started time.Time, rules []rule) *run {
	return &run{facts: f, rules: rules, reader: r, summaries: s, started: started}
}

// judgeCatalogs applies the rules that need no reading of rows.
func (r *run) judgeCatalogs() {
	for _, rule := range r.rules {
		if rule.catalog != nil {
			r.take(outcome{findings: rule.catalog(r.facts)})
		}
	}
}

// countRows counts the rows of every table, and asks for the ends of its key
// where the source can tell them.
func (r *run) countRows(ctx context.Context) error {
	return sideBySide(ctx, r.facts.dbs, func(ctx context.Context, db *database) error {
		for _, table := range r.facts.tables {
			if db.tables[table] == nil || !r.facts.wantsTable(table) {
				continue
			}
			n, err := r.reader.count(ctx, db, table)
			if err != nil {
				return err
			}
			db.rows[table] = n
			ends, err := r.reader.ends(ctx, db, table)
			if err != nil {
				return err
			}
			if ends != nil {
				r.summaries.of[db].ranges[table] = *ends
			}
		}
		return nil
	})
}

// plan notes the tasks of all rules.
func (r *run) plan() {
	r.tasks = append(spaceTasks(r.facts), keyTasks(r.facts, r.rules)...)
	for _, rule := range r.rules {
		if rule.tasks != nil {
			r.tasks = append(r.tasks, rule.tasks(r.facts)...)
		}
	}
}

// readAll does the tasks one by one. A task may add others.
func (r *run) readAll(ctx context.Context) error {
	r.plan()
	progress := r.reader.progress
	for _, t := range r.tasks {
		progress.plan(t.tables)
	}
	for len(r.tasks) > 0 {
		t := r.tasks[0]
		planned := len(r.tasks)
		if err := r.do(ctx, t); err != nil {
			return err
		}
		if r.ended {
			return nil
		}
		for _, t := range r.tasks[planned:] {
			progress.plan(t.tables)
		}
		r.tasks = r.tasks[1:]
		progress.finish(t.tables)
	}
	return nil
}

// do carries out a task.
func (r *run) do(ctx context.Context, t task) error {
	o, err := t.run(ctx, r.reader)
	if err == nil {
		r.take(o)
	}
	return err
}

// take notes what a rule returned.
func (r *run) take(o outcome) {
	for _, f := range o.findings {
		r.conclude(f)
	}
	r.proposals = append(r.proposals, o.proposals...)
	if o.proposed != nil {
		r.proposed = o.proposed
	}
	r.ended = r.ended || o.ends
	if o.rekeyed != nil {
		r.facts.rekeyed = o.rekeyed
	}
	r.severed = append(r.severed, o.severed...)
	r.left = append(r.left, o.left...)
	r.renumbered = append(r.renumbered, o.renumbered...)
	r.plain = append(r.plain, o.plain...)
	r.tasks = append(r.tasks, o.tasks...)
	for _, table := range o.alike {
		r.facts.alike[table] = true
	}
	maps.Copy(r.facts.disjoint, o.disjoint)
	maps.Copy(r.facts.complete, o.complete)
	for _, c := range o.contents {
		r.summaries.of[c.db].contents[c.table] = c
	}
	if o.key != nil {
		r.facts.noteServers(o.key)
		r.summaries.note(o.key)
	}
}

// conclude gives a finding its verdict and keeps it, if it is wanted. What to do
// follows from the code, after what the rule itself says.
func (r *run) conclude(f finding) {
	if !r.facts.wants(f.Code, f.Table, f.Subject) {
		return
	}
	r.judge(&f.Result)
	if f.Verdict == Fail {
		r.facts.failed[f.Code] = true
		f.Next = append(f.Next, cmp.Or(f.action, documented(f.Code).Action))
	}
	if len(f.Gaps) > 0 {
		f.Next = append(f.Next, unverifiedAction(r.facts, f.Code))
	}
	r.results = append(r.results, f.Result)
}

// unverifiedAction says what to do about NOT VERIFIED, with the options of this check.
func unverifiedAction(f *facts, code string) string {
	if code == CodeReferenceUndeclared && len(f.opts.Rules) > 0 {
		return "declare these columns in your rules; mergecheck -explain TABLE.COLUMN, with the same rules and sources, shows what a column holds"
	}
	if code == CodeReferenceUndeclared && f.opts.Rekey != nil && f.opts.Rekey.Auto {
		return "write the declarations of all columns to a file: " + proposeRules(true)
	}
	return documented(code).Unverified
}

// judge gives a result its verdict, and what that counts as.
func (r *run) judge(result *Result) {
	switch {
	case result.Count > 0 && result.Open == nil:
		result.Verdict = Fail
	case len(result.Gaps) > 0:
		result.Verdict = NotVerified
	default:
		result.Verdict = Pass
	}
	switch {
	case result.Verdict != Pass && r.facts.allowed(result):
		result.CountsAs = Pass
	case result.Verdict == NotVerified && slices.Contains(r.facts.opts.FailOn, result.Code):
		result.CountsAs = Fail
	}
}

// report concludes what was found. incomplete says why that is not all; "" if
// it is.
func (r *run) report(incomplete string) *Report {
	opts := r.facts.opts
	results := slices.Clone(r.results)
	if incomplete == "" {
		results = append(results, r.unanswered()...)
	}
	codes := Codes()
	rank := func(code string) int { return slices.IndexFunc(codes, func(c Code) bool { return c.Code == code }) }
	slices.SortStableFunc(results, func(a, b Result) int {
		return cmp.Or(
			rank(a.Code)-rank(b.Code),
			strings.Compare(a.Table, b.Table),
			strings.Compare(a.Subject, b.Subject),
		)
	})
	all := &Report{
		Version:    ReportVersion,
		Incomplete: incomplete,
		Started:    r.started,
		Target:     r.facts.target.name,
		Only:       opts.Only,
		Plain:      len(r.plain),
		PlainOpen:  slices.Sorted(slices.Values(r.plain)),
		Renames:    renames(results),
		RuleFiles:  ruleFiles(r.facts.resolved),
		Overridden: r.facts.declared.beaten,
		Sources:    []Summary{},
		Results:    append([]Result{}, results...),
		Proposals:  slices.Clone(r.proposals),
		Proposed:   r.proposed,
		Severed:    slices.Clone(r.severed),
		LeftRows:   slices.Clone(r.left),
		Renumbered: slices.Clone(r.renumbered),
	}
	for _, table := range slices.Sorted(maps.Keys(r.facts.reset)) {
		if r.facts.reset[table] {
			all.Reset = append(all.Reset, table)
		}
	}
	for _, table := range slices.Sorted(maps.Keys(r.facts.combined)) {
		all.Combined = append(all.Combined, *r.facts.combined[table])
	}
	if r.facts.rekeyed != nil {
		all.Rekeyed = r.facts.rekeyed.report
	}
	if incomplete == "" {
		all.Verdict = worst(results)
		if r.ended && all.Verdict == Pass { // what it ended with was allowed, and the rest was not looked at
			all.Verdict = NotVerified
		}
	}
	for _, db := range r.facts.dbs {
		all.Sources = append(all.Sources, r.summaries.summary(db))
	}
	all.Finished = opts.stamp()
	return all
}

// unanswered are the selections to which there is no result: what they name is
// no longer there.
func (r *run) unanswered() (results []Result) {
	for _, s := range r.facts.opts.Only {
		if slices.ContainsFunc(r.results, func(r Result) bool { return s.matches(r.Code, r.Table, r.Subject) }) {
			continue
		}
		results = append(results, Result{
			Code: s.Code, Table: s.Table, Subject: s.Subject, Verdict: NotVerified,
			Message: "there is no such check now",
			Gaps:    []Gap{{Reason: "these databases have no such check: the schema or the sources are not those of the earlier report"}},
			Next:    []string{"run the whole check again"},
		})
	}
	return results
}

// worst is the verdict of all results together. Nothing checked is nothing
// verified.
func worst(results []Result) Verdict {
	verdict := NotVerified
	for i, r := range results {
		switch v := r.counts(); {
		case v == Fail:
			return Fail
		case v == Pass && i == 0:
			verdict = Pass
		case v != Pass:
			verdict = NotVerified
		}
	}
	return verdict
}
