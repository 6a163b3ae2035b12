package main

import (
	"cmp"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge"
)

// codeMoved is the code of what -since finds.
const codeMoved = "moved"

// moved documents it as [merge.Codes] does the others.
func moved() merge.Code {
	return merge.Code{
		Code:    codeMoved,
		Meaning: "only with -since: a count, a key, a mark or a verdict is not what it was in the earlier report",
		Counts:  "what moved",
		Action:  "stop whatever writes to these databases, make sure that it is stopped, then run the whole check again",
	}
}

// holdAgainst adds to a report what moved since an earlier one about the same
// merge. If anything did, somebody still writes, and what was found about one
// moment does not hold for the other: the verdict is FAIL.
func holdAgainst(r, old *merge.Report) {
	then := printable.Time(old.Finished)
	// An earlier report may have been held against one itself.
	before := *old
	before.Results = slices.DeleteFunc(slices.Clone(old.Results), func(r merge.Result) bool { return r.Code == codeMoved })
	changes := merge.Compare(&before, r)
	var results []merge.Result
	for _, c := range changes {
		about, was, is := cmp.Or(c.Source, "the merge as a whole"), cmp.Or(c.Old, "not there"), cmp.Or(c.New, "not there")
		results = append(results, merge.Result{
			Code: codeMoved, Table: c.Table, Subject: c.What, Verdict: merge.Fail, Read: 1, Count: 1,
			Message: fmt.Sprintf("%s since %s: %s then, %s now", about, then, was, is),
			Next:    []string{moved().Action},
		})
	}
	if len(changes) == 0 {
		results = []merge.Result{{Code: codeMoved, Verdict: merge.Pass, Read: 1, Message: "nothing moved since " + then}}
	} else if r.Incomplete == "" {
		r.Verdict = merge.Fail
	}
	r.Results = append(results, r.Results...)
}
