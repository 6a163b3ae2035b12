package main

import (
	"fmt"
	"slices"
	"strings"

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
	then := old.Finished.UTC().Format("2006-01-02T15:04:05Z")
	// An earlier report may have been held against one itself.
	before := *old
	before.Results = slices.DeleteFunc(slices.Clone(old.Results), func(r merge.Result) bool { return r.Code == codeMoved })
	changes := merge.Compare(&before, r)
	var results []merge.Result
	for _, c := range changes {
		result := merge.Result{
			Code: codeMoved, Table: c.Table, Subject: c.What, Verdict: merge.Fail, Read: 1, Count: 1,
			Message: fmt.Sprintf("%s since %s: %s", of(c.Source), then, change(c)),
			Next:    []string{moved().Action},
		}
		results = append(results, result)
	}
	if len(changes) == 0 {
		results = []merge.Result{{Code: codeMoved, Verdict: merge.Pass, Read: 1, Message: "nothing moved since " + then}}
	} else if r.Incomplete == "" {
		r.Verdict = merge.Fail
	}
	r.Results = append(results, r.Results...)
}

func of(source string) string {
	if source == "" {
		return "the merge as a whole"
	}
	return source
}

func change(c merge.Change) string {
	was, is := c.Old, c.New
	if was == "" {
		was = "not there"
	}
	if is == "" {
		is = "not there"
	}
	return strings.Join([]string{was, "then,", is, "now"}, " ")
}
