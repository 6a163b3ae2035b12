package verdict

import (
	"fmt"
	"strings"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
)

// Verdict is the outcome of a check, or of all checks together.
type Verdict string

// The verdicts, from good to bad. All together are as bad as the worst.
const (
	// Pass: it was fully checked, and nothing was found.
	Pass Verdict = "PASS"
	// NotVerified: it was not fully checked.
	NotVerified Verdict = "NOT VERIFIED"
	// Fail: something was found that blocks the merge.
	Fail Verdict = "FAIL"
)

// ReportVersion is the version of the JSON form of [Report]. It rises when a
// field changes its meaning or goes away, not when one is added.
const ReportVersion = 1

// The exit codes of a program that reports a check.
const (
	ExitPass        = 0
	ExitFail        = 1
	ExitIncomplete  = 2 // the check could not be completed; there is no verdict
	ExitNotVerified = 3
)

// Report is everything that a check established. It has a verdict only if
// every rule could be carried out. Otherwise Incomplete says why not, and the results
// are those that were complete by then: each is exact, but the missing ones may be the
// worst.
type Report struct {
	Version    int       `json:"version"`
	Program    string    `json:"program,omitempty"`    // that made the report, with its version; set by the caller
	Verdict    Verdict   `json:"verdict"`              // empty if the report is incomplete
	Incomplete string    `json:"incomplete,omitempty"` // why it is
	Started    time.Time `json:"started"`
	Finished   time.Time `json:"finished"`
	Phases     Phases    `json:"phases,omitempty"` // of the program; set by the caller
	Worlds     []Summary `json:"worlds"`           // in the order of the check: the first gives the schema, and keeps its keys and names
	Results    []Result  `json:"results"`          // in the order of Codes, then by table and subject

	// Plain is how many columns that are declared plain or shared, or plain in the rows without a reference, hold values
	// which, if they were keys, would name other rows after the merge: the verdict relies on their declarations.
	Plain int `json:"plain,omitempty"`
	// PlainOpen are these columns, as table.column: those first that look most like references.
	PlainOpen []string `json:"plain_columns,omitempty"`

	// Renames is how many values [[merge.name]] changes; no result counts them.
	Renames int64 `json:"renames,omitempty"`

	// Rekeyed are the new keys, if Options.Rekey asked for them.
	Rekeyed *Rekeying `json:"rekeyed,omitempty"`

	// Severed are the references to rows that stay behind, and what happens to their rows.
	Severed []rules.Severed `json:"severed,omitempty"`

	// Leaves are the statements by which rows stay behind, and Stays these rows.
	Leaves  []Leave        `json:"leaves,omitempty"`
	Stays   []*rules.Stays `json:"-"`
	Staying *Staying       `json:"staying,omitempty"`

	// Renumbered are columns of which rows get other values.
	Renumbered []Renumbered `json:"renumbered,omitempty"`

	// Reset are the tables that are empty in the new database.
	Reset []string `json:"reset,omitempty"`

	// RuleFiles compare the databases with the schemas that files of rules were written for.
	RuleFiles []rules.RuleFile `json:"rule_files,omitempty"`

	// Combined are the tables of which the rows with one key are combined.
	Combined []rules.Combined `json:"combined,omitempty"`

	// Overridden are the declarations that another file of rules overrides.
	Overridden []string `json:"overridden,omitempty"`

	Proposals []Proposal `json:"proposals,omitempty"`

	// Proposed is what all columns seem to be, if Options.Propose asked for it.
	Proposed *Proposed `json:"proposed,omitempty"`
}

// ExitCode is the exit code of a program that prints the report: 0 for [Pass],
// 1 for [Fail], 2 if it is incomplete, 3 for [NotVerified]. A report without a
// verdict verifies nothing.
func (r *Report) ExitCode() int {
	if r.Incomplete != "" {
		return ExitIncomplete
	}
	switch r.Verdict {
	case Pass:
		return ExitPass
	case Fail:
		return ExitFail
	default:
		return ExitNotVerified
	}
}

// Summary is one world of a report.
type Summary struct {
	Name    string          `json:"name"`
	Engine  string          `json:"engine"`
	Servers []ServerSummary `json:"servers"`
	Tables  []TableSummary  `json:"tables"`

	// OtherIDs are the IDs of servers that the registry does not list and that
	// are too many to be listed here.
	OtherIDs int64 `json:"other_ids,omitempty"`
}

// ServerSummary describes one server's IDs in one world.
type ServerSummary struct {
	Server int       `json:"server"`
	Name   string    `json:"name,omitempty"`
	World  string    `json:"world,omitempty"`
	Own    bool      `json:"own"`
	Listed bool      `json:"listed"` // whether the registry lists it
	IDs    int64     `json:"ids"`    // values in primary keys that carry it
	Oldest time.Time `json:"oldest,omitzero"`
	Newest time.Time `json:"newest,omitzero"`
	Mark   time.Time `json:"mark,omitzero"`
}

