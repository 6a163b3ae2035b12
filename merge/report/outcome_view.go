package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/verdict"
)

// View is what is said of the outcome.
func (o *Outcome) View() *View {
	v := &View{Word: strings.ToUpper(string(o.Ending))}
	v.say(o)
	v.refusals(o.Refusals)
	at := cmp.Or(o.Status, o.Now)
	if o.Proof != nil {
		v.proof(o)
	} else if at != nil && !at.State.Nothing() && !at.Lost {
		v.Add(mergedTables(o.Plan, at, nil))
	}
	if o.Opened != nil {
		v.Add(grants(o.Plan))
	}
	if at != nil && at.State != merge.StateTried {
		v.Add(fences(o.Plan, at))
	}
	return v
}

// WriteText writes the outcome as text. It returns the error of w.
func (o *Outcome) WriteText(w io.Writer, options TextOptions) error {
	return o.View().WriteText(w, options)
}

// WriteHTML writes the outcome as a page, with what its plan says. It returns the error of w.
func (o *Outcome) WriteHTML(w io.Writer) error {
	command := o.Command
	if o.Forced {
		command += " -force"
	}
	var check *Check
	if o.Proof != nil && o.Proof.Check != nil {
		check = newResultCheck(o.Proof.Check)
	}
	lines := []string{fmt.Sprintf("servermerge %s, from %s to %s%s", command, printable.Time(o.Began), printable.Time(o.Ended), by(o.Program)), planLine(o.Plan)}
	return o.View().writePage(w, command+", "+titleOf(o.Plan), lines, planSections(o.Plan, o.Then), check)
}

// WriteJSON writes the outcome as JSON, with its view. It returns the error of w.
func (o *Outcome) WriteJSON(w io.Writer) error {
	return writeJSON(w, struct {
		*Outcome
		View *View `json:"view"`
	}{o, o.View()}, false)
}

// newResultCheck is the check of a merged database. The advice of the rules is
// left out, since it is for the time before a merge.
func newResultCheck(r *verdict.Report) *Check {
	c := NewCheck(r)
	c.Steps = nil
	for _, list := range [][]finding{c.Failed, c.Open, c.Allowed} {
		for i := range list {
			list[i].Next = nil
		}
	}
	return c
}

// note adds a sentence.
func (v *View) note(text string) {
	if n := len(v.Sections); n == 0 || v.Sections[n-1].ID != "notes" {
		v.Sections = append(v.Sections, Section{ID: "notes", Title: "Notes"})
	}
	s := &v.Sections[len(v.Sections)-1]
	s.Items = append(s.Items, text)
}

// refusals adds what blocks it.
func (v *View) refusals(all []merge.Refusal) {
	v.Add(Section{ID: "refusals", Title: "What blocks it", Items: slice.Map(all, merge.Refusal.String), most: mostRefusals, Where: "-json lists all", again: true})
}

// proof adds what a proof found.
func (v *View) proof(o *Outcome) {
	p := o.Proof
	unequal := Section{ID: "unequal", Title: "Not as planned", again: true}
	proved := make(map[string]merge.TableProof)
	for _, t := range p.Tables {
		proved[t.Table] = t
		for _, line := range unequalLines(t) {
			unequal.Items = append(unequal.Items, t.Table+": "+line)
		}
	}
	v.Add(unequal)
	v.Add(Section{ID: "found", Title: "Findings about the result", Items: slice.Map(p.Findings, merge.Refusal.String), most: mostRefusals, again: true})
	v.Add(mergedTables(o.Plan, nil, proved))
	v.Add(Section{ID: "emptied", Title: "Empty in the new database", Head: []string{"table", "rows", "verdict"},
		Rows: slice.Map(p.Resets, func(r merge.ResetProof) []string {
			return []string{r.Table, printable.Number(r.Rows), string(r.Verdict)}
		})})
	v.Add(provedCombines(o.Plan, p))
	v.Add(keyProofs(p))
	v.Add(Section{ID: "unproved", Title: "Taken from the plan, not proved again", Items: p.FromPlan})
	if p.Check != nil {
		v.Add(Section{ID: "check", Title: "The check of the result", Words: []string{fmt.Sprintf("The rules of mergecheck say %s of %s, read from %s to %s.",
			p.Check.Verdict, o.Plan.New.Name, printable.Time(p.Check.Started), printable.Time(p.Check.Finished))}})
	}
}

