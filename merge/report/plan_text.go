package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/transfer"
	"mergesafe/merge/verdict"
)

// Limits of the text. The plan itself has everything.
const (
	shownRenames = 6
	shownTables  = 60
)

// perSecond is the number of rows a second that estimates assume.
const perSecond = 50_000

// will says of what a plan does whether it can be carried out.
func will(p *transfer.Plan) string {
	if len(p.Refusals) > 0 {
		return "Would"
	}
	return "Will"
}

// Merging is, for example, "merging s2 and s3 into s1".
func Merging(p *transfer.Plan) string {
	into := " into "
	if p.Into != nil {
		into += "the new database "
	}
	return "merging " + Sources(p) + into + printable.Text(p.Place())
}

// Sources is, for example, "s2 and s3": the worlds that rows come from.
func Sources(p *transfer.Plan) string {
	return printable.Names(slice.Map(p.Origins(), func(w transfer.World) string { return w.Name }))
}

// Amount is, for example, "12,345 rows in 4 tables, 3 renames, about 5s".
func Amount(p *transfer.Plan) string {
	tables := len(p.Tables)
	if p.Into != nil {
		tables += len(p.Into.Tables)
	}
	return fmt.Sprintf("%s in %s, %s, about %s", printable.Count(p.AllRows(), "row", "rows"), printable.Count(int64(tables), "table", "tables"),
		Renamed(p), about(p.Estimate(perSecond)))
}

// Renamed counts what is renamed: "3 renames", or "3 renames, 211 new numbers, 40 cells that follow".
func Renamed(p *transfer.Plan) string {
	names, numbers, cells := p.Renamed()
	text := printable.Count(names, "rename", "renames")
	if numbers > 0 {
		text += ", " + printable.Count(numbers, "new number", "new numbers")
	}
	if cells > 0 {
		text += ", " + printable.Count(cells, "cell that follows", "cells that follow")
	}
	return text
}

