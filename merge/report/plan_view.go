package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/plan"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Planned is a plan for the person who decides on it.
type Planned struct {
	Plan  *merge.Plan
	Then  Commands
	Check *verdict.Report // that it was made with; its findings are on the page
}

// WriteText writes it as text. It returns the error of w.
func (p *Planned) WriteText(w io.Writer, o TextOptions) error { return p.View().WriteText(w, o) }

// WriteHTML writes it as a page. It returns the error of w.
func (p *Planned) WriteHTML(w io.Writer) error {
	return p.View().writePage(w, titleOf(p.Plan), []string{planLine(p.Plan)}, nil, NewCheck(p.Check))
}

// WriteJSON writes the plan as JSON, with its view. It returns the error of w.
func (p *Planned) WriteJSON(w io.Writer) error {
	return writeJSON(w, struct {
		*merge.Plan
		View *View `json:"view"`
	}{p.Plan, p.View()}, false)
}

// planLine says which plan it is, and when it was made.
func planLine(p *merge.Plan) string {
	return "Plan " + p.ID + ", made " + printable.Time(p.Made) + by(p.Program)
}

// perSecond is the number of rows a second that estimates assume.
const perSecond = 50_000

// Merging is, for example, "merging s1, s2 and s3 into the new database new".
func Merging(p *merge.Plan) string {
	return "merging " + Worlds(p) + " into the new database " + printable.Text(p.New.Name)
}

// Worlds is, for example, "s1, s2 and s3".
func Worlds(p *merge.Plan) string { return printable.Names(names(p)) }

// titleOf is, for example, "s1, s2, s3 into new".
func titleOf(p *merge.Plan) string { return strings.Join(names(p), ", ") + " into " + p.New.Name }

// names are those of the worlds of a plan.
func names(p *merge.Plan) []string {
	return slice.Map(p.Worlds, func(w merge.World) string { return w.Name })
}

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

// View is what is said of the plan.
func (p *Planned) View() *View {
	plan, then := p.Plan, p.Then
	v := &View{Word: "READY", Color: verdict.Pass, Sentence: Merging(plan) + ": nothing blocks it"}
	if n := int64(len(plan.Refusals)); n > 0 {
		v.Word, v.Color = "REFUSED", verdict.Fail
		v.Sentence = Merging(plan) + ": " + printable.Count(n, "reason blocks it", "reasons block it")
	} else if n := int64(len(plan.Check.Allowed)); n > 0 {
		v.Sentence += ", except for " + printable.Count(n, "result", "results") + " that the operator allows"
	}
	v.refusals(plan.Refusals)
	v.Add(explained(Section{ID: "lacks", Title: "Rights that this account lacks", Items: plan.Lacks}, "apply needs them: grant them, or run apply with another account."))
	v.Add(planSections(plan, then)...)
	switch {
	case len(plan.Refusals) > 0:
		v.Then("Nothing was changed, and apply refuses this plan. Fix the reasons (mergecheck shows the rows and what to do), then plan again.")
	case then.Apply == "":
		v.Then("Nothing was changed, and this plan was not saved: -o FILE saves it for servermerge apply.")
	default:
		v.Then("Nothing was changed. Stop the game servers of all these worlds, then:", then.Apply)
	}
	return v
}

// planSections say what a plan does. An outcome has them on its page, too.
func planSections(p *merge.Plan, then Commands) []Section {
	first := p.Worlds[0].Name
	made := Section{ID: "new", Title: "The new database", Rows: [][]string{
		{"name", p.New.Name},
		{"contents", Amount(p) + fmt.Sprintf(" (at %s rows a second)", printable.Number(perSecond))},
		{"schema", fmt.Sprintf("the tables of %s, and %s (indexes, foreign keys, views, triggers, routines, events)", first, printable.Count(int64(p.New.Objects), "other object", "other objects"))},
		{"disk", "about " + printable.Bytes(p.New.Bytes) + ", up to twice that while it is made"},
		{"worlds", "only read; do not start their game servers on them again"},
		{"check", "says " + string(p.Check.Verdict)},
	}}
	if p.New.Engine != "" {
		made.Rows = append(made.Rows, []string{"engine", "tables of an engine without transactions become tables of " + p.New.Engine})
	}
	if p.Engine != "sqlite" {
		made.Rows = append(made.Rows, []string{"elsewhere", "replication filters, backups and other settings with the name of the database " + first + " need the new name"})
	}
	refs := func(all []merge.Refusal) []string { return slice.Map(all, merge.Refusal.String) }
	all := []Section{
		made, grants(p), plannedWorlds(p), plannedTables(p),
		explained(Section{ID: "recounted", Title: "Columns that are numbered through the whole table", Items: p.New.Recounted},
			"In the worlds each starts again for every value of the columns before it in the key."),
		{ID: "emptied", Title: "Empty in the new database", Items: p.Resets},
		plannedCombines(p),
		{ID: "counters", Title: "Counters that are raised in the new database", Items: slice.Map(p.Counters, func(c plan.RowCounter) string {
			name := c.Table
			if c.Column != "" {
				name += "." + c.Column + ", row " + merge.KeyText(c.Key) + ","
			}
			return fmt.Sprintf("%s from %d to %d", name, c.Before, c.After)
		})},
	}
	all = append(all, stayingSections(staying(p))...)
	all = append(all, Section{ID: "renumbered", Title: "Rows that get the next free value", Head: []string{"column", "within", "rows"},
		Rows: slice.Map(p.Renumbered, func(r verdict.Renumbered) []string {
			return []string{r.Table + "." + r.Column, printable.Names(r.Within), countsText(p, r.Counts)}
		})}, Section{ID: "severed", Title: "Rows that reference rows that stay behind or are missing", Head: []string{"column", "references", "becomes", "rows"},
		Rows: slice.Map(p.Severed, func(s rules.Severed) []string {
			becomes := "NULL"
			switch {
			case s.Gone == rules.GoneDrop:
				becomes = "the row stays behind too"
			case s.Becomes != nil:
				becomes = cmp.Or(*s.Becomes, `""`)
			}
			to := s.To
			if s.Format != "" {
				to += ", in " + s.Format
			}
			return []string{s.Table + "." + s.Column, to, becomes, countsText(p, s.Counts)}
		})})
	all = append(all, rekeyedSections(p.Rekey)...)
	return append(all,
		explained(Section{ID: "codecs", Title: "The game's own codecs", Items: p.Codecs()},
			"They find keys in cells. apply, verify and undo run a command (exec) again."),
		plannedRenames(p, then),
		Section{ID: "left", Title: "Not copied", Head: []string{"table", "because"},
			Rows: slice.Map(p.Left, func(l merge.Left) []string { return []string{l.Table, l.Reason} })},
		Section{ID: "rules", Title: "Rule files", Items: slice.Map(p.Check.RuleFiles, ruleFileText)},
		Section{ID: "resolved", Title: "Conflicts that renaming and combining resolve", Items: refs(p.Check.Resolved), most: mostRefusals},
		Section{ID: "allows", Title: "Results that the operator allows", Items: refs(p.Check.Allowed), most: mostRefusals})
}

