package report

import (
	"time"

	"mergesafe/merge"
	"mergesafe/merge/verdict"
)

// documentVersion is the version of the JSON forms of [Outcome] and of [ListFates.JSON].
// It rises when a field changes its meaning or goes away, not when one is added.
const documentVersion = 1

// Outcome is the result of a command that works on a plan. Its JSON form is the output
// of servermerge -json.
type Outcome struct {
	Version  int             `json:"version"`
	Program  string          `json:"program,omitempty"` // the program that wrote this, with its version
	Command  string          `json:"command"`           // apply, status, verify, open or undo
	PlanID   string          `json:"plan"`
	Ending   Ending          `json:"outcome"`
	Reason   string          `json:"reason,omitempty"`   // why it stopped, or what changed
	Refusals []merge.Refusal `json:"refusals,omitempty"` // the reasons for which it did not begin
	Applied  *Applied        `json:"applied,omitempty"`
	Status   *merge.Status   `json:"status,omitempty"` // for the command status
	Proof    *merge.Proof    `json:"proof,omitempty"`
	Opened   *merge.Opened   `json:"opened,omitempty"`
	Undone   *merge.Undone   `json:"undone,omitempty"`
	Away     []Away          `json:"away,omitempty"`   // undo: the worlds that cannot be started yet
	Phases   verdict.Phases  `json:"phases,omitempty"` // of this run, in their order

	Plan         *merge.Plan   `json:"-"`
	Then         Commands      `json:"-"`
	Began, Ended time.Time     `json:"-"`
	Wrote        int64         `json:"-"` // how many rows apply copied now, before it was refused
	Midway       bool          `json:"-"` // it had written something when it was refused
	Closed       bool          `json:"-"` // open: the new database is made, and stays closed
	Forced       bool          `json:"-"` // undo -force
	Tried        bool          `json:"-"` // undo: what it dropped was a rehearsal
	Now          *merge.Status `json:"-"` // of the merge when the command ended; nil if it could not be read
}

// Ending is how a command with a result ended.
type Ending string

// The endings of a command.
const (
	Done        Ending = "done"
	Refused     Ending = "refused" // something blocks it
	Changed     Ending = "changed" // a database is not as planned
	Stopped     Ending = "stopped"
	Differs     Ending = "differs"      // verify, open: FAIL
	NotVerified Ending = "not verified" // verify, open: NOT VERIFIED
	Incomplete  Ending = "incomplete"   // of a campaign: an error, and no finding
)

// Applied counts what apply did.
type Applied struct {
	Rows    int64 `json:"rows"`
	Renames int   `json:"renames"`
	Resumed bool  `json:"resumed"`

	RowsNow int64      `json:"rows_now"`        // of Rows, those of this call
	Began   *time.Time `json:"began,omitempty"` // the merge, also by an earlier call
	Before  bool       `json:"-"`               // an earlier apply had completed the merge

	Notes []string `json:"notes,omitempty"` // notes for the operator although it worked

	// Try says that it was a rehearsal (apply -try), and Changed are the tables of which it found other rows
	// than the plan did.
	Try     bool            `json:"try,omitempty"`
	Changed []merge.Changed `json:"changed,omitempty"`
}

// Away is a world that the fleet registry does not let start, and why.
type Away struct {
	World string `json:"world"`
	Why   string `json:"why"`
}

// Commands are the commands for the same plan, ready to paste. They are empty if
// the plan was not kept.
type Commands struct {
	Apply, Verify, Open, Undo, Renames string
	Again                              string // resumes the command that ran
	Force                              string // is Undo with -force
	Plan                               string // makes a new plan of the same merge
}

// NewOutcome returns the outcome of a command that is done.
func NewOutcome(command string, plan *merge.Plan, then Commands) *Outcome {
	return &Outcome{Version: documentVersion, Command: command, PlanID: plan.ID, Ending: Done, Plan: plan, Then: then}
}
