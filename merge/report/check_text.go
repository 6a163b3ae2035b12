package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"

	"mergesafe/merge/verdict"
)

// Limits of the text, so that it stays readable. The JSON form has everything.
const (
	textFailures  = 12 // failed results
	textSampled   = 3  // of these, the ones that are shown with samples
	textSamples   = 2  // of one result
	textServers   = 4  // servers of a world, if there are no more than textWorlds
	textWorlds    = 4
	textReasons   = 6  // for NOT VERIFIED
	textOpen      = 12 // undeclared columns
	textNext      = 8  // next steps
	textNextLines = 12 // of these
	textCodes     = 6  // that failed, named at the end
	textProposals = 6
	textCell      = 24 // columns of one value
	textNames     = 4  // worlds in a sentence
)

// WriteText writes the report as text: the verdict, the worlds, the failed
// results (the most serious with samples side by side), the reasons for NOT
// VERIFIED, what passed, config to paste and, on a last screen, the next steps, what failed
// and the verdict again. It returns the error of w.
func (c *Check) WriteText(w io.Writer, o TextOptions) error {
	t := newCheckText(o)
	writeWhole(t, c)
	t.worlds(c)
	t.ruleFiles(c.Report.RuleFiles)
	t.sections(c.Moves)
	t.failures(c.Failed)
	t.gaps(c.Reasons)
	t.open(c.Open)
	t.allowed(c.Allowed)
	t.passed(c.Passed)
	t.proposals(c.Report.Proposals)
	t.next(c.Steps)
	writeLast(t, c)
	t.WriteString("\n")
	writeWhole(t, c)
	return t.to(w)
}

// writeWhole writes the verdict.
func writeWhole(t *text, c *Check) {
	t.verdict(c.Word, c.Color, c.Says.before+" "+printable.Names(c.Worlds)+c.Says.figures)
}

// writeLast names once more what keeps the check from passing: it may have scrolled away.
func writeLast(t *text, c *Check) {
	codes := func(all []finding) []string {
		results := slice.Map(all, func(f finding) verdict.Result { return f.Result })
		return byCode(results, func(r verdict.Result) string { return r.Table }, func(tables []string) string {
			tables = slices.DeleteFunc(slices.Compact(tables), func(table string) bool { return table == "" })
			if len(tables) == 0 {
				return ""
			}
			return " (" + printable.List(tables, ", ", 2) + ")"
		})
	}
	open := slice.Map(c.Open, func(f finding) string { return f.Table + "." + f.Subject })
	begun := false
	for _, line := range []struct {
		head string
		all  []string
		most int
	}{{"Failed: ", codes(c.Failed), textCodes}, {"Not declared: ", open, textOpen}, {"Could not check everything: ", codes(c.Unsure), textCodes}} {
		if len(line.all) == 0 {
			continue
		}
		if !begun {
			t.WriteString("\n")
			begun = true
		}
		t.wrapped(0, line.head, printable.List(line.all, ", ", line.most))
	}
}

func (t *text) worlds(c *Check) {
	r := c.Report
	t.WriteString("\n")
	var rows [][]string
	for _, s := range r.Worlds {
		rows = append(rows, []string{printable.Text(s.Name), printable.Text(s.Engine),
			printable.Count(rowsOf(s), "row", "rows"), printable.Count(int64(len(s.Tables)), "table", "tables")})
	}
	for i, line := range columns.Lines(rows) {
		t.line(2, line)
		servers := r.Worlds[i].Servers
		shown := min(textServers, len(servers))
		if len(r.Worlds) > textWorlds {
			shown = 0
		}
		for _, server := range servers[:shown] {
			t.line(6, serverText(server))
		}
		if n := len(servers) - shown; n > 0 {
			t.line(6, "and "+printable.Count(int64(n), "more server", "more servers"))
		}
	}
	if c.Model != "" {
		t.wrapped(2, "", "The new database gets the schema of "+c.Model+", which keeps its keys and names.")
	}
	t.wrapped(2, "", "read from "+printable.Time(r.Started)+" to "+printable.Time(r.Finished)+by(r.Program))
}

func serverText(s verdict.ServerSummary) string {
	_, words := standing(s)
	text := fmt.Sprintf("server %d%s%s: %s", s.Server, named(s.Name), words, printable.Count(s.IDs, "ID", "IDs"))
	if s.IDs > 0 {
		text += " from " + printable.Time(s.Oldest) + " to " + printable.Time(s.Newest)
	}
	return text
}

func title(r verdict.Result) string {
	return strings.TrimRight(r.Code+"  "+r.Table+"  "+r.Subject, " ")
}

