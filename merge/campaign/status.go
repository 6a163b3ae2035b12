package campaign

import (
	"strings"
	"time"

	"mergesafe/merge/verdict"
)

// Status is a campaign at one moment, as its state has it.
type Status struct {
	Name string    `json:"name"`
	Now  time.Time `json:"now"`

	// Doing is what the running process does, "" if none runs: "plan", "try", "apply",
	// "verify" or "undo".
	Doing  string `json:"doing,omitempty"`
	Paused bool   `json:"paused,omitempty"`
	Lost   bool   `json:"lost,omitempty"`  // the state was lost, and no plan command has looked for merges since
	Waits  string `json:"waits,omitempty"` // what the process waits for, such as the window of time

	Parallel int `json:"parallel,omitempty"` // merges at a time; 0 if that is not known

	Began *time.Time `json:"began,omitempty"` // the first apply
	Ended *time.Time `json:"ended,omitempty"` // of the last command that ended

	// Worked is how many seconds apply has worked, without pauses, closed windows, and the time between two commands.
	Worked float64 `json:"worked,omitempty"`

	Merges []MergeStatus `json:"merges"` // in the order of the file

	// Missing are merges that have begun and that the file has no more, or with other worlds:
	// until it has them again, nothing works on the campaign.
	Missing []MergeStatus `json:"missing,omitempty"`

	LastEvent int64 `json:"last_event"` // the number of the last event; 0 if there is none
}

// Phase is how far a merge is.
type Phase string

// The phases of a merge, in the usual order.
const (
	Waiting   Phase = "waiting" // no plan yet
	Planning  Phase = "planning"
	Refused   Phase = "refused" // the plan or apply found what blocks the merge; nothing was written
	Planned   Phase = "planned"
	Copying   Phase = "copying"
	Made      Phase = "made" // the new database is there, and not proved
	Verifying Phase = "verifying"
	Opening   Phase = "opening"  // proved, and the new database is not open yet
	Verified  Phase = "verified" // and open
	Failed    Phase = "failed"   // see Problem
	Undoing   Phase = "undoing"
	Undone    Phase = "undone"
	Skipped   Phase = "skipped" // by the operator

	// Of a rehearsal. Its database is never opened, and stays until an undo drops it.
	Trying Phase = "trying"
	Tried  Phase = "tried"
)

// Undid is what an undo did to a merge.
type Undid string

// What an undo that found something to undo did.
const (
	UndidMerge     Undid = "undone"
	UndidRehearsal Undid = "rehearsal dropped"
	UndidFences    Undid = "fences lifted" // of a merge that had not begun
	UndidNothing   Undid = "not undone"    // see Problem
)

// IsTry reports whether what was made is that of a rehearsal.
func (p Phase) IsTry() bool { return p == Trying || p == Tried }

// Begun reports whether a new database may have been made, by a rehearsal too.
func (p Phase) Begun() bool {
	switch p {
	case Trying, Tried, Copying, Made, Verifying, Opening, Verified, Failed, Undoing:
		return true
	}
	return false
}

// MergeStatus is how far one merge is.
type MergeStatus struct {
	Worlds []string `json:"worlds"` // the first one keeps its keys and names; commands call the merge by it
	Phase  Phase    `json:"phase"`
	Active bool     `json:"active"` // a worker is at it now

	// Fenced says that the worlds of a merge that has not begun may be fenced: the process that fenced them was killed.
	Fenced bool `json:"fenced,omitempty"`

	New  string `json:"new,omitempty"`  // the name of the new database; "" without a plan
	Open bool   `json:"open,omitempty"` // it is open: the world may be started there, and only there

	// Later says to which later merge the open database went as a world, as it was found last; "" if to none.
	Later string `json:"later,omitempty"`

	// Address is where the new database is, and Was where the first world's was before, both without account and parameters.
	// Grants give the accounts of the game in the new database what they may do in the first world.
	Address string   `json:"address,omitempty"`
	Was     string   `json:"was,omitempty"`
	Grants  []string `json:"grants,omitempty"`

	Plan    string `json:"plan,omitempty"` // its ID
	Rows    int64  `json:"rows"`           // that come, by the plan
	Stay    int64  `json:"stay,omitempty"` // that stay behind by the operator's statements
	Renames int    `json:"renames"`        // new names: numbers that change, and cells that follow, are not counted

	Copied int64 `json:"copied,omitempty"` // rows that came so far, also after an interruption

	// Changed are the tables of which a rehearsal found other rows than the plan did.
	Changed []Changed `json:"changed,omitempty"`

	Step      string  `json:"step,omitempty"` // of package merge, while Active
	Done      int64   `json:"done"`           // rows of the step
	Total     int64   `json:"total"`
	PerSecond float64 `json:"per_second,omitempty"` // rows, lately
	Left      float64 `json:"left,omitempty"`       // seconds that the merge still takes, predicted
	Waits     string  `json:"waits,omitempty"`      // why it makes no headway now, such as a database that cannot be reached

	// Predicted is how long the merge takes, in seconds: at the least and at the most.
	// They are equal to the measured time once it was tried.
	Predicted [2]float64 `json:"predicted"`
	Took      float64    `json:"took,omitempty"` // seconds of all attempts so far

	// Phases are those steps of package merge that have ended, of the plan and of all attempts.
	Phases verdict.Phases `json:"phases,omitempty"`

	Attempts int        `json:"attempts"`
	Began    *time.Time `json:"began,omitempty"`
	Ended    *time.Time `json:"ended,omitempty"`

	Problem string `json:"problem,omitempty"` // why it failed or was refused

	// Undo is what the last command did to undo the merge; "" if it was not to, or found nothing to undo.
	Undo Undid `json:"undo,omitempty"`

	// Incomplete says that Problem is an error and no finding, such as a database that could not be
	// read. The same command tries again.
	Incomplete bool `json:"incomplete,omitempty"`

	Advice  []string `json:"advice,omitempty"`  // what to do about it: sentences and commands
	Reports []string `json:"reports,omitempty"` // names of files beside the plan
}

// Name is how commands call the merge: the name of its first world.
func (m MergeStatus) Name() string { return strings.Join(m.Worlds[:min(1, len(m.Worlds))], "") }

// Changed is a table of a world with other rows than when the plan was made: another number of them, or
// other values.
type Changed struct {
	World string `json:"world"`
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
	Want  int64  `json:"want"` // when the plan was made
}

// Event is something that happened in a campaign.
type Event struct {
	Number int64     `json:"number"` // counts from 1, without gaps
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"`            // one of the kinds of events, see Kinds
	Merge  string    `json:"merge,omitempty"` // its name; "" if it is about the campaign
	Text   string    `json:"text"`            // for people
}
