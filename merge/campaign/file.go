package campaign

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

	Parallel  int // merges at a time in total; the default is 1
	PerServer int // merges at a time on one database server; the default is Parallel

	Window *Window // nil: any time

	// Continue means to begin the other merges when one failed. Otherwise no merge is begun
	// any more, and those that run come to their end.
	Continue bool
	Retries  int  // how often a merge that failed is tried again
	Undo     bool // undo a merge that failed permanently

	Allow []string // findings that do not block a merge, as for servermerge plan -allow

	// Into is the new database of each merge that does not name its own: see [Merge.Into]. The default
	// is [DefaultInto].
	Into string

	Hooks []Hook

	// Stopped and Backup are [ByHand] if the operator says so for every world. Otherwise it
	// has to be known from a hook that each world has a backup, and from its registry or a
	// hook that it is stopped.
	// Room is ByHand if the operator looked at the room on the disks.
	Stopped, Backup, Room string
}

// Place is where a merge is in the file; negative if it is not there.
func (c *Campaign) Place(merge string) int {
	return slices.IndexFunc(c.Merges, func(m Merge) bool { return m.Name() == merge })
}

// Merge is one merge of a campaign: several worlds become one.
type Merge struct {
	// Worlds are the names of the worlds, two or more. The first one keeps its keys and names, and goes on
	// in the new database.
	Worlds []string

	Note string // for people: why it was suggested

	// Into is the new database in which the merge is made, beside all its worlds: a name, then it is
	// beside the database of the first world, or a DSN without user and password. {first} in it is the name of
	// the first world, and {n} the next number. [Parse] fills in the one of the campaign.
	Into string
}

// Name is how commands call the merge: the name of its first world.
func (m Merge) Name() string { return m.Worlds[0] }

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
