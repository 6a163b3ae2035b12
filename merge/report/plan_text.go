package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/merge"
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
func will(p *merge.Plan) string {
	if len(p.Refusals) > 0 {
		return "Would"
	}
	return "Will"
}

// Merging is, for example, "merging s1, s2 and s3 into the new database new".
func Merging(p *merge.Plan) string {
	return "merging " + Worlds(p) + " into the new database " + printable.Text(p.New.Name)
}

// Worlds is, for example, "s1, s2 and s3".
func Worlds(p *merge.Plan) string { return printable.Names(names(p)) }

// titleOf is, for example, "s1, s2, s3 into new".
func titleOf(p *merge.Plan) string { return strings.Join(names(p), ", ") + " into " + p.New.Name }

// Amount is, for example, "12,345 rows in 4 tables, 3 renames, about 5s".
func Amount(p *merge.Plan) string {
	return fmt.Sprintf("%s in %s, %s, about %s", printable.Count(p.Rows(), "row", "rows"), printable.Count(int64(len(p.Tables)), "table", "tables"),
		Renamed(p), about(p.Estimate(perSecond)))
}

// Renamed counts what is renamed: "3 renames", or "3 renames, 211 new numbers, 40 cells that follow".
func Renamed(p *merge.Plan) string {
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
func WritePlan(w io.Writer, p *merge.Plan, then Commands, o TextOptions) error {
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
	t.list("The account that made this plan lacks rights that apply needs. Grant them, or run apply with another account:",
		len(p.Lacks), len(p.Lacks), func(i int) string { return p.Lacks[i] })
	t.plannedNew(p)
	t.plannedTables(p)
	t.plannedResets(p)
	writePlannedCombines(t, p)
	t.plannedCounters(p)
	t.severed(p)
	writeNewKeys(t, p.Rekey)
	codecs := p.Codecs()
	t.list("The game's own codecs find keys in cells. A command (exec) is run again by apply, verify and undo:",
		len(codecs), len(codecs), func(i int) string { return codecs[i] })
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
	default:
		t.line(0, "Nothing was changed. Stop the game servers of all these worlds, then:")
		t.verbatim(2, []string{then.Apply})
	}
	if again {
		t.WriteString("\n")
		t.ready(p)
	}
	return t.to(w)
}

// ready says whether a plan can be carried out.
func (t *text) ready(p *merge.Plan) {
	word, color, stands := readiness(p)
	t.verdict(word, color, Merging(p)+": "+stands)
}

// readiness is whether a planned merge can be done, in a word and in words.
func readiness(p *merge.Plan) (word string, color verdict.Verdict, stands string) {
	if n := int64(len(p.Refusals)); n > 0 {
		return "REFUSED", verdict.Fail, printable.Count(n, "reason blocks it", "reasons block it")
	}
	stands = "nothing blocks it"
	if n := int64(len(p.Check.Allowed)); n > 0 {
		stands = "nothing blocks it, except for " + printable.Count(n, "result", "results") + " that the operator allows"
	}
	return "READY", verdict.Pass, stands
}

// plannedNew says what will be made.
func (t *text) plannedNew(p *merge.Plan) {
	first := printable.Text(p.Worlds[0].Name)
	t.section(fmt.Sprintf("%s make the database %s: the tables of %s, and %s (indexes, foreign keys, views, triggers, routines, events). "+
		"It takes about %s on the disk, and up to twice that while it is made. The databases of %s are only read; their game servers must not be started there any more.",
		will(p), printable.Text(p.New.Name), first, printable.Count(int64(p.New.Objects), "other object", "other objects"), printable.Bytes(p.New.Bytes), Worlds(p)))
	if p.New.Engine != "" {
		t.line(0, "Tables of an engine without transactions become tables of "+p.New.Engine+" there.")
	}
	t.list("In these columns an engine counts anew for each value of the columns before it in the key. There they count through the whole table:",
		len(p.New.Recounted), shownTables, func(i int) string { return p.New.Recounted[i] })
	if len(p.New.Grants) > 0 {
		t.line(0, "The accounts of the game need there, once it is made:")
		t.verbatim(2, p.New.Grants)
	}
	if p.New.Unseen != "" {
		t.line(0, "The accounts of the game need rights there, which are not listed: "+p.New.Unseen)
	}
	if p.Engine != "sqlite" {
		t.line(0, "Replication filters, backups and other things that name the database "+first+" have to name the new one.")
	}
}

func (t *text) plannedTables(p *merge.Plan) {
	t.section(fmt.Sprintf("%s copy %s (at %s rows a second), begun in this order:",
		will(p), Amount(p), printable.Number(perSecond)))
	rows := [][]string{{"table", "rows", "about"}}
	for _, table := range p.Tables {
		takes := about(time.Duration(table.Rows()) * time.Second / perSecond)
		row := []string{printable.Text(table.Name), printable.Number(table.Rows()), takes}
		var notes []string
		if c := table.Counter; c != nil && c.After > c.Before {
			counter := "AUTO_INCREMENT"
			if p.Engine == "sqlite" {
				counter = "the next key"
			}
			notes = append(notes, fmt.Sprintf("%s goes from %d to %d", counter, c.Before, c.After))
		}
		if len(table.Key) == 0 {
			notes = append(notes, "no key: one transaction for each world")
		}
		if len(table.Generated) > 0 {
			notes = append(notes, "the new database makes "+printable.Names(table.Generated)+" itself")
		}
		if table.Only {
			notes = append(notes, "only those of "+printable.Text(p.Worlds[0].Name))
		}
		rows = append(rows, append(row, strings.Join(notes, "  ")))
	}
	t.listed(rows, columns.Column{}, wide, columns.Column{Min: 7, Right: true})
}

// plannedCounters says which counters in rows, and which sequences, are raised above those of the first world.
func (t *text) plannedCounters(p *merge.Plan) {
	n := len(p.Counters)
	title := "Will raise " + printable.Count(int64(n), "counter", "counters") + " of " + p.New.Name + ":"
	t.list(title, n, shownTables, func(i int) string {
		c := &p.Counters[i]
		name := c.Table
		if c.Column != "" {
			name += "." + c.Column + ", row " + merge.KeyText(c.Key) + ","
		}
		return fmt.Sprintf("%s from %d to %d", name, c.Before, c.After)
	})
}

func (t *text) plannedRenames(p *merge.Plan, then Commands) {
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

func (t *text) plannedServers(p *merge.Plan) {
	t.WriteString("\nServers:\n")
	for _, s := range servers(p) {
		what := map[fate]string{
			noFate:     "keeps no registry: servermerge cannot see whether its game server runs, nor keep it from being started",
			moves:      "continues in the new database, and cannot be started on this one any more",
			comesAlong: "was merged in earlier, and comes with it",
			ends:       "ends, but NOTHING keeps it from being started again: rows that it makes then never come to the new database",
		}[s.Fate]
		if s.Fate == ends && s.Fence {
			what = "ends: it cannot be started again on this database"
		}
		who := s.Database
		if s.Fate != noFate {
			who += fmt.Sprintf("  server %s", s.ID)
		}
		if s.Name != "" {
			who += " (" + s.Name + ")"
		}
		t.line(2, who+" "+what)
	}
}