// TableSummary describes one table of one world.
type TableSummary struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"` // exact; of a table that was not read yet an estimate

	// First and Last are the first and the last key in the order of the first world,
	// for people; empty if they were not read.
	First string `json:"first,omitempty"`
	Last  string `json:"last,omitempty"`
}

// Result is the result of one rule in one table, or in the databases as a whole.
// Its verdict follows from Count and Gaps: FAIL if something was found, NOT
// VERIFIED if nothing was found but there are gaps, PASS otherwise. Of an open
// column it is NOT VERIFIED whatever its Count.
type Result struct {
	Code    string  `json:"code"`              // stable; see Codes
	Table   string  `json:"table,omitempty"`   // empty: the databases as a whole
	Subject string  `json:"subject,omitempty"` // the key or columns in question
	Verdict Verdict `json:"verdict"`

	// Columns are the columns of Table that it concerns; none if it concerns something
	// else.
	Columns []string `json:"columns,omitempty"`

	// Allowed says that the result counts as PASS, as the operator chose by Options.Allow.
	Allowed bool `json:"allowed,omitempty"`

	Read    int64  `json:"read"`  // values checked, over all worlds
	Count   int64  `json:"count"` // exact number of conflicts; what is counted depends on the code
	Rows    int64  `json:"rows"`  // exact number of rows in these conflicts
	Message string `json:"message"`

	// Renamed is how many values [[merge.name]] changes so that the rest can be
	// merged. They are not in Count.
	Renamed int64 `json:"renamed,omitempty"`

	// Combined is how many keys are in several databases and have their rows combined by
	// [[merge.table]]. They are not in Count.
	Combined int64 `json:"combined,omitempty"`

	// Renumbered is how many rows get another value by the renumber of [[merge.table]]. It is
	// not in Count.
	Renumbered int64 `json:"renumbered,omitempty"`

	// Open, if not nil, describes a column that is not declared although its
	// declaration matters. Count is then the number of its rows for which it matters.
	Open *OpenColumn `json:"open,omitempty"`

	// Alike says that every database has the same keys in the table, and that the rows
	// shown are the same in all of them: it may be the game's own data, which every
	// world has. It is a guess from the samples.
	Alike bool `json:"alike,omitempty"`

	Gaps    []Gap    `json:"gaps,omitempty"`    // what was not checked
	Samples []Sample `json:"samples,omitempty"` // the first of Count, at most [rules.Samples]
	Next    []string `json:"next,omitempty"`    // what to do, as commands or SQL to review

	// Allow is the flag that allows what is not verified, for those who looked at it themselves; empty if a declaration
	// settles it, which Next has.
	Allow string `json:"allow,omitempty"`
}

// OpenColumn is an undeclared column with values that would name other rows after the
// merge, if they are keys.
type OpenColumn struct {
	Keys   []string `json:"keys"`             // "characters.guid": the keys that most rows would name come first
	Likely string   `json:"likely,omitempty"` // the one of them that it seems to name, by its own name or since it repeats names; a guess

	// Repeats says that Likely is a column of unique names, and that most values of the
	// column are such names.
	Repeats bool `json:"repeats,omitempty"`
}

// Counts is what the result is to the verdict of all.
func (r *Result) Counts() Verdict {
	if r.Allowed {
		return Pass
	}
	return r.Verdict
}

// Gap is a part that a rule could not check, and the reason.
type Gap struct {
	World  string `json:"world,omitempty"` // empty: all of them
	Reason string `json:"reason"`
}

// Sample shows one conflict: its rows, side by side.
type Sample struct {
	Key     string      `json:"key"` // the value in question, for people
	Rows    []SampleRow `json:"rows"`
	Omitted int64       `json:"omitted,omitempty"` // further rows that are not shown
}

// SampleRow is one of the rows of a [Sample].
type SampleRow struct {
	World  string          `json:"world"`
	Table  string          `json:"table,omitempty"` // if it is not the result's
	Fields []catalog.Field `json:"fields"`
}

// PlainWithKeys says in words how many columns that are said to name nothing of a world hold values that are
// keys, and names the first eight.
func PlainWithKeys(n int, columns []string) string {
	text := printable.Count(int64(n), "column declared plain or shared holds", "columns declared plain or shared hold") + " values that are keys"
	shown := slice.Map(columns[:min(len(columns), 8)], printable.Text)
	if len(shown) == 0 {
		return text // a plan of before has no names
	}
	text += " (" + strings.Join(shown, ", ")
	if more := n - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ")"
}
