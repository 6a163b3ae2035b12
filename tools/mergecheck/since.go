package main

import (
	"cmp"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/check"
	"mergesafe/merge/verdict"
)

// codeMoved is the code of what -since finds.
const codeMoved = "moved"

// moved documents it as [verdict.Codes] does the others.
func moved() verdict.Code {
	return verdict.Code{
		Code:       codeMoved,
		Meaning:    "only with -since: a number of rows, a first or last key, a mark, a verdict or, with -contents, a sum over all rows has changed since the earlier report",
		Counts:     "changes",
		Unverified: "compare the rows of these tables in another way",
		Action:     "stop all processes that write to these databases, make sure that they are stopped, then run the whole check again",
	}
}

// holdAgainst adds to a report what moved since an earlier one about the same
// merge. If anything did, the databases are still written to, and what was found
// about one moment does not hold for the other: the verdict is FAIL. contents
// tells that sums over all rows are compared too.
func holdAgainst(r, old *verdict.Report, contents bool) {
	then := printable.Time(old.Finished)
	// An earlier report may itself have been compared with one.
	before := *old
	before.Results = slices.DeleteFunc(slices.Clone(old.Results), func(r verdict.Result) bool { return r.Code == codeMoved })
	if !contents {
		before.Worlds = withoutContents(before.Worlds)
	}
	changes := check.Compare(&before, r)
	var results []verdict.Result
	for _, c := range changes {
		about, was, is := cmp.Or(c.World, "the merge as a whole"), cmp.Or(c.Old, "missing"), cmp.Or(c.New, "missing")
		results = append(results, verdict.Result{
			Code: codeMoved, Table: c.Table, Subject: c.What, Verdict: verdict.Fail, Read: 1, Count: 1,
			Message: fmt.Sprintf("%s since %s: %s then, %s now", about, then, was, is),
			Next:    []string{moved().Action},
		})
	}
	if len(changes) == 0 {
		same := verdict.Result{Code: codeMoved, Verdict: verdict.Pass, Read: 1, Message: "numbers of rows, first and last keys, marks and verdicts are as they were at " + then}
		if !contents {
			same.Message += "; a row that was changed in place is seen only with -contents"
		} else if same.Gaps = unsummed(old, r); len(same.Gaps) > 0 {
			same.Verdict, same.Next = verdict.NotVerified, []string{moved().Unverified}
			if r.Verdict == verdict.Pass {
				r.Verdict = verdict.NotVerified
			}
		} else {
			same.Message += ", and so are the sums over all rows"
		}
		results = []verdict.Result{same}
	} else if r.Incomplete == "" {
		r.Verdict = verdict.Fail
	}
	r.Results = append(results, r.Results...)
}

// withoutContents leaves out the sums over rows.
func withoutContents(all []verdict.Summary) (out []verdict.Summary) {
	for _, s := range all {
		s.Tables = slices.Clone(s.Tables)
		for i := range s.Tables {
			s.Tables[i].Contents = ""
		}
		out = append(out, s)
	}
	return out
}

// unsummed are the tables that have no sum in one of the reports.
func unsummed(reports ...*verdict.Report) (gaps []verdict.Gap) {
	for _, r := range reports {
		for _, s := range r.Worlds {
			for _, t := range s.Tables {
				g := verdict.Gap{World: s.Name, Reason: cmp.Or(t.NoContents, "the rows of "+t.Table+" have no sum")}
				if t.Contents == "" && !slices.Contains(gaps, g) {
					gaps = append(gaps, g)
				}
			}
		}
	}
	return gaps
}
