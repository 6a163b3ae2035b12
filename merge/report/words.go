package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/verdict"
)

// Words are an outcome in words.
type Words struct {
	Word     string          // DONE, PASS, FAIL, NOT VERIFIED, REFUSED, CHANGED or STOPPED
	Color    verdict.Verdict // that it is shown in
	Sentence string          // the meaning of the word
	Details  []string
	Next     []step
}

// Words puts an outcome into words.
func (o *Outcome) Words() Words {
	w := Words{Word: strings.ToUpper(string(o.Ending))}
	place, worlds := printable.Text(o.Plan.New.Name), Worlds(o.Plan)
	switch {
	case o.Ending == Refused:
		w.Color, w.Sentence = verdict.Fail, "nothing was changed now"
		switch {
		case o.Proof != nil:
			w.Sentence = place + " was proved, and stays closed"
		case o.Wrote > 0:
			w.Sentence = "what was copied is kept"
		}
		w.refused(o)
	case o.Ending == Changed:
		w.Color, w.Sentence = verdict.Fail, printable.Text(o.Reason)
		if o.Command == "apply" {
			w.next("To take it back:", o.Then.Undo)
		}
	case o.Ending == Stopped:
		w.Sentence = printable.Text(o.Reason)
		w.next("Nothing is lost. To resume:", o.Then.Again)
	case o.Applied != nil && o.Applied.Try:
		w.tried(o, place)
	case o.Applied != nil:
		w.applied(o, place)
	case o.Opened != nil:
		w.opened(o, place, worlds)
	case o.Proof != nil:
		w.proved(o, place, worlds)
	case o.Undone != nil:
		w.undone(o, place, worlds)
	}
	return w
}

// refused says what comes next: of several reasons, what the one that asks for most asks for.
func (w *Words) refused(o *Outcome) {
	asked := func(next merge.Next) bool {
		return slices.ContainsFunc(o.Refusals, func(r merge.Refusal) bool { return r.Next == next })
	}
	switch {
	case o.Then.Again == "" || asked(merge.NextNone):
	case asked(merge.NextUndoPlan):
		w.next("The merge has begun. Undo it, then make a new plan:", o.Then.Undo, o.Then.Plan)
	case asked(merge.NextUndo):
		w.next("Undo it:", o.Then.Undo)
	case asked(merge.NextOpen):
		w.next("Open it, or take it back:", o.Then.Open, o.Then.Undo)
	case asked(merge.NextApply):
		w.next("Make it:", o.Then.Apply)
	case asked(merge.NextPlan):
		w.next("When that is fixed, make a new plan:", o.Then.Plan)
	default:
		w.next("When that is fixed, run the same command again:", o.Then.Again)
	}
}

// Hint is the first step on one line.
func (w Words) Hint() string {
	return strings.Join(append([]string{w.Next[0].Text}, w.Next[0].Commands...), " ")
}

func (w *Words) next(text string, commands ...string) {
	w.Next = append(w.Next, step{Text: text, Commands: commands})
}

