package agenda

import (
	"slices"
	"time"
)

// ByHand is the value of [Campaign.Stopped], [Campaign.Backup] and [Campaign.Room] with which
// the operator says to have seen to it.
const ByHand = "by hand"

// Campaign is what a campaign file says.
type Campaign struct {
	Name   string
	Merges []Merge // in the order in which they are begun; each world is in one of them

	Parallel  int // merges at a time, in all; the default is 1
	PerServer int // merges at a time that have a database on one server; the default is Parallel

	Window *Window // nil: any time

	// Continue means to begin the other merges when one failed. Otherwise no merge is begun
	// any more, and those that run come to their end.
	Continue bool
	Retries  int  // how often a merge that failed is tried again
	Undo     bool // undo a merge that failed permanently

	Rules []string // files of rules, for every merge; relative to the campaign file
	Allow []string // findings that do not block a merge, as for servermerge plan -allow
	Rekey bool     // give new values to keys that collide
	Fence bool     // fence the sources; the default is true

	// Into is the new database of each merge that does not name its own: see [Merge.Into].
	Into string

	Hooks []Hook

	// Stopped and Backup are [ByHand] if the operator says so for every world. Otherwise it
	// has to be known from a hook that each world has a backup, and from its registry or a
	// hook that it is stopped.
	// Room is ByHand if the operator looked at the room on the disks.
	Stopped, Backup, Room string
}

// Place is where the merge into a target is in the file; negative if it is not there.
func (c *Campaign) Place(target string) int {
	return slices.IndexFunc(c.Merges, func(m Merge) bool { return m.Target == target })
}

// Merge is one merge of a campaign: several worlds go into one.
type Merge struct {
	Target  string   // a world's name
	Sources []string // names of worlds
	Note    string   // for people: why it was suggested

	// Into is the new database in which the merge is made, beside all its worlds: a name, then it is
	// beside the target's own, or a DSN without user and password. {target} in it is the name of the
	// target, and {n} the next number. If it is empty, the rows come into the target's own database.
	Into string
}

// Worlds are the target and the sources.
func (m Merge) Worlds() []string { return append([]string{m.Target}, m.Sources...) }

// Window is a time of the day in which merges may run. A window that ends before it begins
// goes over midnight.
type Window struct {
	From, To time.Duration // since midnight
	Zone     *time.Location
}

// Hook is a command or an HTTP request that is made at events.
type Hook struct {
	On      []string // kinds of events
	Run     []string // the command and its arguments; empty if URL is given
	URL     string
	Timeout time.Duration // the default is a minute
}