// mergedTables are the planned rows with those that were copied by the state of the merge, or found by a proof.
func mergedTables(p *merge.Plan, at *merge.Status, proved map[string]merge.TableProof) Section {
	s := Section{ID: "tables", Title: "Tables", Head: slices.Concat([]string{"table"}, names(p), []string{"planned", "copied"})}
	copied := make(map[string]int64)
	if at != nil {
		for _, t := range at.Tables {
			copied[t.Table] = t.Copied
		}
	}
	if proved != nil {
		s.Head = append(s.Head[:len(s.Head)-1], "found", "verdict")
	}
	for i := range p.Tables {
		t := &p.Tables[i]
		row := []string{t.Name}
		for _, of := range t.Worlds {
			row = append(row, printable.Number(of.Rows))
		}
		if found, ok := proved[t.Name]; ok {
			row = append(row, printable.Number(found.Want), printable.Number(found.Rows), string(found.Verdict))
		} else {
			row = append(row, printable.Number(t.Rows()), printable.Number(copied[t.Name]))
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// fences say whether the game servers of the worlds can be started.
func fences(p *merge.Plan, at *merge.Status) Section {
	s := Section{ID: "fences", Title: "Fences", Head: []string{"world", "server", "now"}}
	for _, of := range servers(p) {
		if of.Fate == ends || of.Fate == moves {
			s.Rows = append(s.Rows, []string{of.Database, of.who(), of.fenceIn(at)})
		}
	}
	return s
}

func unequalLines(t merge.TableProof) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if t.Missing > 0 {
		add("%s missing", printable.Count(t.Missing, "row of the worlds is", "rows of the worlds are"))
	}
	if t.Changed > 0 {
		add("%s other values than planned", printable.Count(t.Changed, "row has", "rows have"))
	}
	if t.Others {
		add("it has rows that come from no world")
	}
	if len(t.Worlds) > 0 {
		add("%s changed since the plan: another process is writing there", printable.Names(t.Worlds))
	}
	for _, d := range t.Samples {
		lines = append(lines, d.String())
	}
	if n := t.Missing + t.Changed - int64(len(t.Samples)); len(t.Samples) > 0 && n > 0 {
		add("and %s more", printable.Number(n))
	}
	return lines
}

// say puts an outcome into words.
func (v *View) say(o *Outcome) {
	place, worlds := printable.Text(o.Plan.New.Name), Worlds(o.Plan)
	switch {
	case o.Status != nil:
		v.status(o, place)
	case o.Ending == Refused:
		v.Color, v.Sentence = verdict.Fail, "nothing was changed now"
		switch {
		case o.Closed && o.Proof != nil:
			v.Sentence = place + " was proved but stays closed"
		case o.Closed:
			v.Sentence = fmt.Sprintf("%s stays closed; whether it has the rows of %s was not proved", place, worlds)
		case o.Wrote > 0:
			v.Sentence = "copied rows are kept"
		case o.Midway:
			v.Sentence = "what was done until now is kept"
		}
		v.refused(o)
	case o.Ending == Changed:
		v.Color, v.Sentence = verdict.Fail, printable.Text(o.Reason)
		if o.Command == "apply" {
			v.Then("To undo it:", o.Then.Undo)
		}
	case o.Ending == Stopped:
		v.Sentence = printable.Text(o.Reason)
		v.Then("Nothing is lost. To resume:", o.Then.Again)
	case o.Applied != nil && o.Applied.Try:
		v.tried(o, place)
	case o.Applied != nil:
		v.applied(o, place)
	case o.Opened != nil:
		v.opened(o, place, worlds)
	case o.Proof != nil:
		v.proved(o, place, worlds)
	case o.Undone != nil:
		v.undone(o, place, worlds)
	}
}

// refused says what comes next: of several reasons, what the one that asks for most asks for.
func (v *View) refused(o *Outcome) {
	asked := func(next merge.Next) bool {
		return slices.ContainsFunc(o.Refusals, func(r merge.Refusal) bool { return r.Next == next })
	}
	switch {
	case o.Then.Again == "" || asked(merge.NextNone):
	case asked(merge.NextUndoPlan):
		v.Then("The merge has begun. Undo it, then make a new plan:", o.Then.Undo, o.Then.Plan)
	case asked(merge.NextUndo):
		v.Then("Undo it:", o.Then.Undo)
	case asked(merge.NextOpen):
		v.Then("Open it, or undo it:", o.Then.Open, o.Then.Undo)
	case asked(merge.NextApply):
		v.Then("Make it:", o.Then.Apply)
	case asked(merge.NextPlan):
		v.Then("When that is fixed, make a new plan:", o.Then.Plan)
	default:
		v.Then("When that is fixed, run the same command again:", o.Then.Again)
	}
}

func (v *View) applied(o *Outcome, place string) {
	v.Color = verdict.Pass
	v.Sentence = o.made(place)
	if o.Applied.Before {
		v.Sentence += "; that was already done, and nothing was changed now"
	} else {
		v.Sentence += o.took()
	}
	for _, note := range o.Applied.Notes {
		v.note(note)
	}
	v.Then("To prove it and open it to the game:", o.Then.Open)
}

// made says that the new database is made, and of what.
func (o *Outcome) made(place string) string {
	rows := o.Plan.Rows()
	if o.Applied.Try {
		rows = o.Applied.Rows
	}
	return fmt.Sprintf("%s: %s is made, of %s, with %s", Merging(o.Plan), place, printable.Count(rows, "row", "rows"), Renamed(o.Plan))
}

// shownChanged limits the tables that a rehearsal found changed.
const shownChanged = 40

// tried says what a rehearsal made and found.
func (v *View) tried(o *Outcome, place string) {
	v.Word, v.Color = "TRIED", verdict.Pass
	v.Sentence = o.made(place) + o.took() + "; it is a rehearsal and can never be opened"
	for _, note := range o.Applied.Notes {
		v.note(note)
	}
	changed := o.Applied.Changed
	switch {
	case o.Applied.Before || o.Applied.Resumed:
		v.note("Rows copied by an earlier call were not compared with the worlds again.")
	case len(changed) == 0:
		v.note("No row has changed since the plan was made.")
	}
	all := Section{ID: "changed", Title: "Rows have changed since the plan was made: make a new plan before the merge", Head: []string{"table", "world", "rows", "in the plan", ""}, most: shownChanged}
	for _, c := range changed {
		row := []string{c.Table, c.World, printable.Number(c.Rows), printable.Number(c.Want), ""}
		if c.Rows == c.Want {
			row[4] = "other values"
		}
		all.Rows = append(all.Rows, row)
	}
	v.Add(all)
	v.Then("To try it, start a game server on it, without players. Then drop it:", o.Then.Undo)
}

// took says how long apply took; if it resumed, what of it was done now, and how long ago the merge began.
func (o *Outcome) took() string {
	now := durationWords(o.Ended.Sub(o.Began))
	if !o.Applied.Resumed || o.Applied.Began == nil {
		return ", in " + now
	}
	return fmt.Sprintf("; %s of these in this run, in %s; the whole merge took %s, since %s",
		printable.Count(o.Applied.RowsNow, "row", "rows"), now, durationWords(o.Ended.Sub(*o.Applied.Began)), printable.Time(*o.Applied.Began))
}

func durationWords(d time.Duration) string {
	if d := d.Round(time.Second); d > 0 {
		return d.String()
	}
	return "less than a second"
}

func (v *View) proved(o *Outcome, place, worlds string) {
	v.Word, v.Color = string(o.Proof.Verdict), o.Proof.Verdict
	switch o.Proof.Verdict {
	case verdict.Pass:
		v.Sentence = fmt.Sprintf("every row of %s is in %s as planned, and nothing else; its schema is that of %s", worlds, place, printable.Text(o.Plan.Worlds[0].Name))
		v.Then("To prove it once more and open it to the game, unless it is open:", o.Then.Open)
		return
	case verdict.NotVerified:
		v.Sentence = fmt.Sprintf("every row of %s is in %s as planned, but the check of the result could not check everything", worlds, place)
	default:
		v.Sentence = fmt.Sprintf("%s is not as planned", place)
	}
	for _, u := range o.Proof.Unseen {
		v.note(printable.Text(u.String()))
	}
	for _, d := range o.Proof.Differing {
		v.note("made differently: " + printable.Text(d))
	}
	if o.Command == "open" {
		v.Sentence += ", and stays closed"
		v.Then("To drop it and let the worlds start again:", o.Then.Undo)
		return
	}
	v.Then("If the database is open, the differences include later changes by the game. If it is not, open refuses it. To drop it and let the worlds start again:", o.Then.Undo)
}

func (v *View) opened(o *Outcome, place, worlds string) {
	v.Color, v.Sentence = verdict.Pass, place+" is open"
	if o.Opened.Before {
		v.Sentence += "; it was already open, and nothing was proved now"
	} else {
		v.Sentence += fmt.Sprintf(": every row of %s is there as planned, and nothing else; its schema is that of %s", worlds, printable.Text(o.Plan.Worlds[0].Name))
	}
	if o.Opened.Events > 0 {
		v.note(printable.Count(int64(o.Opened.Events), "event is", "events are") + " enabled there")
	}
	v.Then(fmt.Sprintf("Point the game server of %s to %s, and start it.", printable.Text(o.Plan.Worlds[0].Name), place))
	v.Then(fmt.Sprintf("Keep the databases of %s unchanged as long as you may need an undo; after that, drop them. To go back to them:", worlds), o.Then.Undo)
	if commands := retire(o.Plan); len(commands) > 0 {
		v.Then("When they are dropped, if you have a fleet registry:", commands...)
	}
}

// shownServers limits the servers that are shown to be retired.
const shownServers = 10

// retire returns the commands that retire the servers that ended.
func retire(p *merge.Plan) (commands []string) {
	reason := printable.Quoted("merged into " + p.New.Name)
	for _, w := range p.Worlds[1:] {
		for _, s := range w.Servers {
			if s.Own {
				commands = append(commands, fmt.Sprintf("gameid servers retire -reason %s %s", reason, s.Server))
			}
		}
	}
	if n := len(commands); n > shownServers {
		commands = append(commands[:shownServers], fmt.Sprintf("and so on for %d more", n-shownServers))
	}
	return commands
}

func (v *View) undone(o *Outcome, place, worlds string) {
	v.Color = verdict.Pass
	u := o.Undone
	if u.Place != "" {
		place = printable.Text(u.Place)
	}
	written := fmt.Sprintf("no row of %s was written", worlds)
	switch {
	case u.Raised && u.Unseen:
		written = fmt.Sprintf("nothing in %s changed except counters, which continue after the keys used in %s as it was dropped, and reserved times, which continue after all that may have been given", worlds, place)
	case u.Raised:
		written = fmt.Sprintf("nothing in %s changed except counters and reserved times, which continue after the keys used in %s", worlds, place)
	}
	switch {
	case u.NoRecord && u.Raised:
		v.Sentence = fmt.Sprintf("the fences were lifted, although %s is lost with everything that players did there; reserved times of the worlds continue after all that may have been given there", place)
	case u.NoRecord && len(u.Others) > 0:
		v.Sentence = fmt.Sprintf("the fences were lifted; %s has no record of the merge and was not changed", place)
		v.note(fmt.Sprintf("What is in %s stays: %s", place, printable.List(u.Others, ", ", shownTables)))
	case u.NoRecord:
		v.Sentence = "the fences were lifted; nothing of the merge is left"
	case u.Kept:
		v.Sentence = fmt.Sprintf("%s is empty again, as it was before the merge; %s", place, written)
	case u.Dropped:
		v.Sentence = fmt.Sprintf("%s was dropped; %s", place, written)
	default:
		v.Sentence = fmt.Sprintf("everything that the merge made in %s was dropped; %s", place, written)
		v.note("The database itself was not dropped, because the merge did not make everything in it: " + printable.List(u.Others, ", ", shownTables))
	}
	if u.Unseen {
		v.note(fmt.Sprintf("What AUTO_INCREMENT and other counters gave in %s is not known if it was lost, or is an older copy. "+
			"Before a game starts, raise those of %s above every key that was given there.", place, worlds))
	}
	for _, note := range u.Notes {
		v.note(note)
	}
	if o.Tried {
		return
	}
	away := func(world string) bool {
		return slices.ContainsFunc(o.Away, func(a Away) bool { return a.World == world })
	}
	for _, a := range o.Away {
		v.note(fmt.Sprintf("%s cannot be started yet: %s", printable.Text(a.World), a.Why))
	}
	if servers := slices.DeleteFunc(slices.Clone(u.Lifted), func(f merge.Lifted) bool { return away(f.Database) }); len(servers) > 0 {
		v.note(strings.Join(slice.Map(servers, func(f merge.Lifted) string {
			return fmt.Sprintf("server %s of %s", f.Server, printable.Text(f.Database))
		}), ", ") + " can be started again")
	}
	if start := slices.DeleteFunc(names(o.Plan), away); len(start) > 0 {
		v.Then(fmt.Sprintf("The game servers of %s can be started again, on their databases.", printable.Names(start)))
	}
}

// LaterMerge says what undo cannot know of a merge in a state: whether its new database became a world of a later one. It is ""
// if the fence of that one would tell, or if there can be none.
func LaterMerge(p *merge.Plan, state merge.State) string {
	if state != merge.StateOpening && state != merge.StateOpen || len(p.Worlds[0].Servers) > 0 {
		return ""
	}
	return fmt.Sprintf("%s has no registry, so undo cannot see whether a later merge used it: if one did, undo that one first",
		printable.Text(p.New.Name))
}

// status says how far a merge is.
func (v *View) status(o *Outcome, place string) {
	at, then := o.Status, o.Then
	rows := printable.Count(o.Plan.Rows(), "row", "rows")
	copied := fmt.Sprintf("%s of %s were copied", printable.Number(at.Copied()), rows)
	v.Color = verdict.NotVerified
	switch at.State {
	case merge.StateNone, merge.StatePlanAgain:
		v.Word, v.Sentence = "NOT BEGUN", "there is no record of it in "+place+"; it was not begun, or it was undone"
		if at.State == merge.StatePlanAgain {
			v.Word, v.Sentence = "PLAN AGAIN", "there is no record of it in "+place+", and the worlds have changed since the plan, for example by an undo that raised their counters"
		}
		if at.Fenced() {
			v.Sentence += "; its worlds are fenced"
			v.Then("To lift the fences:", then.Undo)
		}
		if at.State == merge.StatePlanAgain {
			v.Then("To make a new plan:", then.Plan)
		}
	case merge.StateTried:
		v.Word, v.Sentence = "TRIED", "a rehearsal (apply -try), which can never be opened: "+copied
		v.Then("To drop what it made:", then.Undo)
	case merge.StateMade:
		v.Word, v.Sentence = "MADE", "made, and closed to game servers until open"
		if len(at.Fences) == 0 { // nothing closes it
			v.Sentence = "made; without a registry nothing keeps game servers out: do not start one there before open"
		}
		if at.Unfenced() {
			v.Sentence, v.Color = "its record says that it is made, but not all worlds are fenced: they may be running, or "+place+" is a copy from before an undo", verdict.Fail
			v.Then("To drop it:", then.Undo)
			break
		}
		v.Then("To prove it and open it to the game:", then.Open)
		v.Then("To undo it:", then.Undo)
	case merge.StateOpening:
		v.Word, v.Sentence = "OPENING", "proved, and being opened"
		switch {
		case at.Lost:
			v.Sentence = merge.OpenedMissing(place)
			v.Then("If it is lost for good, lift the fences:", then.Force)
		case at.Behind:
			v.Sentence = merge.OpenedOlder(place)
			v.Then("If the database that was opened is lost for good, drop this copy and lift the fences:", then.Force)
		default:
			v.Then("To resume, unless it runs elsewhere:", then.Open)
			v.Then("To undo it:", then.Undo)
		}
	case merge.StateOpen:
		v.Word, v.Sentence, v.Color = "OPEN", rows+" were copied, and it is open to the game", verdict.Pass
		if at.Later != "" {
			v.Sentence = fmt.Sprintf("%s were copied, and it was opened; since then it became a world of a later merge: %s", rows, at.Later)
			break
		}
		switch {
		case at.Unfenced():
			v.Sentence, v.Color = "its record says that it is open, but not all worlds are fenced: they may be running too, or "+place+" is a copy from before an undo", verdict.Fail
		case at.Closed:
			v.Sentence, v.Color = rows+" were copied, and it was opened; an undo has closed it to game servers", verdict.NotVerified
			v.Then("To resume that, unless it runs elsewhere:", then.Undo)
			v.Then("To open it to game servers again:", then.Open)
		default:
			v.Then("To prove it:", then.Verify)
		}
	case merge.StateUndoing:
		v.Word, v.Sentence = "UNDOING", "an undo has begun to drop the new database"
		v.Then("To resume, unless it runs elsewhere:", then.Undo)
	default:
		v.Word, v.Sentence = "COPYING", copied
		v.Then("To resume, unless it runs elsewhere:", then.Apply)
		v.Then("To undo it:", then.Undo)
	}
	v.Sentence = Merging(o.Plan) + ": " + v.Sentence
}