func (w *Words) applied(o *Outcome, place string) {
	w.Color = verdict.Pass
	w.Sentence = o.made(place)
	if o.Applied.Before {
		w.Sentence += "; that was done before, and nothing was changed now"
	} else {
		w.Sentence += o.took()
	}
	w.Details = texts(o.Applied.Notes)
	w.next("Now prove it, and let the game in:", o.Then.Open)
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
func (w *Words) tried(o *Outcome, place string) {
	w.Word, w.Color = "TRIED", verdict.Pass
	w.Sentence = o.made(place) + o.took() + "; it is a rehearsal and can never be opened"
	w.Details = texts(o.Applied.Notes)
	changed := o.Applied.Changed
	switch {
	case o.Applied.Before || o.Applied.Resumed:
		w.Details = append(w.Details, "Rows that an earlier call copied were not compared with the worlds again.")
	case len(changed) == 0:
		w.Details = append(w.Details, "No row was changed since the plan was made.")
	}
	if len(changed) > 0 {
		w.Details = append(w.Details, fmt.Sprintf("In %s rows were changed since the plan was made. Make a new plan before the merge:",
			printable.Count(int64(len(changed)), "table", "tables")))
	}
	for i, c := range changed {
		if i == shownChanged {
			w.Details = append(w.Details, "and "+andMore(int64(len(changed)-i)))
			break
		}
		what := fmt.Sprintf("%s, and %s in the plan", printable.Count(c.Rows, "row", "rows"), printable.Number(c.Want))
		if c.Rows == c.Want {
			what = printable.Count(c.Rows, "row", "rows") + " as in the plan, but with other values"
		}
		w.Details = append(w.Details, fmt.Sprintf("%s of %s: %s", printable.Text(c.Table), printable.Text(c.World), what))
	}
	w.next("Start a game server on it if you want to try it, and let no players in. Then drop it:", o.Then.Undo)
}

// took says how long apply took; if it resumed, what of it was done now, and how long ago the merge began.
func (o *Outcome) took() string {
	now := durationWords(o.Ended.Sub(o.Began))
	if !o.Applied.Resumed || o.Applied.Began == nil {
		return ", in " + now
	}
	return fmt.Sprintf("; of these %s in this run, in %s; the merge began %s before its end, at %s",
		printable.Count(o.Applied.RowsNow, "row", "rows"), now, durationWords(o.Ended.Sub(*o.Applied.Began)), printable.Time(*o.Applied.Began))
}

func durationWords(d time.Duration) string {
	if d := d.Round(time.Second); d > 0 {
		return d.String()
	}
	return "less than a second"
}

func (w *Words) proved(o *Outcome, place, worlds string) {
	w.Word, w.Color = string(o.Proof.Verdict), o.Proof.Verdict
	switch o.Proof.Verdict {
	case verdict.Pass:
		w.Sentence = fmt.Sprintf("every row of %s is in %s as planned, and nothing else; it is made as %s is", worlds, place, printable.Text(o.Plan.Worlds[0].Name))
		w.next("To prove it once more and let the game in, unless that was done:", o.Then.Open)
		return
	case verdict.NotVerified:
		w.Sentence = fmt.Sprintf("every row of %s is in %s as planned, but the check of the result could not check everything", worlds, place)
	default:
		w.Sentence = fmt.Sprintf("%s is not what was planned", place)
	}
	for _, u := range o.Proof.Unseen {
		w.Details = append(w.Details, printable.Text(u.String()))
	}
	for _, d := range o.Proof.Differing {
		w.Details = append(w.Details, "made in another way: "+printable.Text(d))
	}
	if o.Command == "open" {
		w.Sentence += ", and stays closed"
		w.next("To drop it and let the worlds start again:", o.Then.Undo)
		return
	}
	w.next("If it is open and the game has played there since, that is among the differences. If it is not open, open will not open it. To drop it and let the worlds start again:", o.Then.Undo)
}

func (w *Words) opened(o *Outcome, place, worlds string) {
	w.Color, w.Sentence = verdict.Pass, place+" is open"
	if o.Opened.Before {
		w.Sentence += "; that was done before, and nothing is proved now"
	} else {
		w.Sentence += fmt.Sprintf(": every row of %s is there as planned, and nothing else; it is made as %s is", worlds, printable.Text(o.Plan.Worlds[0].Name))
	}
	if o.Opened.Events > 0 {
		w.Details = append(w.Details, printable.Count(int64(o.Opened.Events), "event is", "events are")+" enabled there")
	}
	w.next(fmt.Sprintf("Point the game server of %s to %s, and start it.", printable.Text(o.Plan.Worlds[0].Name), place))
	w.next(fmt.Sprintf("Keep the databases of %s as they are for as long as an undo may be wanted; after that, drop them. To go back to them:", worlds), o.Then.Undo)
	if commands := retire(o.Plan); len(commands) > 0 {
		w.next("When they are dropped, if you have a fleet registry:", commands...)
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

func (w *Words) undone(o *Outcome, place, worlds string) {
	w.Color = verdict.Pass
	u := o.Undone
	written := fmt.Sprintf("no row of %s was written", worlds)
	if u.Raised {
		written = fmt.Sprintf("nothing in %s changed except counters and marks: they continue above what was given in %s", worlds, place)
	}
	switch {
	case u.NoRecord && u.Raised:
		w.Sentence = fmt.Sprintf("the fences were lifted, though %s is gone with all that was played there; counters and marks of the worlds continue above what may have been given there", place)
	case u.NoRecord:
		w.Sentence = "the fences were lifted; of the merge nothing is left"
	case u.Kept:
		w.Sentence = fmt.Sprintf("%s is empty again, as it was before the merge; %s", place, written)
	case u.Dropped:
		w.Sentence = fmt.Sprintf("%s was dropped; %s", place, written)
	default:
		w.Sentence = fmt.Sprintf("all that the merge made in %s was dropped; %s", place, written)
		w.Details = append(w.Details, fmt.Sprintf("The database itself stays, because the merge did not make all that is in it: %s", printable.List(u.Others, ", ", shownTables)))
	}
	if o.Tried {
		return
	}
	if len(u.Lifted) > 0 {
		w.Details = append(w.Details, lifted(u)+" can be started again")
	}
	w.next(fmt.Sprintf("The game servers of %s can be started again, on their databases.", worlds))
}

// lifted names the servers that can be started again.
func lifted(u *merge.Undone) string {
	return strings.Join(slice.Map(u.Lifted, func(f merge.Lifted) string {
		return fmt.Sprintf("server %s of %s", f.Server, printable.Text(f.Database))
	}), ", ")
}

// LaterMerge says what undo cannot know of a merge in a state: whether its new database became a world of a later one. It is ""
// if the fence of that one would tell, or if there can be none.
func LaterMerge(p *merge.Plan, state merge.State) string {
	if state != merge.StateOpening && state != merge.StateOpen || len(p.Worlds[0].Servers) > 0 {
		return ""
	}
	return fmt.Sprintf("%s keeps no registry, so undo cannot tell whether a later merge was made of it: if one was, undo that one first",
		printable.Text(p.New.Name))
}
