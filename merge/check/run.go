package check

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"mergesafe/merge/leave"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// run carries the rules out: it judges the catalogues, does one task after the
// other, and concludes what the rules found.
type run struct {
	facts     *Facts
	rules     []Rule
	reader    *Reader
	summaries summaries
	started   time.Time
	tasks     []Task // still to be done
	results   []verdict.Result
	found     Outcome // besides tasks and results
	leaving   *leave.Leaving
}

func newRun(f *Facts, started time.Time) *run {
	return &run{facts: f, reader: NewReader(f, stream.NewProgress(f.Resolved)), summaries: newSummaries(f), started: started}
}

// judgeCatalogs applies the rules that need no reading of rows.
func (r *run) judgeCatalogs() {
	for _, each := range r.rules {
		if each.Catalog != nil {
			r.take(Outcome{Findings: each.Catalog(r.facts)})
		}
	}
}

// findEnds asks for the ends of the key of every table where the source can tell them.
func (r *run) findEnds(ctx context.Context) error {
	return stream.SideBySide(ctx, r.facts.DBs, func(ctx context.Context, db *rules.Database) error {
		for _, table := range r.facts.Tables {
			if db.Tables[table] == nil {
				continue
			}
			ends, err := r.reader.Ends(ctx, db, table)
			if err != nil {
				return err
			}
			if ends != nil {
				r.summaries[db].ranges[table] = *ends
			}
		}
		return nil
	})
}

// plan notes the tasks of all rules.
func (r *run) plan() {
	testBeside(r.facts)
	r.tasks = append(firstTasks(r.facts, r.leaving), keyTasks(r.facts, r.rules)...)
	for _, rule := range r.rules {
		if rule.Tasks != nil {
			r.tasks = append(r.tasks, rule.Tasks(r.facts)...)
		}
	}
}

// readAll does the tasks one by one. A task may add others.
func (r *run) readAll(ctx context.Context) error {
	r.plan()
	progress := r.reader.Progress
	for _, t := range r.tasks {
		progress.Plan(t.Tables)
	}
	for len(r.tasks) > 0 {
		t := r.tasks[0]
		planned := len(r.tasks)
		o, err := t.Run(ctx, r.reader)
		if err != nil {
			return err
		}
		r.take(o)
		for _, t := range r.tasks[planned:] {
			progress.Plan(t.Tables)
		}
		r.tasks = r.tasks[1:]
		progress.Finish(t.Code, t.Tables)
		if r.found.Ends { // before the keys of all tables were read
			for _, table := range r.facts.Tables {
				if err := countRows(ctx, r.facts, table); err != nil {
					return err
				}
			}
			r.tasks = slices.DeleteFunc(r.tasks, func(t Task) bool { return !t.Guesses })
		}
	}
	return nil
}

// take notes what a rule returned.
func (r *run) take(o Outcome) {
	for _, f := range o.Findings {
		r.conclude(f)
	}
	r.tasks = append(r.tasks, o.Tasks...)
	o.Findings, o.Tasks = nil, nil
	r.found.Add(o)
	if o.Rekeyed != nil {
		r.facts.Rekeyed = o.Rekeyed
	}
	for _, table := range o.Alike {
		r.facts.Alike[table] = true
	}
	maps.Copy(r.facts.Disjoint, o.Disjoint)
	maps.Copy(r.facts.Complete, o.Complete)
	if o.Key != nil {
		r.facts.noteIDs(o.Key)
		r.summaries.note(o.Key)
	}
}

// conclude gives a finding its verdict and keeps it. What to do
// follows from the code, after what the rule itself says.
func (r *run) conclude(f finding) {
	r.judge(&f.Result)
	declares := len(f.Next) > 0 && f.Code != verdict.CodeCounterFull // the rule itself says what; there it is a statement
	if allowed, said := r.facts.Allowed(&f.Result); said && !allowed && f.Verdict == verdict.Fail {
		f.Next = append(f.Next, "-allow does not cover it: with a conflict of "+f.Code+" no merge is planned")
	}
	if f.Verdict == verdict.Fail {
		r.facts.Failed[f.Code] = true
		f.Next = append(f.Next, cmp.Or(f.Action, verdict.Documented(f.Code).Action))
	}
	if len(f.Gaps) > 0 {
		withColumn := f.Code == verdict.CodeKeyUndeclared || f.Code == verdict.CodeKeyCounter // in what it says
		if !declares || !withColumn {
			f.Next = append(f.Next, unverifiedAction(r.facts, f.Code))
		}
		if f.Verdict == verdict.NotVerified && !declares {
			f.Allow = f.AllowFlag()
		}
	}
	r.results = append(r.results, f.Result)
}

