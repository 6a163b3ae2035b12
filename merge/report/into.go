package report

import (
	"fmt"

	"mergesafe/internal/printable"
	"mergesafe/merge/transfer"
	"mergesafe/merge/verdict"
)

// What is said of a merge into a new database is in this file.

// plannedInto says what will be made.
func (t *text) plannedInto(p *transfer.Plan) {
	if p.Into == nil {
		return
	}
	first := printable.Text(p.Target.Name)
	t.section(fmt.Sprintf("Will make the database %s: the tables of %s, and %s (indexes, foreign keys, views, triggers, routines, events). "+
		"It takes about %s on the disk, and up to twice that while it is made. The databases of %s are only read; their game servers must not be started there any more.",
		printable.Text(p.Into.Name), first, printable.Count(int64(p.Into.Objects), "other object", "other objects"), printable.Bytes(p.Into.Bytes), Sources(p)))
	if len(p.Into.Grants) > 0 {
		t.line(0, "The accounts of the game need there, once it is made:")
		t.verbatim(2, p.Into.Grants)
	}
	if p.Into.Unseen != "" {
		t.line(0, "The accounts of the game need rights there, which are not listed: "+p.Into.Unseen)
	}
	if p.Engine != "sqlite" {
		t.line(0, "Replication filters, backups and other things that name the database "+first+" have to name the new one.")
	}
	if len(p.Into.Tables) == 0 {
		return
	}
	var names []string
	rows := int64(0)
	for _, own := range p.Into.Tables {
		if own.Content.Rows > 0 {
			names, rows = append(names, own.Name), rows+own.Content.Rows
		}
	}
	if rows > 0 {
		t.line(0, fmt.Sprintf("Of %s only %s: %s, in %s.", printable.Count(int64(len(names)), "table", "tables"), first+"'s rows come",
			printable.Count(rows, "row", "rows"), printable.List(names, ", ", shownTables)))
	}
}

// keptWhere says where rows stay that are written over.
func keptWhere(p *transfer.Plan) string {
	if p.Into != nil {
		return "there, and for the proof in a table of the new database"
	}
	return "there until the merge is undone"
}

// inNew puts an outcome into words if it is one of which other things are said when the database is new.
func (w *Words) inNew(o *Outcome) bool {
	place, worlds := printable.Text(o.Plan.Place()), Sources(o.Plan)
	w.Color = verdict.Pass
	switch {
	case o.Applied != nil:
		w.Sentence = fmt.Sprintf("%s: %s is made, of %s, with %s", Merging(o.Plan), place, printable.Count(o.Plan.AllRows(), "row", "rows"),
			Renamed(o.Plan))
		if o.Applied.Before {
			w.Sentence += "; that was done before, and nothing was changed now"
		} else {
			w.Sentence += o.took()
		}
		w.Details = texts(o.Applied.Notes)
		w.next("Now prove it:", o.Then.Verify)
	case o.Proof != nil && o.Proof.Verdict == verdict.Pass:
		w.Word = string(o.Proof.Verdict)
		w.Sentence = fmt.Sprintf("every row of %s is in %s as planned, and nothing else; it is made as %s is", worlds, place, printable.Text(o.Plan.Target.Name))
		w.next("To let the game in, unless that was done:", o.Then.Open)
	case o.Proof != nil:
		w.Word, w.Color = string(o.Proof.Verdict), o.Proof.Verdict
		w.Sentence = fmt.Sprintf("%s is not what was planned", place)
		if o.Proof.Verdict == verdict.NotVerified {
			w.Sentence = fmt.Sprintf("every row of %s is in %s as planned, but the check of the result could not check everything", worlds, place)
		}
		for _, u := range o.Proof.Unseen {
			w.Details = append(w.Details, printable.Text(u.String()))
		}
		for _, d := range o.Proof.Differing {
			w.Details = append(w.Details, "made in another way: "+printable.Text(d))
		}
		w.next("If it is open and the game has played there since, that is among the differences. If it is not open, it stays closed. To drop it and let the worlds start again:", o.Then.Undo)
	case o.Opened != nil:
		w.opened(o, place, worlds)
	case o.Undone != nil:
		w.dropped(o, place, worlds)
	default:
		return false
	}
	return true
}

func (w *Words) opened(o *Outcome, place, worlds string) {
	w.Sentence = place + " is open"
	if o.Opened.Before {
		w.Sentence += "; that was done before"
	}
	if o.Opened.Events > 0 {
		w.Details = append(w.Details, printable.Count(int64(o.Opened.Events), "event is", "events are")+" enabled there")
	}
	w.next(fmt.Sprintf("Point the game server of %s to %s, and start it.", printable.Text(o.Plan.Target.Name), place))
	w.next(fmt.Sprintf("Keep the databases of %s as they are for as long as an undo may be wanted; after that, drop them. To go back to them:", worlds), o.Then.Undo)
	if commands := retire(o.Plan); len(commands) > 0 {
		w.next("When they are dropped, if you have a fleet registry:", commands...)
	}
}

func (w *Words) dropped(o *Outcome, place, worlds string) {
	u := o.Undone
	written := fmt.Sprintf("no row of %s was written", worlds)
	if u.Raised {
		written += fmt.Sprintf(" but counters of %s, which go on above what was given in %s", printable.Text(o.Plan.Target.Name), place)
	}
	switch {
	case u.NoRecord:
		w.Sentence = "the fences were lifted; of the merge nothing is left"
	case u.Dropped:
		w.Sentence = fmt.Sprintf("%s was dropped; %s", place, written)
	default:
		w.Sentence = fmt.Sprintf("all that the merge made in %s was dropped; %s", place, written)
		w.Details = append(w.Details, fmt.Sprintf("The database itself stays, because the merge did not make all that is in it: %s", printable.List(u.Others, ", ", shownTables)))
	}
	if len(u.Lifted) > 0 {
		w.Details = append(w.Details, lifted(u)+" can be started again")
	}
	w.next(fmt.Sprintf("The game servers of %s can be started again, on their databases.", worlds))
}
