package build

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/naming"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"

	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// UndoOptions configures [Undo].
type UndoOptions struct {
	job.Options

	// Force also drops a new database that was written to since it was made: the players' changes
	// to it are lost. And it lifts the fences of a merge that was opened and whose new database is gone, or is a copy from before.
	Force bool

	// Begun, if not empty, is [Status.Begun] of what is to be undone. Another beginning of the merge by the same plan, or a
	// rehearsal, is not undone in its place: that is [record.ErrBusy].
	Begun string

	// MayPlace, if not nil, is called before anything is written to take back a merge that the game may have entered. Its error
	// is that with which Placing would end.
	MayPlace func(ctx context.Context) error

	// Placing, if not nil, is called before a new database is dropped that the game may have entered, when the worlds
	// have the marks and the generation to go on: to note elsewhere where they are again. If the call is
	// interrupted it is made again.
	Placing func(ctx context.Context) error
}

// Undone is the result of [Undo].
type Undone struct {
	ID string `json:"id"`

	// Dropped says that the new database is gone, or empty again if apply had found it so. Others is what else is left
	// in it: what the merge did not make, as far as a record tells, and stays.
	Dropped bool     `json:"dropped,omitempty"`
	Kept    bool     `json:"kept,omitempty"` // it was there before the merge, and is empty again
	Others  []string `json:"others,omitempty"`

	// Place is where the database is that was undone, if that is another place than the plan was made for.
	Place string `json:"place,omitempty"`

	// Raised says that a game may have given IDs, numbers and values of counters in the new database,
	// so that those of the worlds were raised above these.
	Raised bool `json:"raised,omitempty"`

	// Unseen says that more may have been given than could be seen: the new database is gone, or a copy from before. Reserved
	// times were raised above all that can have been given until now; counters were not.
	Unseen bool `json:"unseen,omitempty"`

	// NoRecord says that there was no record of the merge: it had not begun, or an earlier undo
	// was interrupted at its very end. Lifted are the fences, by this call.
	NoRecord bool         `json:"no_record,omitempty"`
	Lifted   []job.Lifted `json:"lifted,omitempty"`

	Notes []string `json:"notes,omitempty"` // what the operator should know, though it worked
	Began bool     `json:"-"`               // beside an error: something was written
}

// Undo takes a merge back, completed or not: it drops what the merge made, and lifts the fences of
// the worlds. A database that was completed is compared with its record first. If the game may have entered it, the
// worlds first learn what was given there: their marks, numbers and counters never fall behind, so that nothing is
// given twice.
//
// It returns a [*record.RefusedError] if a game server runs on the new database, if others wrote to that
// since it was made and Force is not set, or if a world is gone, or empty, forced or not: then the new
// database has the only rows of it. So it does if the new database is a copy from before its opening, unless Force is set: the
// opened one may be elsewhere.
//
// If it is interrupted, the same call resumes, as with [Apply]. It returns a result beside an
// error too, unless it could not read the record.
//
// Without a record of the merge nothing is dropped, and the fences decide. If there are none, there is nothing to undo:
// the error is [record.ErrNoMerge]. If they say that the game was let in, the new database is gone or under another
// name: that is a [*record.RefusedError] unless Force is set.
func Undo(ctx context.Context, plan *plan.Plan, into world.Database, worlds []world.Database, opts UndoOptions) (*Undone, error) {
	return UndoWith(ctx, plan, into, worlds, opts, job.Hooks{})
}