// unverifiedAction says what to do about NOT VERIFIED, with the options of this check.
func unverifiedAction(f *Facts, code string) string {
	if code == verdict.CodeReferenceUndeclared && len(f.Opts.Rules) > 0 {
		return "declare these columns in your rules; mergecheck -explain TABLE.COLUMN, with the same rules and worlds, shows what a column holds"
	}
	if code == verdict.CodeReferenceUndeclared && f.Opts.Rekey != nil && f.Opts.Rekey.Auto {
		return "write the declarations of all columns to a file: " + verdict.ProposeRules
	}
	return verdict.Documented(code).Unverified
}

// judge gives a result its verdict, and says whether it is allowed.
func (r *run) judge(result *verdict.Result) {
	switch {
	case result.Count > 0 && result.Open == nil:
		result.Verdict = verdict.Fail
	case len(result.Gaps) > 0:
		result.Verdict = verdict.NotVerified
	default:
		result.Verdict = verdict.Pass
	}
	allowed, _ := r.facts.Allowed(result)
	result.Allowed = allowed && result.Verdict != verdict.Pass
}

// report concludes what was found. incomplete says why that is not all; "" if
// it is.
func (r *run) report(incomplete string) *verdict.Report {
	opts := r.facts.Opts
	results := slices.Clone(r.results)
	codes := verdict.Codes()
	rank := func(code string) int {
		return slices.IndexFunc(codes, func(c verdict.Code) bool { return c.Code == code })
	}
	slices.SortStableFunc(results, func(a, b verdict.Result) int {
		return cmp.Or(
			rank(a.Code)-rank(b.Code),
			strings.Compare(a.Table, b.Table),
			strings.Compare(a.Subject, b.Subject),
		)
	})
	all := &verdict.Report{
		Version:    verdict.ReportVersion,
		Incomplete: incomplete,
		Started:    r.started,
		Plain:      len(r.found.Plain),
		PlainOpen:  likelyFirst(r.facts, r.found.Plain),
		Renames:    verdict.Renames(results),
		RuleFiles:  rules.RuleFiles(r.facts.Resolved),
		Overridden: r.facts.Declared.Beaten,
		Worlds:     []verdict.Summary{},
		Results:    append([]verdict.Result{}, results...),
		Proposals:  slices.Clone(r.found.Proposals),
		Proposed:   r.found.Proposed,
		Severed:    slices.Clone(r.found.Severed),
		Renumbered: slices.Clone(r.found.Renumbered),
		Stays:      slices.Clone(r.found.Stays),
		Leaves:     slices.Clone(r.found.Leaves),
		Staying:    r.found.Staying,
	}
	for _, table := range slices.Sorted(maps.Keys(r.facts.Reset)) {
		if r.facts.Reset[table] {
			all.Reset = append(all.Reset, table)
		}
	}
	for _, table := range slices.Sorted(maps.Keys(r.facts.Combined)) {
		all.Combined = append(all.Combined, *r.facts.Combined[table])
	}
	if r.facts.Rekeyed != nil {
		all.Rekeyed = r.facts.Rekeyed.Report
	}
	if incomplete == "" {
		all.Verdict = worst(results)
		if r.found.Ends && all.Verdict == verdict.Pass { // what it ended with was allowed, and the rest was not looked at
			all.Verdict = verdict.NotVerified
		}
	}
	for _, db := range r.facts.DBs {
		all.Worlds = append(all.Worlds, r.summaries.summary(db))
	}
	all.Finished = opts.Stamp()
	return all
}

// worst is the verdict of all results together. Nothing checked is nothing
// verified.
func worst(results []verdict.Result) verdict.Verdict {
	judged := verdict.NotVerified
	for i, r := range results {
		switch v := r.Counts(); {
		case v == verdict.Fail:
			return verdict.Fail
		case v == verdict.Pass && i == 0:
			judged = verdict.Pass
		case v != verdict.Pass:
			judged = verdict.NotVerified
		}
	}
	return judged
}
