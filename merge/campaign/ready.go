package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"

	"mergesafe/merge"
)

// saidByHand ends the notes about what the operator said.
const saidByHand = " by hand, according to the campaign file"

// Problem is something that keeps a campaign from its first write.
type Problem struct {
	Merge  string `json:"merge,omitempty"` // its name; empty if it is about several
	World  string `json:"world,omitempty"` // empty: it is not about one world
	Reason string `json:"reason"`          // what is wrong, and what to do

	// Incomplete says that Reason is an error and no finding, such as a database that could not be
	// read.
	Incomplete bool `json:"incomplete,omitempty"`

	// Fenced says that an attempt that was killed left its fences. Only an undo lifts them, and then a
	// new plan can be made.
	Fenced bool `json:"fenced,omitempty"`
}

func (p Problem) String() string {
	switch {
	case p.World != "" && p.Merge != "" && p.World != p.Merge:
		return fmt.Sprintf("world %s (merge %s): %s", printable.Text(p.World), printable.Text(p.Merge), p.Reason)
	case p.World != "" || p.Merge != "":
		return fmt.Sprintf("world %s: %s", printable.Text(cmp.Or(p.World, p.Merge)), p.Reason)
	}
	return p.Reason
}

// NotReadyError tells what keeps a campaign from its first write. Nothing was changed.
type NotReadyError struct{ Problems []Problem }

// Incomplete reports whether none of the problems is a finding.
func (e *NotReadyError) Incomplete() bool {
	return !slices.ContainsFunc(e.Problems, func(p Problem) bool { return !p.Incomplete })
}

func (e *NotReadyError) Error() string {
	lines := slice.Map(e.Problems, Problem.String)
	return fmt.Sprintf("%s before the first write, nothing was changed:\n  %s", printable.Count(int64(len(lines)), "problem", "problems"), strings.Join(lines, "\n  "))
}

// lookReady looks before the first write at all merges that have not begun: that no world is there
// twice, that every world is stopped and backed up, that there is room on the disks, and that every
// plan is fresh. It puts the problems of all merges into one [*NotReadyError]. notes say what was not
// checked, for the operator. A database that cannot be read is such a problem; another error means
// that the context ended.
//
// now stamps the messages to hooks. Of a rehearsal, the worlds may run and need no backup.
func lookReady(ctx context.Context, c *Campaign, all []*job, now func() time.Time, try bool) (notes []string, err error) {
	n := newPreflight(c, all, now)
	if err := n.lookDistinct(ctx); err != nil {
		return nil, err
	}
	// A backup of a world that runs is worth nothing, and a backup may take long enough for a
	// plan to become stale.
	looks := []func(context.Context, int) error{n.lookStopped, n.lookBackup, n.lookRoom, n.lookFresh}
	if try {
		looks = looks[2:]
	}
	for _, look := range looks {
		if err := n.each(ctx, look); err != nil {
			return nil, err
		}
	}
	n.weighRoom()
	if len(n.problems) > 0 {
		n.sort()
		return n.notes(), &NotReadyError{n.problems}
	}
	return n.notes(), nil
}