// explained is a section with a sentence above its items, if it has some.
func explained(s Section, words string) Section {
	if len(s.Items) > 0 {
		s.Words = []string{words}
	}
	return s
}

// grants are the rights that the accounts of the game need in the new database.
func grants(p *merge.Plan) Section {
	s := Section{ID: "grants", Title: "Rights that the game's accounts need in the new database after apply", Commands: p.New.Grants}
	if p.New.Unseen != "" {
		s.Words = []string{"There may be more: " + p.New.Unseen}
	}
	return s
}

func plannedTables(p *merge.Plan) Section {
	s := Section{ID: "tables", Title: "Tables, in copying order", Head: append(append([]string{"table"}, names(p)...), "rows", "about", "")}
	for _, table := range p.Tables {
		row := []string{table.Name}
		for _, of := range table.Worlds {
			row = append(row, printable.Number(of.Rows))
		}
		var notes []string
		if c := table.Counter; c != nil && c.After > c.Before {
			counter := "AUTO_INCREMENT"
			if p.Engine == "sqlite" {
				counter = "the next key"
			}
			notes = append(notes, fmt.Sprintf("%s rises from %d to %d", counter, c.Before, c.After))
		}
		if len(table.Key) == 0 {
			notes = append(notes, "no key: one transaction for each world")
		}
		if len(table.Generated) > 0 {
			notes = append(notes, "the new database generates "+printable.Names(table.Generated)+" itself")
		}
		if table.Only {
			notes = append(notes, "only rows of "+p.Worlds[0].Name)
		}
		s.Rows = append(s.Rows, append(row, printable.Number(table.Rows()),
			about(time.Duration(table.Rows())*time.Second/perSecond), strings.Join(notes, "; ")))
	}
	return s
}

func plannedRenames(p *merge.Plan, then Commands) Section {
	s := Section{ID: "renames", Title: "New values: " + Renamed(p), Head: []string{"world", "table", "column", "old", "new", "key of the row"}, most: 6,
		Where: cmp.Or(then.Renames, "the plan lists all")}
	if len(p.Renames) == 0 {
		return Section{}
	}
	for _, r := range p.Renames[:min(len(p.Renames), maxRows)] {
		s.Rows = append(s.Rows, []string{r.Source, r.Table, r.Column, r.Old, r.New, merge.KeyText(r.Key)})
	}
	s.More = len(p.Renames) - len(s.Rows)
	s.Items = slice.Map(p.Copies, func(c merge.NameCopy) string {
		return fmt.Sprintf("%s.%s is renamed with them (%s refers to the row of %s)", c.Table, c.Column, c.Key, c.OfTable)
	})
	return s
}

func plannedWorlds(p *merge.Plan) Section {
	s := Section{ID: "worlds", Title: "Worlds and their game servers", Head: []string{"world", "server", "rows", "after the merge"}}
	for _, of := range servers(p) {
		rows := ""
		if of.Fate != comesAlong {
			i := p.World(of.Database)
			var n int64
			for _, table := range p.Tables {
				if i < len(table.Worlds) {
					n += table.Worlds[i].Rows
				}
			}
			rows = printable.Number(n)
		}
		s.Rows = append(s.Rows, []string{of.Database, of.who(), rows, of.becomes()})
	}
	return s
}

// countsText writes the rows of each world that has some.
func countsText(p *merge.Plan, counts []int64) string {
	var all []string
	for i, n := range counts[:min(len(counts), len(p.Worlds))] {
		if n > 0 {
			all = append(all, p.Worlds[i].Name+" "+printable.Number(n))
		}
	}
	return cmp.Or(printable.List(all, ", ", 8), "none")
}
