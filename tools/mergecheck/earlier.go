package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/declare"
	"mergesafe/merge/report"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

// readEarlier reads a report that -json or -html wrote.
func readEarlier(file string) (*verdict.Report, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if doc, ok := report.Extract(text); ok {
		text = doc
	}
	var head struct {
		Version int             `json:"version"`
		Command string          `json:"command"` // of servermerge
		Pairs   json.RawMessage `json:"pairs"`
		ID      string          `json:"id"` // of a plan
	}
	if err := json.Unmarshal(text, &head); err != nil || head.Version == 0 {
		return nil, fmt.Errorf("%s is not a report: want a file that -json or -html wrote", file)
	}
	if head.ID != "" {
		return nil, cli.WithHint(fmt.Errorf("%s is a plan of servermerge: want the report of a check", file),
			"mergecheck -json SOURCE SOURCE... > report.json writes one. For the state of that plan's merge: servermerge status "+printable.Quoted(file))
	}
	if head.Version != verdict.ReportVersion {
		return nil, fmt.Errorf("%s is a report of version %d: this program reads version %d", file, head.Version, verdict.ReportVersion)
	}
	if head.Command != "" {
		return nil, fmt.Errorf("%s is of servermerge: want the report of a check", file)
	}
	if head.Pairs != nil {
		return nil, fmt.Errorf("%s is a matrix: want the report of one check", file)
	}
	r := new(verdict.Report)
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(r); err != nil {
		return nil, fmt.Errorf("%s is not a report: %w", file, err)
	}
	return r, nil
}

// notPassed names the results of an earlier report to look at again: all that
// did not pass, also those that were allowed.
func notPassed(file string, old *verdict.Report) ([]declare.Selection, error) {
	if old.Incomplete != "" {
		return nil, cli.Usage("%s is incomplete (%s): parts of it were never checked; run the whole check", file, old.Incomplete)
	}
	var only []declare.Selection
	for _, r := range old.Results {
		if r.Verdict == verdict.Pass || r.Code == codeMoved {
			continue
		}
		only = append(only, declare.Selection{Code: r.Code, Table: r.Table, Subject: r.Subject})
	}
	if len(only) == 0 {
		return nil, cli.Usage("%s has nothing to check again: everything passed", file)
	}
	return only, nil
}

// hasContents reports whether a report has sums over rows, or has tried to.
func hasContents(r *verdict.Report) bool {
	return slices.ContainsFunc(r.Worlds, func(s verdict.Summary) bool {
		return slices.ContainsFunc(s.Tables, func(t verdict.TableSummary) bool { return t.Contents != "" || t.NoContents != "" })
	})
}

func worldNames(r *verdict.Report) []string {
	return slice.Map(r.Worlds, func(s verdict.Summary) string { return s.Name })
}

// comparable returns an error if an earlier report is not about the same
// merge, so that counts could not be compared.
func comparable(file string, old *verdict.Report, places []databases.Place) error {
	now := databases.Names(places)
	then := worldNames(old)
	slices.Sort(then)
	slices.Sort(now)
	switch {
	case old.Incomplete != "":
		return cli.Usage("-since: %s is incomplete (%s): it has too little to compare with", file, old.Incomplete)
	case len(old.Only) > 0:
		return cli.Usage("-since: %s is a part of a check, made by -rerun: it has too little to compare with", file)
	case !slices.Equal(then, now):
		return cli.Usage("-since: %s is about %s, not about %s", file, strings.Join(then, ", "), strings.Join(now, ", "))
	}
	return sameFirst("-since", file, old, places)
}

// sameFirst returns an error if another world than in an earlier report is the first, which gives the schema.
func sameFirst(flag, file string, old *verdict.Report, places []databases.Place) error {
	if then, now := worldNames(old)[0], places[0].Name; then != now {
		return cli.Usage("%s: in %s the first world is %s, not %s: give the worlds in the same order", flag, file, then, now)
	}
	return nil
}
