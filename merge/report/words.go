package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/transfer"
	"mergesafe/merge/verdict"
)

// Words are an outcome in words.
type Words struct {
	Word     string          // DONE, PASS, FAIL, NOT VERIFIED, REFUSED, CHANGED or STOPPED
	Color    verdict.Verdict // that it is shown in
	Sentence string          // the meaning of the word
	Details  []string
	Samples  []string // the first rows that are not as they were copied
	Next     []step
}

// Words puts an outcome into words.
func (o *Outcome) Words() Words {
	w := Words{Word: strings.ToUpper(string(o.Ending))}
	if o.Undone != nil {
		w.Samples = differences(o.Undone.Samples, o.Undone.Changed+o.Undone.Missing)
	}
	switch {
	case o.Ending == Refused:
		w.Color, w.Sentence = verdict.Fail, "nothing was changed now"
		w.refused(o)
	case o.Ending == Changed:
		w.Color, w.Sentence = verdict.Fail, printable.Text(o.Reason)
		if o.Command == "apply" {
			w.next("To take it back:", o.Then.Undo)
		}
	case o.Ending == NotUndone:
		w.notUndone(o)
	case o.Ending == Stopped:
		w.Sentence = printable.Text(o.Reason)
		w.next("Nothing is lost. To resume:", o.Then.Again)
	case o.Plan.Into != nil && w.inNew(o):
	case o.Applied != nil:
		w.applied(o)
	case o.Proof != nil:
		w.proved(o)
	case o.Undone != nil:
		w.undone(o)
	}
	return w
}

// refused says what to do when the reasons are seen to: it depends on what they ask for.
func (w *Words) refused(o *Outcome) {
	const again, undo = "plan again", "undo the merge, then plan again"
	asks := func(what string) func(r transfer.Refusal) bool {
		return func(r transfer.Refusal) bool { return strings.HasSuffix(r.Reason, what) }
	}
	blocked := len(o.Plan.Refusals) > 0 && o.Command == "apply" // which has not begun
	begun := slices.ContainsFunc(o.Refusals, asks(undo))
	fresh := !blocked && !slices.ContainsFunc(o.Refusals, asks(again))
	if o.Lifting != nil {
		if o.Plan.Into != nil {
			w.next("Only if the new database is gone for good, and nobody had entered it, lift the fences:", o.Lifting...)
		} else {
			w.next("Only if the target was restored from its backup of before the merge, and no other copy of it is used, "+
				"lift the fences:", o.Lifting...)
		}
	}
	switch {
	case o.Then.Again == "":
	case fresh:
		w.next("When that is fixed, run the same command again:", o.Then.Again)
	case begun:
		w.next("The merge has begun. Undo it, then make a new plan:", o.Then.Undo, o.Then.Plan)
	default:
		w.next("When that is fixed, make a new plan:", o.Then.Plan)
	}
}

// Hint is the first step on one line.
func (w Words) Hint() string {
	return strings.Join(append([]string{w.Next[0].Text}, w.Next[0].Commands...), " ")
}

func (w *Words) next(text string, commands ...string) {
	w.Next = append(w.Next, step{Text: text, Commands: commands})
}

