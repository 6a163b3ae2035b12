package main

import (
	"fmt"
	"strings"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
)

// How much of a plan is shown as text. The plan itself has all of it.
const (
	shownRenames = 6
	shownTables  = 60
)

// perSecond is how many rows are taken to be copied in a second.
const perSecond = 50_000

// review is a plan for the person who decides on it. It says how to go on with
// the file that it was written to, if it was.
func review(p *transfer.Plan, c call) string {
	var b strings.Builder
	into := merging(p)
	if n := int64(len(p.Refusals)); n > 0 {
		fmt.Fprintf(&b, "REFUSED  %s: %s\n", into, printable.Count(n, "reason stands against it", "reasons stand against it"))
		writeRefusals(&b, p.Refusals)
	} else {
		fmt.Fprintf(&b, "READY  %s: nothing stands against it\n", into)
	}
	fmt.Fprintf(&b, "\nThe check says %s.\n", p.Check.Verdict)
	if len(p.Check.Resolved) > 0 {
		b.WriteString("What it found and the renames resolve:\n")
		writeRefusals(&b, p.Check.Resolved)
	}
	if len(p.Check.Allowed) > 0 {
		b.WriteString("What it found and was allowed:\n")
		writeRefusals(&b, p.Check.Allowed)
	}
	reviewTables(&b, p)
	reviewRenames(&b, p, c)
	if len(p.Left) > 0 {
		fmt.Fprintf(&b, "\nNot copied: %s\n", printable.Count(int64(len(p.Left)), "table", "tables"))
		for i, l := range p.Left {
			if i == shownTables {
				fmt.Fprintf(&b, "  and %d more\n", len(p.Left)-i)
				break
			}
			fmt.Fprintf(&b, "  %s: %s\n", printable.Text(l.Table), l.Reason)
		}
	}
	reviewServers(&b, p)
	b.WriteString("\n" + next(p, c))
	return b.String()
}

// merging is, for example, "merging s2 and s3 into s1".
func merging(p *transfer.Plan) string {
	return "merging " + list(sourceNames(p)) + " into " + printable.Text(p.Target.Name)
}

func list(names []string) string {
	const most = 8
	var all []string
	for i, name := range names {
		if i == most && len(names) > most+1 {
			all = append(all, fmt.Sprintf("%d more", len(names)-i))
			break
		}
		all = append(all, printable.Text(name))
	}
	if len(all) == 1 {
		return all[0]
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

// amount is, for example, "12,345 rows in 4 tables, 3 renames, about 5s".
func amount(p *transfer.Plan) string {
	return fmt.Sprintf("%s in %s, %s, about %s", printable.Count(p.Rows(), "row", "rows"), printable.Count(int64(len(p.Tables)), "table", "tables"),
		printable.Count(int64(len(p.Renames)), "rename", "renames"), about(p.Estimate(perSecond)))
}

// about rounds a duration that nobody knows exactly.
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

func reviewTables(b *strings.Builder, p *transfer.Plan) {
	will := "Will"
	if len(p.Refusals) > 0 {
		will = "Would"
	}
	fmt.Fprintf(b, "\n%s copy %s (at %s rows a second), begun in this order:\n", will, amount(p), printable.Number(perSecond))
	width := cli.Width("table")
	for _, t := range p.Tables {
		width = max(width, cli.Width(printable.Text(t.Name)))
	}
	fmt.Fprintf(b, "  %s  %14s  %14s  %7s\n", cli.Pad("table", width), "rows to come", "target's own", "about")
	for i, t := range p.Tables {
		if i == shownTables {
			fmt.Fprintf(b, "  and %d more\n", len(p.Tables)-i)
			break
		}
		takes := about(time.Duration(t.Rows()) * time.Second / perSecond)
		fmt.Fprintf(b, "  %s  %14s  %14s  %7s", cli.Pad(printable.Text(t.Name), width), printable.Number(t.Rows()), printable.Number(t.Target.Rows), takes)
		if c := t.Counter; c != nil && c.After > c.Before {
			fmt.Fprintf(b, "  AUTO_INCREMENT goes from %d to %d", c.Before, c.After)
		}
		if len(t.Generated) > 0 {
			fmt.Fprintf(b, "  the target makes %s itself", list(t.Generated))
		}
		b.WriteString("\n")
	}
}

func reviewRenames(b *strings.Builder, p *transfer.Plan, c call) {
	if len(p.Renames) == 0 {
		return
	}
	fmt.Fprintf(b, "\nRenames, %s:\n", printable.Count(int64(len(p.Renames)), "value", "values"))
	writeRenames(b, p.Renames[:min(shownRenames, len(p.Renames))])
	if n := len(p.Renames) - shownRenames; n > 0 {
		where := "the plan has them all"
		if c.file != "" {
			where = "servermerge renames " + quoted(c.file)
		}
		fmt.Fprintf(b, "  and %s more: %s\n", printable.Number(int64(n)), where)
	}
	for _, c := range p.Copies {
		fmt.Fprintf(b, "  along with them: %s.%s, where %s names the row of %s\n", printable.Text(c.Table), printable.Text(c.Column), printable.Text(c.Key), printable.Text(c.OfTable))
	}
}

func writeRenames(b *strings.Builder, renames []transfer.Rename) {
	for _, r := range renames {
		fmt.Fprintf(b, "  %s of %s %s in %s: %q becomes %q\n", printable.Text(r.Column), printable.Text(r.Table), printable.Text(transfer.KeyText(r.Key)), printable.Text(r.Source), r.Old, r.New)
	}
}

func reviewServers(b *strings.Builder, p *transfer.Plan) {
	b.WriteString("\nServers:\n")
	write := func(w transfer.World, what func(transfer.Server) string) {
		if len(w.Servers) == 0 {
			fmt.Fprintf(b, "  %s keeps no registry: nothing here sees whether its game server runs, or keeps it from being started\n", printable.Text(w.Name))
		}
		for _, s := range w.Servers {
			name := ""
			if s.Name != "" {
				name = " (" + printable.Text(s.Name) + ")"
			}
			fmt.Fprintf(b, "  %s  server %s%s %s\n", printable.Text(w.Name), s.Server, name, what(s))
		}
	}
	write(p.Target, func(transfer.Server) string { return "goes on after the merge" })
	for _, w := range p.Sources {
		write(w, func(s transfer.Server) string {
			switch {
			case !s.Own:
				return "was merged in earlier, and comes along"
			case w.Fence:
				return "ends: it is kept from being started again on this database"
			default:
				return "ends, but NOTHING keeps it from being started again: what it then makes never comes to the target"
			}
		})
	}
}

// next is what to do with the plan.
func next(p *transfer.Plan, c call) string {
	switch {
	case len(p.Refusals) > 0:
		return "Nothing was changed, and apply will refuse this plan. Settle what stands against it (mergecheck shows the rows, and what to do), then plan again.\n"
	case c.file == "":
		return "Nothing was changed, and this plan was not kept: -o FILE writes it for servermerge apply.\n"
	default:
		return fmt.Sprintf("Nothing was changed. Stop the game servers of all these databases, back %s up, then:\n  %s\n", printable.Text(p.Target.Name), c.command("apply"))
	}
}