func UndoWith(ctx context.Context, plan *plan.Plan, into world.Database, worlds []world.Database, opts UndoOptions, h job.Hooks) (*Undone, error) {
	ctx, release := sqldb.Keep(ctx)
	defer release()
	u, err := newUndo(plan, into, worlds, opts, h)
	if err != nil {
		return nil, err
	}
	defer u.Close()
	defer u.letIn()
	recorded, err := u.Recorded(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range worlds { // which an undo that was killed may have been raising
		if u.tried() {
			break
		}
		if err := world.Recover(ctx, w); err != nil {
			return nil, err
		}
	}
	u.found = recorded
	if err := u.notesPlace(ctx); err != nil {
		return nil, err
	}
	err = u.OrBusy(ctx, u.undo(ctx, recorded))
	u.done.Lifted, u.done.Notes, u.done.Began = u.Lifted, u.Notes, u.Began || len(u.Lifted) > 0
	return u.done, err
}

// notesPlace notes that the database is not where the plan was made for: a record tells the new database, and a copy of it has that,
// too.
func (u *undo) notesPlace(ctx context.Context) error {
	return u.Retry(ctx, "looking where "+u.New.Name+" is", func(ctx context.Context) error {
		there, err := world.Exists(ctx, u.New.Database)
		if err != nil || !there {
			return err
		}
		now, is, err := otherPlace(ctx, u.Plan, u.New.Database)
		if err == nil && is {
			u.done.Place = now.String()
			u.Notes = append(u.Notes, fmt.Sprintf("the database that was undone is %s; the plan was made for %s: if a game was let in there, keep it closed", u.done.Place, u.Plan.New.Place))
		}
		return err
	})
}

func newUndo(plan *plan.Plan, into world.Database, worlds []world.Database, opts UndoOptions, h job.Hooks) (*undo, error) {
	r, err := job.NewRun(plan, into, worlds, opts.Options, h)
	if err != nil {
		return nil, err
	}
	if err := plan.Needs(opts.Codecs); err != nil {
		return nil, err
	}
	r.New.Unchecked = true
	r.Manifest.Begun = opts.Begun
	u := &undo{Run: r, force: opts.Force, mayPlace: opts.MayPlace, placing: opts.Placing, done: &Undone{ID: plan.ID}}
	if r.New.Dialect().MySQL() {
		r.New.Begins = u.onlyUndo
	}
	u.writing(false)
	return u, nil
}

type undo struct {
	*job.Run
	force    bool
	mayPlace func(ctx context.Context) error
	placing  func(ctx context.Context) error
	done     *Undone

	found record.State // with which this process began; "" from when it has recorded the undo

	// older says that the record is behind the fences: the new database was restored from a copy, and does not know what
	// it has given since.
	older bool

	shuts bool              // what is dropped has to be locked; see [undo.shut]
	out   *world.Connection // see [undo.keepOut]; nil before that, or if its session was lost
}

// writing opens the new database in the other way when it is used next. A file on a full disk can be read, and removed,
// but not be opened for writing.
func (u *undo) writing(is bool) {
	if is != u.New.Writes && !u.New.Alone && !u.New.Dialect().MySQL() {
		u.New.Close()
		u.New.Writes = is
	}
}

func (u *undo) undo(ctx context.Context, recorded record.State) error {
	if u.Manifest.Again() {
		return u.Manifest.WrongState("", recorded)
	}
	if recorded == "" {
		return u.nothing(ctx)
	}
	if err := inOrder(ctx, u.Run, step{"checking the worlds", u.worldsThere}, step{"checking the registries", u.asPlanned}); err != nil {
		return err
	}
	was := u.Manifest.Was
	if recorded != record.StateUndoing {
		var err error
		if was, err = u.begin(ctx, recorded); err != nil {
			return err
		}
		u.found = ""
	} else if err := u.goOn(ctx, was); err != nil {
		return err
	}
	u.Began = true
	if was.Entered() {
		u.done.Raised, u.done.Unseen = true, u.older
		if err := inOrder(ctx, u.Run, step{"raising the counters of the worlds", u.raise}, step{"recording where the worlds are again", u.undoPlace}); err != nil {
			return err
		}
	}
	return inOrder(ctx, u.Run, step{"dropping the new database", u.drop}, step{"lifting the fences", func(ctx context.Context) error {
		if was == record.StateTried { // which writes nothing to the worlds; but an undo that was killed may have left fences
			if now, _, err := u.fences(ctx); err != nil || u.FencesOf(now) == "" {
				return err
			}
		}
		return LiftFences(ctx, u.Run)
	}})
}

// begin makes sure that the new database may be dropped, and records that it is. It returns the state in which the game
// may have left it.
func (u *undo) begin(ctx context.Context, recorded record.State) (was record.State, err error) {
	err = u.Retry(ctx, "checking the fences", func(ctx context.Context) error {
		was, err = u.Later(ctx, recorded)
		return err
	})
	if err != nil {
		return "", err
	}
	if u.older = u.Behind(was); u.older && !u.force {
		return "", &record.RefusedError{Doing: "undo", Refusals: []plan.Refusal{{Source: u.New.Name,
			Reason: OpenedOlder(printable.Text(u.New.Name)) + ": give the opened database; if it is lost for good, undo -force drops this copy and lifts the fences"}}}
	}
	entered := was.Entered() || u.force && was == record.StateMade
	if entered {
		if err := u.Retry(ctx, "asking where the worlds may be", u.asks); err != nil {
			return "", err
		}
	}
	if err := u.mayDrop(ctx, was); err != nil {
		return "", err
	}
	if was == record.StateCopying || was == record.StateMade {
		ran, err := u.played(ctx)
		if err != nil {
			return "", err
		}
		if ran || entered { // or it is not known who wrote there
			was = record.StateOpening
		}
	}
	return was, u.Retry(ctx, "beginning the undo", func(ctx context.Context) error {
		u.writing(true)
		err := u.New.Tx(ctx, func() error {
			if err := u.Manifest.Undo(ctx, recorded, was); err != nil || !was.Whole() {
				return err
			}
			return GateClosed(ctx, u.Run)
		})
		if errors.Is(sqldb.Translate(err), sqldb.ErrDiskFull) && !was.Entered() { // what is dropped makes room
			u.Manifest.Left = recorded
			u.alone()
			return nil
		}
		return err
	})
}

// goOn looks again before an undo that was interrupted goes on. Others may have written to the new database since: without a registry,
// nothing keeps a game out.
func (u *undo) goOn(ctx context.Context, was record.State) error {
	u.older = was == record.StateOpening // for all that is known
	if was.Entered() {
		if err := u.Retry(ctx, "asking where the worlds may be", u.asks); err != nil {
			return err
		}
	}
	if !was.Whole() {
		return nil
	}
	if err := u.Learn(ctx); err != nil {
		return err
	}
	return u.shut(ctx)
}

// asks makes sure that it can be noted elsewhere where the worlds are again: afterwards the game could not go on anywhere.
func (u *undo) asks(ctx context.Context) error {
	if u.mayPlace == nil {
		return nil
	}
	return u.mayPlace(ctx)
}

// undoPlace notes elsewhere where the worlds are again.
func (u *undo) undoPlace(ctx context.Context) error {
	if u.placing == nil {
		return nil
	}
	if u.Manifest.Left != "" { // there may be a later merge by now
		if err := u.stillUndoing(ctx); err != nil {
			return err
		}
	}
	return u.placing(ctx)
}

// stillUndoing returns [record.ErrBusy] if another process came to the end of the undo meanwhile: what is there now may be
// a later merge by the same plan. The database is opened again: a file that is open, and not locked, may have been removed.
func (u *undo) stillUndoing(ctx context.Context) error {
	if !u.New.Alone && !u.New.Dialect().MySQL() {
		u.New.Close()
	}
	return u.still(ctx)
}

// still returns [record.ErrBusy] if the merge is not as this process left it.
func (u *undo) still(ctx context.Context) error {
	now, err := u.State(ctx)
	if err != nil || now == u.Manifest.Left || now != "" && now == u.found || now == "" && u.Manifest.Removed() {
		return err
	}
	return u.Manifest.WrongState(now, u.Manifest.Left)
}

// tried reports whether the new database is that of a rehearsal. Games went on in its worlds, so its undo needs none of them.
func (u *undo) tried() bool {
	return u.Manifest.Left == record.StateTried || u.Manifest.Left == record.StateUndoing && u.Manifest.Was == record.StateTried
}

// worldsThere refuses to drop the only rows of a world, or a world in the place of the new database.
func (u *undo) worldsThere(ctx context.Context) error {
	if u.tried() {
		return nil
	}
	copied, err := u.copied(ctx)
	if err != nil {
		return err
	}
	err = u.RefuseWorlds("undo", func(i int, d world.Database) (string, error) {
		gone, err := record.Gone(ctx, u.Plan, i, d)
		if err == nil && gone == "" && !u.force {
			table, err := record.Emptied(ctx, u.Plan, i, d, func(table string) bool { return copied(d.Name, table) })
			if err != nil || table == "" {
				return "", err
			}
			return fmt.Sprintf("its table %q had rows and is empty, so %s, which has a copy, is not dropped: restore them, or -force drops it anyway", table, u.New.Name), nil
		}
		if err != nil || gone == "" {
			return "", err
		}
		if !copied(d.Name, "") { // no row of it can be lost with the new database
			if there, err := world.Exists(ctx, d); err != nil || there {
				return "", err
			}
			return gone + ": restore it, then run undo again", nil
		}
		return fmt.Sprintf("%s, so %s, which has a copy, is not dropped: restore what is gone, then run undo again", gone, u.New.Name), nil
	})
	if err != nil {
		return err
	}
	return u.Apart(ctx, "undo")
}

// copied tells of which tables of which worlds the new database has rows, as far as they were copied; of any, without a table.
func (u *undo) copied(ctx context.Context) (func(world, table string) bool, error) {
	if is := u.Manifest.Left; is != record.StateCopying && (is != record.StateUndoing || u.Manifest.Was != record.StateCopying) {
		return func(string, string) bool { return true }, nil
	}
	places, err := u.Manifest.Checkpoints(ctx)
	return func(world, table string) bool {
		for at, c := range places {
			if at.World == world && (at.Table == table || table == "") && c.Rows > 0 {
				return true
			}
		}
		return false
	}, err
}

// fences reads the registries of the worlds that are fenced. It says of the worlds whose fence is gone what went with it.
func (u *undo) fences(ctx context.Context) (now [][]worldregistry.Server, gone []plan.Refusal, err error) {
	now = make([][]worldregistry.Server, len(u.Worlds))
	for i, w := range u.Worlds {
		what := ""
		there, err := world.Exists(ctx, w.Database)
		if err == nil && !there {
			what = "there is no such database any more"
		}
		if err == nil && there && u.Plan.Worlds[i].Fence {
			if now[i], err = record.Servers(ctx, w.Database); len(now[i]) == 0 {
				what = "its registry lists no server any more"
			}
		}
		if err != nil {
			return nil, nil, err
		}
		if what != "" {
			gone = append(gone, plan.Refusal{Source: w.Name, Reason: what + ", and its fence is gone with it: restore it, then run undo again; if it is lost for good, gameid servers release -h says how to lift the fences of the other worlds"})
		}
	}
	return now, gone, nil
}

func namesOf(gone []plan.Refusal) []string {
	return slice.Map(gone, func(r plan.Refusal) string { return r.Source })
}

// asPlanned refuses other worlds than the planned ones: they would be raised, and the fences of the planned ones would stay. So would one
// that the account may not change.
func (u *undo) asPlanned(ctx context.Context) error {
	if u.tried() {
		return nil
	}
	if err := u.SameWorlds(ctx, "undo"); err != nil {
		return err
	}
	return mayFence(ctx, u.Run, "undo")
}

// nothing ends an undo that was interrupted at its very end, or takes back fences that were only prepared. There is no
// new database, or not one of this merge.
func (u *undo) nothing(ctx context.Context) error {
	u.done.NoRecord = true
	var now [][]worldregistry.Server
	var gone []plan.Refusal
	err := u.Retry(ctx, "checking the fences", func(ctx context.Context) (err error) {
		now, gone, err = u.fences(ctx)
		return err
	})
	if err != nil {
		return err
	}
	say, left := u.FencesOf(now), ""
	if say == "" {
		err := u.Retry(ctx, "looking what is in "+u.New.Name, func(ctx context.Context) error { return u.remains(ctx) })
		if err != nil {
			return err
		}
		if len(u.done.Others) > 0 {
			left = fmt.Sprintf("; what is in %s stays: %s", printable.Text(u.New.Name), printable.List(u.done.Others, ", ", 20))
		}
	}
	switch {
	case say == "" && len(gone) > 0:
		return fmt.Errorf("merge: %w: there is no database %q of the merge %s, and no world that is there has its fence: there is nothing to undo; if you restore %s, run undo again: a copy may have it%s",
			record.ErrNoMerge, u.New.Name, u.Plan.ID, printable.Names(namesOf(gone)), left)
	case say == "":
		return fmt.Errorf("merge: %w: there is no database %q of the merge %s, and no world has its fence: there is nothing to undo%s", record.ErrNoMerge, u.New.Name, u.Plan.ID, left)
	case len(gone) > 0: // what they would say decides
		return &record.RefusedError{Doing: "undo", Refusals: gone}
	case say == record.StateOpening && !u.force:
		return u.Retry(ctx, "checking the fences", func(ctx context.Context) error { return Lost(ctx, u.Run, "undo") })
	case say == record.StateOpening:
		if err := inOrder(ctx, u.Run, step{"checking the worlds", u.worldsThere}, step{"checking the registries", u.asPlanned}); err != nil {
			return err
		}
		u.done.Raised, u.done.Unseen = true, true
		if err := inOrder(ctx, u.Run, step{"raising the counters of the worlds", u.raiseUnseen}, step{"recording where the worlds are again", u.undoPlace}); err != nil {
			return err
		}
	}
	return u.Retry(ctx, "lifting the fences", func(ctx context.Context) error {
		if err := u.remains(ctx); err != nil {
			return err
		}
		return LiftFences(ctx, u.Run)
	})
}

// remains notes what is in the new database, of which there is no record.
func (u *undo) remains(ctx context.Context) error {
	there, err := world.Exists(ctx, u.New.Database)
	if err == nil && there {
		var others []string
		others, err = world.Beside(ctx, u.New, "")
		u.done.Others = slice.Map(others, printable.Text)
	}
	return err
}

// played reports whether a game ran on the new database before its opening, as it can if its gate was lifted by hand: then
// it has given more than the first world.
func (u *undo) played(ctx context.Context) (ran bool, err error) {
	err = u.Retry(ctx, "checking the registry of "+u.New.Name, func(ctx context.Context) error {
		was, err := u.registries(ctx)
		if err != nil {
			return err
		}
		now, err := givenIn(ctx, u.New)
		if err != nil {
			return err
		}
		for of, s := range was[0].servers {
			ran = ran || now.servers[of].reserved > s.reserved
		}
		return nil
	})
	return ran, err
}

// mayDrop refuses to drop a database that a game runs on, and one that was made and that others have written to since,
// unless that is forced.
func (u *undo) mayDrop(ctx context.Context, state record.State) error {
	err := u.Learn(ctx)
	if err == nil && u.Registry {
		err = u.Retry(ctx, "restoring the fence of "+u.New.Name, func(ctx context.Context) error {
			if closed, err := gateIsClosed(ctx, u.Run); closed || err != nil {
				return err
			}
			u.writing(true)
			return closeGate(ctx, u.Run, "undo")
		})
	}
	if err == nil && state.Whole() {
		err = u.shut(ctx)
	}
	if _, refused := errors.AsType[*record.RefusedError](err); refused && state == record.StateOpen && u.Registry { // the game goes on there
		failed := u.Retry(ctx, "lifting the fence of "+u.New.Name, func(ctx context.Context) error {
			u.writing(true) // an earlier undo may have closed it
			return u.New.Tx(ctx, func() error {
				if err := u.Manifest.HoldState(ctx, record.StateOpen, record.Exclusive); err != nil {
					return err
				}
				return OpenGate(ctx, u.Run)
			})
		})
		u.Run.Lifted = nil // it was this call that had closed it
		if failed != nil { // the refusal would say that nothing was changed
			return failed
		}
	}
	return err
}

// untouched refuses if others than the merge wrote to the new database. If none did, no other connection can write to it until it
// is dropped: a row that came after its table was compared would be lost.
func (u *undo) untouched(ctx context.Context) error {
	var written []plan.Refusal
	err := u.Retry(ctx, "comparing "+u.New.Name+" with its record", func(ctx context.Context) error {
		u.letIn()
		var err error
		written, err = prove.Written(ctx, u.Run, u.keepOut)
		return fromTheLocks(err)
	})
	if err != nil || len(written) > 0 {
		u.letIn()
	}
	if err != nil || len(written) == 0 {
		return err
	}
	lost := ": changes there would be lost; -force drops it anyway"
	if u.Manifest.Left == record.StateUndoing {
		lost = ": changes there would be lost; an undo has begun, and nothing opens the database again: copy them by hand, then -force drops it"
	}
	for i := range written {
		written[i].Reason += lost
	}
	return &record.RefusedError{Doing: "undo", Refusals: written}
}

// drop removes what the merge made, and the database if the merge made that and nothing else is in it. The record goes
// last.
func (u *undo) drop(ctx context.Context) error {
	there, err := world.Exists(ctx, u.New.Database)
	if err != nil {
		return err
	}
	if !there {
		u.done.Dropped, u.Manifest.Removing = true, true
		return nil
	}
	if err := u.stillUndoing(ctx); err != nil {
		return err
	}
	if u.Manifest.Removed() { // the answer of the last statement was lost
		others, err := world.Beside(ctx, u.New, "")
		u.done.Others = slice.Map(others, printable.Text)
		u.done.Dropped, u.done.Kept = len(others) == 0, len(others) == 0
		return err
	}
	if err := u.worldsThere(ctx); err != nil { // again: to compare the rows may have taken long
		return err
	}
	u.Manifest.Removing = true
	if u.New.Dialect().MySQL() {
		return u.dropOnServer(ctx)
	}
	return u.dropFile(ctx)
}

// made is what the merge made of what is there. What the first world has by now says nothing of it.
func (u *undo) made(ctx context.Context) (*world.Schema, error) {
	all, err := world.ReadNames(ctx, u.reads().New)
	if err != nil {
		return nil, err
	}
	triggers, err := world.Triggers(ctx, u.reads().New)
	if err != nil {
		return nil, err
	}
	all.Keep(u.Plan.New.Made)
	for _, o := range triggers {
		made := slices.ContainsFunc(all.Objects, func(m world.Object) bool { return m.Kind == world.Trigger && m.Name == o.Name })
		note := fmt.Sprintf("the trigger %s of %s was dropped with its table: the merge did not make it", printable.Text(o.Name), printable.Text(o.Table))
		if !made && (slices.Contains(all.Tables(), o.Table) || sqldb.Ours(o.Table)) && !slices.Contains(u.Notes, note) {
			u.Notes = append(u.Notes, note)
		}
	}
	return all, nil
}

// ours are the tables that the merge made, but for the record, which goes last.
func (u *undo) ours(all *world.Schema) []string {
	return slices.Concat(all.Tables(), u.tables(), slices.DeleteFunc(sqldb.Tables(), func(table string) bool { return table == record.RecordTable }))
}

// tables are those of the game that the merge made.
func (u *undo) tables() []string {
	return append(slice.Map(u.Plan.Tables, func(t plan.Table) string { return t.Name }), u.Plan.Resets...)
}

// leaves notes what is left in the new database, and reports whether that goes as well.
func (u *undo) leaves(others []string) (goes bool) {
	u.done.Others = slice.Map(others, printable.Text)
	u.done.Dropped, u.done.Kept = len(others) == 0, len(others) == 0 && !u.Manifest.Label.Made
	return u.done.Dropped && u.Manifest.Label.Made
}

func (u *undo) dropOnServer(ctx context.Context) error {
	if err := u.stillShut(ctx); err != nil {
		return err
	}
	all, err := u.made(ctx)
	if err != nil { // the session with the locks may have ended
		u.letIn()
		return fromTheLocks(err)
	}
	if err := all.DropReaders(ctx, u.New); err != nil {
		return err
	}
	dropped, err := u.dropLocked(ctx)
	if err != nil {
		return fromTheLocks(err)
	}
	rest := slices.DeleteFunc(u.ours(all), func(table string) bool { return naming.Among(dropped, table) }) // which others may have made anew
	if err := world.DropTables(ctx, u.New, rest); err != nil {
		return err
	}
	if err := all.DropSequences(ctx, u.New); err != nil {
		return err
	}
	others, err := world.Beside(ctx, u.New, record.RecordTable)
	if err != nil {
		return err
	}
	if u.leaves(others) {
		_, err = world.Remove(ctx, u.New)
	} else {
		err = world.DropTables(ctx, u.New, []string{record.RecordTable})
	}
	if err == nil { // the next merge need not wait for the lock
		u.New.Begins = nil
		u.New.Drop()
	}
	return err
}

// onlyUndo makes sure, when a session of MySQL or MariaDB begins, that no other undo is at work in the database until it ends, and
// that none was since the last one of this process ended: what is there may be a later merge. What an undo has read there is
// true as long as its session.
func (u *undo) onlyUndo(ctx context.Context) error {
	lock, alone, err := world.Undo(ctx, u.New, u.Opts.RetryFor)
	switch {
	case err != nil:
		return err
	case !alone:
		return undoing(u.Run, lock)
	case u.Manifest.Left == "": // it has not looked yet
		return nil
	}
	return u.still(ctx)
}

// undoing is [record.ErrBusy] for a database in which another session has the lock of an undo.
func undoing(r *job.Run, lock string) error {
	return fmt.Errorf("%w: another undo is at work in %s, or its process is frozen: on the database server, SELECT IS_USED_LOCK('%s') tells the number of its connection, KILL ends it", record.ErrBusy, r.New.Name, lock)
}

// dropFile removes the file, or drops in one transaction what the merge made.
func (u *undo) dropFile(ctx context.Context) error {
	all, err := u.made(ctx)
	if err != nil {
		return err
	}
	goes, err := u.removeFile(ctx, all)
	if err != nil || goes {
		return err
	}
	u.writing(true)
	return u.New.Tx(ctx, func() error {
		if err := u.Manifest.ExpectState(ctx, u.Manifest.Left); err != nil {
			return err
		}
		if err := all.DropReaders(ctx, u.New); err != nil {
			return err
		}
		if err := world.DropTables(ctx, u.New, append(u.ours(all), record.RecordTable)); err != nil {
			return err
		}
		others, err := world.Contains(ctx, u.New)
		u.leaves(others)
		return err
	})
}

// removeFile removes the file if the merge made it and nothing else is in it, while no other process has it open: another undo
// and a later merge might be done while the process is frozen.
func (u *undo) removeFile(ctx context.Context, all *world.Schema) (goes bool, err error) {
	if !u.Manifest.Label.Made {
		return false, nil
	}
	u.alone()
	if err := world.Lock(ctx, u.New); err != nil {
		return false, err
	}
	if err := u.Manifest.ExpectState(ctx, u.Manifest.Left); err != nil {
		return false, err
	}
	others, err := all.Others(ctx, u.New, append(u.ours(all), sqldb.KeysView, record.RecordTable))
	if err != nil || !u.leaves(others) {
		return false, err
	}
	left, err := world.Remove(ctx, u.New)
	if left != "" {
		u.Notes = append(u.Notes, left)
	}
	return true, err
}