func (w *Words) applied(o *Outcome) {
	w.Color = verdict.Pass
	w.Sentence = fmt.Sprintf("%s: %s came to the target, with %s", Merging(o.Plan),
		printable.Count(o.Applied.Rows, "row", "rows"), Renamed(o.Plan))
	if len(o.Plan.Resets) > 0 {
		w.Sentence += fmt.Sprintf("; %s emptied, of %s", printable.Count(int64(len(o.Plan.Resets)), "table was", "tables were"), printable.Count(o.Plan.TakenOut(), "row", "rows"))
	}
	if o.Applied.Before {
		w.Sentence += "; that was done before, and nothing was changed now"
		return
	}
	w.Sentence += o.took()
	w.Details = texts(o.Applied.Notes)
	w.next("Now prove it, before any game server is started:", o.Then.Verify)
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

func (w *Words) proved(o *Outcome) {
	sources, target := Sources(o.Plan), printable.Text(o.Plan.Target.Name)
	w.Word, w.Color = string(o.Proof.Verdict), o.Proof.Verdict
	switch o.Proof.Verdict {
	case verdict.Pass:
		w.Sentence = fmt.Sprintf("every row of %s is in %s as planned, and in these tables %s has its own rows as before, and nothing else", sources, target, target)
		if n := int64(len(o.Plan.Resets)); n > 0 {
			w.Sentence += fmt.Sprintf("; %s empty, and their old rows are kept", printable.Count(n, "table is", "tables are"))
		}
		if n := writtenOver(o.Plan); n > 0 {
			w.Sentence += fmt.Sprintf("; %s combined with others, each column by its formula, and their old rows are kept", printable.Count(n, "of its own rows is", "of its own rows are"))
		}
		w.next(fmt.Sprintf("Start the game server of %s. Keep %s as %s for as long as an undo may be wanted.", target, sources, itIs(o.Plan)))
		if commands := retire(o.Plan); len(commands) > 0 {
			w.next("After that, if you have a fleet registry:", commands...)
		}
	case verdict.Fail:
		w.Sentence = fmt.Sprintf("%s is not what was planned", target)
		w.next(fmt.Sprintf("Do not start a game server on %s. Read the differences; to take the merge back:", target), o.Then.Undo)
	default:
		w.Sentence = fmt.Sprintf("every row of %s is in %s as planned, but the check of the result could not check everything", sources, target)
		w.next(fmt.Sprintf("Check its reasons yourself before you start the game server of %s.", target))
	}
}

// itIs is what the sources of a plan are to be kept as.
func itIs(p *transfer.Plan) string {
	if len(p.Sources) == 1 {
		return "it is"
	}
	return "they are"
}

// shownServers limits the servers that are shown to be retired.
const shownServers = 10

// retire returns the commands that retire the numbers of servers that ended.
func retire(p *transfer.Plan) (commands []string) {
	reason := printable.Quoted("merged into " + p.Target.Name)
	for _, w := range p.Sources {
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

func (w *Words) undone(o *Outcome) {
	u, sources, target := o.Undone, Sources(o.Plan), printable.Text(o.Plan.Target.Name)
	w.Color = verdict.Pass
	if u.NoRecord && len(u.Lifted) == 0 {
		w.Sentence = fmt.Sprintf("nothing of this merge is here: %s has no record of it, "+
			"and holds exactly what it held when the merge was planned", target)
		w.Details = []string{"The merge was not begun, or it was undone."}
		return
	}
	if u.NoRecord {
		w.Sentence = fmt.Sprintf("the fences were lifted: %s can start again; %s has no record of this merge", lifted(u), target)
		w.Details = []string{"No row was read or removed: the fences say that the merge was not begun, " +
			"or that an undo had removed all its rows."}
		return
	}
	w.Sentence = fmt.Sprintf("%s out of %s again: %s removed; what %s holds in these tables is ", sources, target, printable.Count(u.Rows, "row was", "rows were"), target)
	if u.SameAsBefore {
		w.Sentence += "exactly what it held before"
	} else {
		w.Sentence += "not what it held before: no row with a key of the merge is left, but its own rows differ in " +
			printable.Count(int64(len(u.Tables)), "table", "tables")
	}
	for _, t := range u.Tables {
		w.Details = append(w.Details, printable.Text(t.String()))
	}
	add := func(n int64, one, many, rest string) {
		if n > 0 {
			w.Details = append(w.Details, printable.Count(n, one, many)+" "+rest)
		}
	}
	add(u.Changed, "of them had", "of them had", "been changed since the merge; these changes are lost")
	add(writtenOver(o.Plan), "row of "+target+" was", "rows of "+target+" were", "combined with them: restored")
	gone := "gone before"
	if slices.ContainsFunc(u.Tables, func(t transfer.UndoneTable) bool { return t.Rows > t.Before }) {
		gone += "; if a key was changed since, such a row is among the own rows"
	}
	add(u.Missing, "row was", "rows were", gone)
	add(o.Plan.TakenOut(), "row is", "rows are", "back in the tables that were emptied")
	w.next(fmt.Sprintf("The game servers of %s can be started again.", sources))
}

// lifted names the servers that can be started again.
func lifted(u *transfer.Undone) string {
	return strings.Join(slice.Map(u.Lifted, func(f transfer.Lifted) string {
		return fmt.Sprintf("server %s of %s", f.Server, printable.Text(f.Database))
	}), ", ")
}

func (w *Words) notUndone(o *Outcome) {
	w.Color = verdict.Fail
	w.Sentence = fmt.Sprintf("something of the merge is left in %s; its record, the kept rows and the fences stay",
		printable.Text(o.Plan.Target.Name))
	for _, t := range o.Undone.Tables {
		w.Details = append(w.Details, printable.Text(t.String()))
		for _, line := range differences(t.Samples, t.Merged+t.Unrestored) {
			w.Details = append(w.Details, "  "+line)
		}
	}
	w.next("Correct what only you can, and stop any process that writes there. Then run undo again: "+
		"it removes and restores the rest:", o.Then.Again)
}