// fenceAll fences all worlds of merges that are ready: see [merge.Fence]. If one cannot be
// fenced, the fences of these merges are lifted, and the error is a [*NotReadyError]. After a
// kill, the same call resumes, and the undo of a merge lifts its fences.
func fenceAll(ctx context.Context, c *Campaign, all []*job, now func() time.Time) error {
	n := newPreflight(c, all, now)
	err := n.each(ctx, func(ctx context.Context, i int) error {
		d := all[i]
		err := merge.Fence(ctx, d.plan, d.into, d.databases, d.options)
		if refused, ok := errors.AsType[*merge.RefusedError](err); ok {
			n.refusals(d, refused.Refusals, false)
			return nil
		}
		if err != nil {
			return err
		}
		for _, world := range d.Worlds {
			m := Message{Event: AskFenced, World: world, Text: "are all game servers of the world prevented from starting?"}
			if _, _, err := n.ask(ctx, d, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && len(n.problems) == 0 {
		return nil
	}
	lifting, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	lift := newPreflight(c, all, now)
	left := lift.each(lifting, func(ctx context.Context, i int) error {
		d := all[i]
		_, err := merge.Unfence(ctx, d.plan, d.into, d.databases, d.options)
		d.fenced = err != nil
		if errors.Is(err, merge.ErrStopped) || err == nil {
			return err
		}
		return fmt.Errorf("the fences of the merge %q are still there; undo that merge to lift them: %w", d.Name(), err)
	})
	n.problems = append(n.problems, lift.problems...)
	if err == nil {
		n.sort()
		err = &NotReadyError{n.problems}
	}
	return errors.Join(err, left)
}

// preflight is what is found before the first write.
type preflight struct {
	campaign *Campaign
	all      []*job
	now      func() time.Time

	mu       sync.Mutex
	stopped  []bool // by merge: its worlds are
	problems []Problem
	inUse    map[string]bool     // worlds of which lookStopped said so
	unknown  map[string][]string // worlds, by what was not checked of them
	needs    map[string]*need    // by file system
}

func newPreflight(c *Campaign, all []*job, now func() time.Time) *preflight {
	return &preflight{
		campaign: c, all: all, now: now, stopped: make([]bool, len(all)),
		inUse: make(map[string]bool), unknown: make(map[string][]string), needs: make(map[string]*need),
	}
}

// need is how much room merges need on one file system.
type need struct {
	free, bytes int64
	folder      string
	merges      []string
}

// each calls f for each merge, as many at a time as merges run at a time.
func (n *preflight) each(ctx context.Context, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	each(ctx, max(n.campaign.Parallel, 1), len(n.all), func(i int) {
		err := f(ctx, i)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			cancel(err)
		default: // a database that does not answer is a matter of its own merge
			n.add(Problem{Merge: n.all[i].Name(), Reason: "it cannot be checked: " + plainly(err), Incomplete: true})
		}
	})
	if err := context.Cause(ctx); err != nil && !errors.Is(err, merge.ErrStopped) {
		return &merge.StoppedError{Doing: "checking whether everything is ready", Cause: err}
	}
	return context.Cause(ctx)
}

func (n *preflight) problem(merge, world, format string, args ...any) {
	n.add(Problem{Merge: merge, World: world, Reason: fmt.Sprintf(format, args...)})
}

func (n *preflight) add(p Problem) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.problems = append(n.problems, p)
}

func (n *preflight) refusals(d *job, refusals []merge.Refusal, fenced bool) {
	for _, r := range refusals {
		world := r.Source
		r.Source = ""
		if world == d.into.Name {
			world = "" // which it is not yet
		}
		n.add(Problem{Merge: d.Name(), World: world, Reason: r.String(), Fenced: fenced})
	}
}

// leave says that something was not checked of a world.
func (n *preflight) leave(what, world string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.unknown[what] = append(n.unknown[what], world)
}

func (n *preflight) notes() (all []string) {
	for what, worlds := range n.unknown {
		slices.SortFunc(worlds, printable.Natural)
		all = append(all, what+": "+printable.List(worlds, ", ", 20))
	}
	slices.Sort(all)
	return all
}

// sort puts the problems in the order of the merges.
func (n *preflight) sort() {
	order := make(map[string]int)
	for i, d := range n.all {
		order[d.Name()] = i + 1
	}
	slices.SortStableFunc(n.problems, func(a, b Problem) int {
		return cmp.Or(order[a.Merge]-order[b.Merge], printable.Natural(a.World, b.World), strings.Compare(a.Reason, b.Reason))
	})
	n.problems = slices.Compact(n.problems)
}

// ask asks the hooks of a question about a world. A no is a problem; an error is that the
// work was stopped.
func (n *preflight) ask(ctx context.Context, d *job, m Message) (asked, yes bool, err error) {
	m.At, m.Merge, m.Worlds = n.now().UTC(), d.Name(), d.Worlds
	m.New, m.Address = d.into.Name, shown(d.to)
	asked, err = n.campaign.ask(ctx, m)
	if ctx.Err() != nil {
		return asked, false, context.Cause(ctx)
	}
	if err != nil {
		n.problem(d.Name(), m.World, "%s %v", map[string]string{
			AskStopped:  "it is not stopped:",
			AskBackedUp: "it has no backup:",
			AskRoom:     "there is not enough disk space for the new database:",
			AskFenced:   "its game servers can be started:",
		}[m.Event], err)
	}
	return asked, asked && err == nil, nil
}

func (n *preflight) lookStopped(ctx context.Context, i int) error {
	d, stopped := n.all[i], true
	for j, world := range d.Worlds {
		refusals, known, err := merge.InUse(ctx, d.databases[j], d.plan.ID)
		if err != nil {
			return err
		}
		if len(refusals) > 0 {
			n.refusals(d, refusals, false)
			n.mu.Lock()
			n.inUse[world] = true
			n.mu.Unlock()
			stopped = false
		}
		m := Message{Event: AskStopped, World: world, Text: "is the game of the world stopped?"}
		asked, yes, err := n.ask(ctx, d, m)
		if err != nil {
			return err
		}
		switch {
		case asked:
			stopped = stopped && yes
		case known:
		case n.campaign.Stopped == ByHand:
			n.leave("stopped"+saidByHand, world)
		default:
			const want = `it has no registry, so it is unknown whether its game is stopped: ` +
				`name a hook for %q, or stop it and write stopped = %q under [campaign]`
			n.problem(d.Name(), world, want, AskStopped, ByHand)
			stopped = false
		}
	}
	n.stopped[i] = stopped
	return nil
}

func (n *preflight) lookBackup(ctx context.Context, i int) error {
	d := n.all[i]
	for _, world := range d.Worlds {
		switch {
		case len(n.campaign.hooksOn(AskBackedUp)) > 0:
			if !n.stopped[i] { // which is a problem already
				continue
			}
			m := Message{Event: AskBackedUp, World: world, Text: "is there a backup of the world?"}
			if _, _, err := n.ask(ctx, d, m); err != nil {
				return err
			}
		case n.campaign.Backup == ByHand:
			n.leave("backed up"+saidByHand, world)
		default:
			const want = `it is unknown whether there is a backup: name a hook for %q, ` +
				`or make a backup and write backup = %q under [campaign]`
			n.problem(d.Name(), world, want, AskBackedUp, ByHand)
		}
	}
	return nil
}

func (n *preflight) lookRoom(ctx context.Context, i int) error {
	d := n.all[i]
	if n.campaign.Room == ByHand {
		n.leave("disk space checked"+saidByHand, d.Name())
		return nil
	}
	bytes, err := roomFor(ctx, d.databases)
	if err != nil {
		return err
	}
	folder := ""
	switch server := serverOf(d.into); server { // that of a database that is not there is its neighbour's, on the same server
	case string(sqldb.SQLite):
		folder, err = folderOf(ctx, d.into)
	case serverOf(d.databases[0]):
		folder, err = folderOf(ctx, d.databases[0])
	}
	if err != nil {
		return err
	}
	id, free, known := "", int64(0), false
	if folder != "" {
		id, free, known = diskOf(folder)
	}
	if known {
		n.mu.Lock()
		if n.needs[id] == nil {
			n.needs[id] = &need{free: free, folder: folder}
		}
		n.needs[id].bytes += bytes
		n.needs[id].merges = append(n.needs[id].merges, d.Name())
		n.mu.Unlock()
	}
	asked, _, err := n.ask(ctx, d, Message{Event: AskRoom, World: d.Name(), Bytes: bytes,
		Text: "is there enough disk space for the new database?"})
	if err == nil && !known && !asked {
		n.leave("disk space not checked, because the database is on another machine", d.Name())
	}
	return err
}

// weighRoom compares what all merges need on a disk with what it has: new databases stay there, so
// that merges need it together even if they run one after the other.
func (n *preflight) weighRoom() {
	for _, d := range n.needs {
		if d.free >= d.bytes {
			continue
		}
		slices.SortFunc(d.merges, printable.Natural)
		n.problem("", "", "the disk of %s has %s free, and the merges %s may need %s: free some space, take merges out of the campaign, or write room = %q under [campaign] if you know better",
			printable.Text(d.folder), printable.Bytes(d.free), printable.List(d.merges, ", ", 10), printable.Bytes(d.bytes), ByHand)
	}
}

func (n *preflight) lookFresh(ctx context.Context, i int) error {
	d := n.all[i]
	at, unread := begunAlready(ctx, d.plan, d.into, d.databases)
	if unread == nil && (at == nil || at.State.Nothing()) {
		err := d.elsewhere(ctx, d.plan, "apply")
		if moved, ok := errors.AsType[*merge.RefusedError](err); ok {
			n.refusals(d, moved.Refusals, false)
			return nil
		}
		if err != nil {
			return err
		}
	}
	refusals, err := merge.Ready(ctx, d.plan, d.into, d.databases, d.options)
	if err != nil || len(refusals) == 0 {
		return err
	}
	if at != nil {
		merge.AfterUndo(refusals)
	}
	n.refusals(d, slices.DeleteFunc(refusals, func(r merge.Refusal) bool {
		return n.inUse[r.Source] && (r.Place == merge.PlaceRunning || r.Place == merge.PlaceServers)
	}), at != nil)
	return unread
}