func (t *text) failures(all []finding) {
	var failed []verdict.Result
	var alike []string
	for _, f := range all {
		switch {
		case !f.Alike:
			failed = append(failed, f.Result)
		case !slices.Contains(alike, f.Table):
			alike = append(alike, f.Table)
		}
	}
	if len(all) == 0 {
		return
	}
	t.heading(verdict.Fail, "most serious first")
	t.some(len(failed), textFailures, inJSON, func(i int) {
		result := failed[i]
		message := result.Message
		samples := result.Samples[:min(textSamples, len(result.Samples))]
		if i >= textSampled {
			samples = nil
		}
		if n := int64(len(samples)); n > 0 {
			message += fmt.Sprintf(" (%s of %s shown)", printable.Number(n), printable.Number(result.Count))
		}
		t.wrapped(2, "", title(result)+": "+message)
		t.samples(samples)
	})
	if n := int64(len(alike)); n > 0 {
		t.wrapped(2, "", printable.Count(n, "table has", "tables have")+" the same keys in every database, and rows that look alike; the game's own data? "+
			strings.Join(alike, ", "))
	}
}

// gaps writes the reasons for NOT VERIFIED.
func (t *text) gaps(reasons []gap) {
	if len(reasons) == 0 {
		return
	}
	t.heading(verdict.NotVerified, printable.Count(int64(len(reasons)), "reason", "reasons"))
	rest := func(n int64) string {
		return printable.Count(n, "more reason", "more reasons") + " in the JSON form of this report"
	}
	t.some(len(reasons), textReasons, rest, func(i int) {
		first := reasons[i].Reason
		if of := reasons[i].Worlds; len(of) > 0 {
			first = printable.List(of, ", ", textNames) + ": " + first
		}
		t.wrapped(2, "", first)
		t.wrapped(6, "", strings.Join(byCode(reasons[i].Results, where, placesOf), ", "))
	})
}

// open writes the columns that are not declared although it matters what they are.
func (t *text) open(all []finding) {
	if len(all) == 0 {
		return
	}
	seem := 0
	for _, f := range all {
		if f.Open.Likely != "" {
			seem++
		}
	}
	title := printable.Count(int64(len(all)), "undeclared column", "undeclared columns")
	if seem > 0 {
		title += fmt.Sprintf(", of which %s like a reference", printable.Count(int64(seem), "looks", "look"))
	}
	t.heading(verdict.NotVerified, title)
	t.some(len(all), textOpen, inJSON, func(i int) {
		f := all[i]
		t.wrapped(2, "", f.Table+"."+f.Subject+": "+f.Message)
		if i < textSampled && f.Open.Likely != "" {
			t.samples(f.Result.Samples[:min(textSamples, len(f.Result.Samples))])
		}
	})
	if len(all) > openFew {
		t.wrapped(2, "", "A number such as a level is open because it is also a key of another database. If every database "+
			"has its own range of keys, hardly any column is open.")
	}
}

// placesOf writes a few places in full, and of many their number.
func placesOf(all []string) string {
	if len(all) > 3 {
		return fmt.Sprintf(" (%d places)", len(all))
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// allowed writes the results that do not count because the operator allows them.
func (t *text) allowed(all []finding) {
	if len(all) == 0 {
		return
	}
	t.WriteString("\nALLOWED  by the operator, not counted\n")
	t.some(len(all), textFailures, inJSON, func(i int) {
		f, what := all[i], all[i].Message
		if f.Verdict == verdict.NotVerified {
			what = f.Gaps[0].Reason
		}
		t.wrapped(2, "", string(f.Verdict)+"  "+title(f.Result)+": "+what)
	})
}

// passed writes one entry for every code of which something passed.
func (t *text) passed(all []passed) {
	if len(all) == 0 {
		return
	}
	t.heading(verdict.Pass, "fully checked")
	var entries []string
	for _, p := range all {
		what := ""
		if p.Tables > 0 {
			what = printable.Count(int64(p.Tables), "table", "tables") + ", "
		}
		entries = append(entries, columns.Pad(p.Code, 22)+what+printable.Number(p.Read)+" read")
	}
	t.downwards(2, entries)
	for _, p := range all {
		if p.Meaning == "" { // not a rule's, so that no documentation says what passed
			t.wrapped(2, "", p.Code+": "+p.Message)
		}
	}
}

func (t *text) next(steps []Step) {
	if len(steps) == 0 {
		return
	}
	t.WriteString("\nNext steps\n")
	used := 0
	for i, step := range steps {
		lines := columns.Wrap(fmt.Sprintf("  %d. ", i+1), printable.Text(strings.Join(step.Codes, ", ")+": "+step.Text), t.width)
		if used += len(lines); i > 0 && (i == textNext || used > textNextLines) {
			t.line(2, "and "+inJSON(int64(len(steps)-i)))
			return
		}
		t.WriteString(strings.Join(lines, "\n") + "\n")
	}
}

// proposals writes config to paste.
func (t *text) proposals(all []verdict.Proposal) {
	if len(all) == 0 {
		return
	}
	t.WriteString("\nNot declared in the schema, but likely: if right, paste into config.toml to have it checked\n")
	rest := func(n int64) string {
		t.WriteString("\n")
		return inJSON(n)
	}
	t.some(len(all), textProposals, rest, func(i int) {
		t.WriteString("\n")
		t.verbatim(2, strings.Split(strings.TrimSuffix(all[i].TOML(), "\n"), "\n"))
	})
}