// about rounds an estimated duration.
func about(d time.Duration) string {
	switch {
	case d < time.Second:
		return "1s"
	case d < 10*time.Minute:
		return d.Round(time.Second).String()
	default:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
}

// WritePlan writes a plan as text for the person who decides on it, with the next
// command. It returns the error of w.
func WritePlan(w io.Writer, p *transfer.Plan, then Commands, o TextOptions) error {
	t := newText(o)
	t.ready(p)
	t.refusals(p.Refusals)
	t.WriteString("\nThe check says " + string(p.Check.Verdict) + ".\n")
	t.ruleFiles(p.Check.RuleFiles)
	if len(p.Check.Resolved) > 0 {
		t.line(0, "Conflicts that renaming and combining resolve:")
		t.refusals(p.Check.Resolved)
	}
	if len(p.Check.Allowed) > 0 {
		t.line(0, "Results that are allowed:")
		t.refusals(p.Check.Allowed)
	}
	if len(p.Prepare) > 0 {
		t.WriteString("\nTo be run in " + printable.Text(p.Target.Name) + " first, as one script:\n")
		t.verbatim(2, p.Prepare)
	}
	t.list("The account that made this plan lacks rights that apply needs. Grant them, or run apply with another account:",
		len(p.Lacks), len(p.Lacks), func(i int) string { return p.Lacks[i] })
	t.plannedInto(p)
	t.plannedTables(p)
	t.plannedResets(p)
	writePlannedCombines(t, p)
	t.plannedCounters(p)
	t.severed(p)
	writeNewKeys(t, p.Rekey)
	codecs := p.Codecs()
	t.list("The game's own codecs find keys in cells. A command (exec) is run again by apply, verify and undo:",
		len(codecs), len(codecs), func(i int) string { return codecs[i] })
	t.recorded(p)
	t.plannedRenames(p, then)
	t.list("Not copied: "+printable.Count(int64(len(p.Left)), "table", "tables"), len(p.Left), shownTables,
		func(i int) string { return p.Left[i].Table + ": " + p.Left[i].Reason })
	t.plannedServers(p)
	t.WriteString("\n")
	again := t.isLong()
	if again {
		t.someRefusals(p.Refusals)
	}
	switch {
	case len(p.Refusals) > 0:
		t.line(0, "Nothing was changed, and apply will refuse this plan. Resolve these reasons (mergecheck shows the rows, and what to do), then plan again.")
	case then.Apply == "":
		t.line(0, "Nothing was changed, and this plan was not saved: -o FILE writes it for servermerge apply.")
	case p.Into != nil:
		t.line(0, "Nothing was changed. Stop the game servers of all these databases, then:")
		t.verbatim(2, []string{then.Apply})
	default:
		t.line(0, "Nothing was changed. Stop the game servers of all these databases, back "+p.Target.Name+" up, then:")
		t.verbatim(2, []string{then.Apply})
	}
	if again {
		t.WriteString("\n")
		t.ready(p)
	}
	return t.to(w)
}

// ready says whether a plan can be carried out.
func (t *text) ready(p *transfer.Plan) {
	word, color, stands := readiness(p)
	t.verdict(word, color, Merging(p)+": "+stands)
}

// readiness is whether a planned merge can be done, in a word and in words.
func readiness(p *transfer.Plan) (word string, color verdict.Verdict, stands string) {
	if n := int64(len(p.Refusals)); n > 0 {
		return "REFUSED", verdict.Fail, printable.Count(n, "reason blocks it", "reasons block it")
	}
	stands = "nothing blocks it"
	if n := int64(len(p.Check.Allowed)); n > 0 {
		stands = "nothing blocks it, except for " + printable.Count(n, "result", "results") + " that the operator allows"
	}
	return "READY", verdict.Pass, stands
}

func (t *text) plannedTables(p *transfer.Plan) {
	t.section(fmt.Sprintf("%s copy %s (at %s rows a second), begun in this order:",
		will(p), Amount(p), printable.Number(perSecond)))
	rows := [][]string{{"table", "rows to come", "target's own", "about"}}
	if p.Into != nil {
		rows[0][2] = "of " + printable.Text(p.Target.Name)
	}
	for _, table := range p.Tables {
		takes := about(time.Duration(table.Rows()) * time.Second / perSecond)
		row := []string{printable.Text(table.Name), printable.Number(table.Rows()), printable.Number(table.Target.Rows), takes}
		var notes []string
		if c := table.Counter; c != nil && c.After > c.Before {
			counter := "AUTO_INCREMENT"
			if p.Engine == "sqlite" {
				counter = "the next key"
			}
			notes = append(notes, fmt.Sprintf("%s goes from %d to %d", counter, c.Before, c.After))
		}
		if len(table.Key) == 0 {
			notes = append(notes, "no key: one transaction for each source")
		}
		if len(table.Generated) > 0 {
			notes = append(notes, "the target makes "+printable.Names(table.Generated)+" itself")
		}
		if len(table.UndoTriggers) > 0 {
			notes = append(notes, "an undo would run the triggers "+printable.Names(table.UndoTriggers))
		}
		rows = append(rows, append(row, strings.Join(notes, "  ")))
	}
	t.listed(rows, columns.Column{}, wide, wide, columns.Column{Min: 7, Right: true})
}

// plannedCounters says which counters in rows of the target, and which sequences, are raised.
func (t *text) plannedCounters(p *transfer.Plan) {
	n := len(p.Counters)
	title := "Will raise " + printable.Count(int64(n), "counter", "counters") + " of " + p.Place() + ":"
	t.list(title, n, shownTables, func(i int) string {
		c := &p.Counters[i]
		name := c.Table
		if c.Column != "" {
			name += "." + c.Column + ", row " + transfer.KeyText(c.Key) + ","
		}
		return fmt.Sprintf("%s from %d to %d", name, c.Before, c.After)
	})
}

func (t *text) plannedRenames(p *transfer.Plan, then Commands) {
	if len(p.Renames) == 0 {
		return
	}
	t.WriteString("\nGet other values: " + Renamed(p) + ":\n")
	rest := func(n int64) string { return andMore(n) + ": " + cmp.Or(then.Renames, "the plan has them all") }
	t.some(len(p.Renames), shownRenames, rest, func(i int) { t.rename(p.Renames[i]) })
	for _, c := range p.Copies {
		t.line(2, fmt.Sprintf("renamed with them: %s.%s (%s names the row of %s)", c.Table, c.Column, c.Key, c.OfTable))
	}
}

func (t *text) plannedServers(p *transfer.Plan) {
	t.WriteString("\nServers:\n")
	for _, s := range servers(p) {
		what := map[fate]string{
			noFate:     "keeps no registry: servermerge cannot see whether its game server runs, nor keep it from being started",
			goesOn:     "continues after the merge",
			moves:      "continues in the new database, and cannot be started on this one any more",
			comesAlong: "was merged in earlier, and comes with it",
			ends:       "ends, but NOTHING keeps it from being started again: rows that it makes then never come to the target",
		}[s.Fate]
		if s.Fate == ends && s.Fence {
			what = "ends: it cannot be started again on this database"
		}
		who := s.Database
		if s.Fate != noFate {
			who += fmt.Sprintf("  server %s", s.Number)
		}
		if s.Name != "" {
			who += " (" + s.Name + ")"
		}
		t.line(2, who+" "+what)
	}
}
